/* What catalogue_gen writes and catalogue.c walks; of no interest to anyone else. */
#ifndef HIWAT_PROTO_CATALOGUE_TABLE_H
#define HIWAT_PROTO_CATALOGUE_TABLE_H

#include "catalogue.h"

enum catalogue_kind { CATALOGUE_TEXT, CATALOGUE_LABEL, CATALOGUE_NUMBER, CATALOGUE_MESSAGE };

/* One field, in the order of protobuf-c's descriptor (by number). */
struct catalogue_field {
	enum catalogue_kind kind;
	int target; /* NUMBER: metric id; MESSAGE: index into catalogue_messages */
};

struct catalogue_message {
	const ProtobufCMessageDescriptor *desc;
	const struct catalogue_field *fields;
	int metric; /* id of the metric that a message of strings alone is, or -1 */
};

extern const struct catalogue_message catalogue_messages[];
extern const unsigned catalogue_root;

#endif
