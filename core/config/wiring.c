#include "core/config/wiring.h"

bool wiring_is_below(const struct wiring *w, const char *queue)
{
    size_t n = strlen(queue);

    return w->path != NULL && n > 0 && strncmp(w->path, queue, n) == 0 &&
           w->path[n] == '/' && w->path[n + 1] != '\0';
}

static const char *wiring_host(const struct wiring *w)
{
    return w->host == NULL || *w->host == '\0' ? "127.0.0.1" : w->host;
}

static bool is_v6(const struct wiring *w)
{
    return strchr(wiring_host(w), ':') != NULL;
}

void wiring_postfix_socket(const struct wiring *w, const char *queue, struct buf *ret)
{
    if (wiring_is_below(w, queue)) {
        buf_printf(ret, "unix:%s", w->path + strlen(queue) + 1);
    } else if (w->path != NULL) {
        buf_printf(ret, "unix:%s", w->path);
    } else {
        buf_printf(ret, is_v6(w) ? "inet:[%s]:%s" : "inet:%s:%s", wiring_host(w),
                   w->port);
    }
}

void wiring_sendmail_socket(const struct wiring *w, struct buf *ret)
{
    if (w->path != NULL) {
        buf_printf(ret, "local:%s", w->path);
    } else {
        buf_printf(ret, is_v6(w) ? "inet6:%s@[%s]" : "inet:%s@%s", w->port,
                   wiring_host(w));
    }
}

void wiring_postfix_milter(const struct wiring *w, const char *queue, struct buf *ret)
{
    buf_add_str(ret, "{ ");
    wiring_postfix_socket(w, queue, ret);
    buf_add_str(ret, ", default_action=accept, content_timeout=30s }");
}

void wiring_postfix_lines(const struct wiring *w, const char *queue, const char *indent,
                          struct buf *ret)
{
    buf_printf(ret, "%s" WIRING_PARAMETER " = ", indent);
    wiring_postfix_milter(w, queue, ret);
    buf_printf(ret, "\n%ssmtpd_milters = " WIRING_USE "\n", indent);
    buf_printf(ret, "%snon_smtpd_milters = $smtpd_milters\n", indent);
}

void wiring_sendmail_line(const struct wiring *w, struct buf *ret)
{
    buf_add_str(ret, "INPUT_MAIL_FILTER(`gillnet', `S=");
    wiring_sendmail_socket(w, ret);
    buf_add_str(ret, ", T=C:30s;S:10s;R:30s;E:5m')dnl");
}

void wiring_socket_line(const struct wiring *w, struct buf *ret)
{
    buf_add_str(ret, "socket = \"");
    if (w->path != NULL) {
        buf_printf(ret, "unix:%s", w->path);
    } else {
        wiring_sendmail_socket(w, ret);
    }
    buf_add_str(ret, "\";");
}
