/*
 * socket_io - bytes of a socket that does not block, plain or through TLS, for servers and clients.
 *
 * Depends: base, OpenSSL.   Threads: one for each socket.   Owns: nothing.
 */
#ifndef CORE_HUB_SOCKET_SOCKET_IO_H
#define CORE_HUB_SOCKET_SOCKET_IO_H

#include <openssl/ssl.h>

#include "core/base/slice.h"

/* Of a step. With TLS a step that reads may have to write, and the other way round. */
enum socket_result {
    SOCKET_OK,
    SOCKET_READS,  /* nothing now: try again when the socket can be read */
    SOCKET_WRITES, /* the same, when it can be written */
    SOCKET_END     /* the other side closed, or a fault */
};

/* ssl NULL: plain. *retn is 0 unless the result is SOCKET_OK. The thread's queue of OpenSSL's
 * errors is empty afterwards. */
enum socket_result socket_receive(int fd, SSL *ssl, char *p, size_t size, size_t *retn);
enum socket_result socket_transmit(int fd, SSL *ssl, struct slice bytes, size_t *retn);
enum socket_result socket_handshake(SSL *ssl);

/* A context for these steps: TLS of this version or newer. NULL: no memory. */
SSL_CTX *socket_tls_new(const SSL_METHOD *method, int version);

#endif
