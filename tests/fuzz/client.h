/*
 * client - a client of a Unix socket that sends all it has and takes what comes until the end.
 */
#ifndef TESTS_FUZZ_CLIENT_H
#define TESTS_FUZZ_CLIENT_H

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

enum { CLIENT_WAIT_MS = 30000 };

static inline int client_connect(const char *path)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    FUZZ_CHECK(fd >= 0 && strlen(path) < sizeof(place.sun_path));
    memcpy(place.sun_path, path, strlen(path) + 1);
    FUZZ_CHECK(connect(fd, (struct sockaddr *)(void *)&place, sizeof(place)) == 0);
    return fd;
}

static inline void client_give(int fd, const uint8_t *data, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, data, n, MSG_NOSIGNAL);
        if (sent <= 0) {
            return; /* the answer came early */
        }
        data += sent;
        n -= (size_t)sent;
    }
}

/* Everything until the server ends the connection, at most room bytes. */
static inline struct slice client_take(int fd, char *answer, size_t room)
{
    size_t n = 0;
    ssize_t got = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};

    do {
        FUZZ_CHECK(poll(&p, 1, CLIENT_WAIT_MS) == 1 && n < room);
        got = recv(fd, answer + n, room - n, 0);
        n += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    return slice_of(answer, n);
}

#endif
