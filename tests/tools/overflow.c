/*
 * Makes the accept queue of a listener on loopback overflow for real: listens with the smallest backlog, accepts nothing,
 * connects again and again. Bounded in time and number.
 * usage: overflow [-s SECONDS] [-c CONNECTIONS]
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 256

int
main(int argc, char **argv)
{
	unsigned seconds = 5, connections = 64;
	int fds[CONNECTIONS_MAX], c;

	while ((c = getopt(argc, argv, "s:c:")) != -1) {
		if (c == 's')
			seconds = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'c')
			connections = (unsigned)strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (seconds > 60 || connections > CONNECTIONS_MAX) {
		fprintf(stderr, "overflow: at most 60 seconds and %d connections\n", CONNECTIONS_MAX);
		return 2;
	}
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) != 0 || listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) != 0) {
		fprintf(stderr, "overflow: %s\n", strerror(errno));
		return 1;
	}
	time_t end = time(NULL) + (time_t)seconds;
	do {
		for (unsigned i = 0; i < connections; i++) {
			fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
			/* EINPROGRESS is all there will ever be: nobody accepts. */
			if (fds[i] >= 0 && connect(fds[i], (struct sockaddr *)&address, len) != 0 && errno != EINPROGRESS)
				fprintf(stderr, "overflow: connect: %s\n", strerror(errno));
		}
		nanosleep(&(struct timespec){ .tv_nsec = 500000000 }, NULL);
		for (unsigned i = 0; i < connections; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
	} while (time(NULL) < end);
	close(listener);
	return 0;
}
