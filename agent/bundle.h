/* parse bundle: many saved outputs of one host read together. */
#ifndef HIWAT_AGENT_BUNDLE_H
#define HIWAT_AGENT_BUNDLE_H

struct arena;
struct buf;
struct parse_input;

#define BUNDLE_ARCHIVE_MAX (256u << 20) /* bytes of a tar archive */

/*
 * Reads path, a directory or a tar archive ("-": from standard input) and prints the series of all files that are of a
 * known kind. in gives everything but the text; archive is an empty buffer to read into. Returns the exit status.
 */
int bundle_parse(const char *path, const struct parse_input *in, struct arena *arena, struct buf *archive);

#endif
