#include "core/hub/socket/socket_io.h"

#include <openssl/err.h>
#include <sys/socket.h>

/* Of a step of TLS that returned r. The thread's queue of errors was empty before it: others leave
 * theirs there, and OpenSSL would take them for errors of this step. */
static enum socket_result tls_result(SSL *ssl, int r)
{
    int error = r == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl, r);

    if (error == SSL_ERROR_NONE) {
        return SOCKET_OK;
    }
    ERR_clear_error();
    return error == SSL_ERROR_WANT_READ    ? SOCKET_READS
           : error == SSL_ERROR_WANT_WRITE ? SOCKET_WRITES
                                           : SOCKET_END;
}

enum socket_result socket_handshake(SSL *ssl)
{
    ERR_clear_error();
    return tls_result(ssl, SSL_do_handshake(ssl));
}

enum socket_result socket_receive(int fd, SSL *ssl, char *p, size_t size, size_t *retn)
{
    ssize_t n;

    *retn = 0;
    if (ssl != NULL) {
        ERR_clear_error();
        return tls_result(ssl, SSL_read_ex(ssl, p, size, retn));
    }
    do {
        n = recv(fd, p, size, 0);
    } while (n < 0 && errno == EINTR);
    *retn = n > 0 ? (size_t)n : 0;
    return n > 0 ? SOCKET_OK : n < 0 && errno == EAGAIN ? SOCKET_READS : SOCKET_END;
}

enum socket_result socket_transmit(int fd, SSL *ssl, struct slice bytes, size_t *retn)
{
    ssize_t n;

    *retn = 0;
    if (ssl != NULL) {
        ERR_clear_error();
        return tls_result(ssl, SSL_write_ex(ssl, bytes.p, bytes.n, retn));
    }
    do {
        n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    *retn = n > 0 ? (size_t)n : 0;
    return n >= 0 ? SOCKET_OK : errno == EAGAIN ? SOCKET_WRITES : SOCKET_END;
}

SSL_CTX *socket_tls_new(const SSL_METHOD *method, int version)
{
    SSL_CTX *tls = SSL_CTX_new(method);

    if (tls == NULL || SSL_CTX_set_min_proto_version(tls, version) != 1) {
        SSL_CTX_free(tls);
        return NULL;
    }
    (void)SSL_CTX_set_options(tls, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    (void)SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                    SSL_MODE_RELEASE_BUFFERS);
    return tls;
}
