#include "audit_json.h"

#include "buf.h"

json_t *
audit_finding_to_json(const struct audit_finding *f)
{
	struct buf line;

	buf_init(&line, 4096);
	audit_put(f, &line);
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "id", f->row->id, "setting", f->row->name,
	    "profile", f->profile->id, "verdict", audit_verdict_word(f->verdict), "wanted", f->wanted, "found", f->found,
	    "command", f->command, "doc", f->row->doc, "text", buf_str(&line));
	buf_fini(&line);
	return o;
}
