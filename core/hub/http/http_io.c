/* http_io - bytes of a connection, plain or through TLS, as many as there are now. */
#include <openssl/err.h>

#include "core/hub/http/http_internal.h"

/* Of a step of TLS that returned r. The thread's queue of errors was empty before it: others leave theirs there, and
 * OpenSSL would take them for errors of this step. */
static enum http_io tls_result(struct http_conn *c, int r)
{
    int error = r == 1 ? SSL_ERROR_NONE : SSL_get_error(c->ssl, r);

    if (error == SSL_ERROR_NONE) {
        return HTTP_IO_OK;
    }
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_WRITE) {
        (void)event_add(&c->writes, NULL);
    }
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? HTTP_IO_WAIT
                                                                         : HTTP_IO_END;
}

enum http_io http_handshake(struct http_conn *c)
{
    ERR_clear_error();
    return tls_result(c, SSL_do_handshake(c->ssl));
}

enum http_io http_receive(struct http_conn *c, char *p, size_t size, size_t *retn)
{
    ssize_t n;

    *retn = 0;
    if (c->ssl != NULL) {
        ERR_clear_error();
        return tls_result(c, SSL_read_ex(c->ssl, p, size, retn));
    }
    do {
        n = recv(c->fd, p, size, 0);
    } while (n < 0 && errno == EINTR);
    *retn = n > 0 ? (size_t)n : 0;
    return n > 0 ? HTTP_IO_OK : n < 0 && errno == EAGAIN ? HTTP_IO_WAIT : HTTP_IO_END;
}

enum http_io http_transmit(struct http_conn *c, struct slice bytes, size_t *retn)
{
    ssize_t n;

    *retn = 0;
    if (c->ssl != NULL) {
        ERR_clear_error();
        return tls_result(c, SSL_write_ex(c->ssl, bytes.p, bytes.n, retn));
    }
    do {
        n = send(c->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    *retn = n > 0 ? (size_t)n : 0;
    return n >= 0 ? HTTP_IO_OK : errno == EAGAIN ? HTTP_IO_WAIT : HTTP_IO_END;
}
