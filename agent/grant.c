#include "grant.h"

#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"

/* How an administrator puts a user into a group: the group, then the user. */
#if defined(__FreeBSD__)
#define JOIN_GROUP "pw groupmod %s -m %s"
#elif defined(__OpenBSD__)
#define JOIN_GROUP "usermod -G %s %s"
#else
#define JOIN_GROUP "usermod -a -G %s %s"
#endif

/* The first directory on the way that this process may not pass; false when there is none. */
static bool
closed_directory(const char *path, char *dir, size_t size)
{
	if (strlen(path) >= size || path[0] != '/')
		return false;
	for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		memcpy(dir, path, (size_t)(slash - path));
		dir[slash - path] = '\0';
		if (access(dir, X_OK) != 0)
			return true;
	}
	return false;
}

/* A group other than root's that has the permission. */
static bool
group_that_may(const struct stat *st, mode_t bit, const char **name)
{
	const struct group *group = (st->st_mode & bit) != 0 && st->st_gid != 0 ? getgrgid(st->st_gid) : NULL;

	if (group == NULL)
		return false;
	*name = group->gr_name;
	return true;
}

void
grant_write(struct buf *out, const char *path, const char *user)
{
	char dir[PATH_MAX];
	const char *group;
	struct stat st;

	if (closed_directory(path, dir, sizeof(dir))) {
		if (stat(dir, &st) == 0 && group_that_may(&st, S_IXGRP, &group))
			buf_printf(out, JOIN_GROUP, group, user);
		else
			buf_printf(out, "setfacl -m u:%s:x %s", user, dir);
		return;
	}
	if (stat(path, &st) != 0) {
		buf_printf(out, "setfacl -m u:%s:r %s", user, path);
		return;
	}
	bool is_socket = S_ISSOCK(st.st_mode);
	if (group_that_may(&st, is_socket ? S_IWGRP : S_IRGRP, &group)) {
		buf_printf(out, JOIN_GROUP, group, user);
		return;
	}
	/* Open to all by its mode, and denied all the same: kernel.dmesg_restrict. */
	if (S_ISCHR(st.st_mode) && strcmp(path, "/dev/kmsg") == 0) {
		buf_puts(out,
		    "AmbientCapabilities=CAP_SYSLOG in the agent's systemd unit, or setcap cap_syslog+ep on the program");
		return;
	}
	if (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0) {
		buf_puts(out,
		    "AmbientCapabilities=CAP_DAC_READ_SEARCH in the agent's systemd unit, or setcap "
		    "cap_dac_read_search+ep on the program");
		return;
	}
	buf_printf(out, "setfacl -m u:%s:%s %s", user, is_socket ? "rw" : "r", path);
}

/* doas(1) is asked for the command exactly as written, so that nothing else is granted. */
static bool
write_doas_line(struct buf *out, const char *command, const char *user)
{
	static const char pfctl[] = "/sbin/pfctl ";

	if (strncmp(command, pfctl, sizeof(pfctl) - 1) != 0)
		return false;
	buf_printf(out, "permit nopass %s as root cmd /sbin/pfctl args %s (a line of doas.conf)", user,
	    command + sizeof(pfctl) - 1);
	return true;
}

bool
grant_write_call(struct buf *out, const char *verb, const char *what, const char *user)
{
	if (strcmp(verb, "run") == 0)
		return write_doas_line(out, what, user);
	if (strcmp(verb, "sysctl") == 0) {
		if (strcmp(what, "kern.msgbuf") != 0)
			return false;
		buf_puts(out, "sysctl security.bsd.unprivileged_read_msgbuf=1");
		return true;
	}
	if (what[0] != '/')
		return false;
	grant_write(out, what, user);
	return true;
}
