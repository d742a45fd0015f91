/* api_io - bytes of a connection to the API, plain or through TLS, as many as there are now. */
#include <openssl/err.h>

#include "core/hub/api/api_internal.h"

/* Of a step of TLS that gave r. */
static enum api_io tls_result(struct api_conn *c, int r)
{
    int error = SSL_get_error(c->ssl, r);

    ERR_clear_error();
    if (error == SSL_ERROR_WANT_WRITE) {
        (void)event_add(&c->writes, NULL);
    }
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? API_IO_WAIT
                                                                         : API_IO_END;
}

enum api_io api_receive(struct api_conn *c, char *p, size_t size, size_t *retn)
{
    ssize_t n;

    *retn = 0;
    if (c->ssl != NULL) {
        int r = SSL_read_ex(c->ssl, p, size, retn);

        return r == 1 ? API_IO_OK : tls_result(c, r);
    }
    do {
        n = recv(c->fd, p, size, 0);
    } while (n < 0 && errno == EINTR);
    *retn = n > 0 ? (size_t)n : 0;
    return n > 0 ? API_IO_OK : n < 0 && errno == EAGAIN ? API_IO_WAIT : API_IO_END;
}

enum api_io api_transmit(struct api_conn *c, struct slice bytes, size_t *retn)
{
    ssize_t n;

    *retn = 0;
    if (c->ssl != NULL) {
        int r = SSL_write_ex(c->ssl, bytes.p, bytes.n, retn);

        return r == 1 ? API_IO_OK : tls_result(c, r);
    }
    do {
        n = send(c->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    *retn = n > 0 ? (size_t)n : 0;
    return n >= 0 ? API_IO_OK : errno == EAGAIN ? API_IO_WAIT : API_IO_END;
}
