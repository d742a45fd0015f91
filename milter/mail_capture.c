#include "milter/mail_capture.h"

#include <stdatomic.h>

#include "core/message/feature/list_keys.h"
#include "core/message/url/address.h"

/* Bytes kept for all messages together. */
static atomic_size_t held_bytes;

static bool has_address(const struct config_strings *addresses, struct slice address)
{
    for (size_t i = 0; i < addresses->n; i++) {
        struct slice one = slice_str(addresses->v[i]);
        /* Spellings of a mailbox share their first byte, except for case. */
        if (address.n > 0 && one.n > 0 && ((address.p[0] ^ one.p[0]) & ~0x20) == 0 &&
            feature_same_mailbox(address, one)) {
            return true;
        }
    }
    return false;
}

static bool has_domain(const struct config_strings *recipients, struct slice domain)
{
    for (size_t i = 0; i < recipients->n; i++) {
        struct slice one = slice_str(recipients->v[i]);
        if (one.n > 0 && one.p[0] == '@' &&
            slice_eq_nocase(slice_from(one, 1), domain)) {
            return true;
        }
    }
    return false;
}

bool mail_capture_is_trap(const struct config *config, struct slice address)
{
    size_t at = address.n;

    while (at > 0 && address.p[at - 1] != '@') {
        at--;
    }
    return has_domain(&config->report_mail.traps, slice_from(address, at)) ||
           has_address(&config->report_mail.traps, address);
}

void mail_capture_empty_sender(struct mail_capture *c)
{
    c->targets |= MAIL_CAPTURE_EMPTY_SENDER;
}

void mail_capture_rcpt(struct mail_capture *c, const struct config *config,
                       struct arena *arena, struct slice rcpt)
{
    const struct config_report_mail *r = &config->report_mail;
    struct address a;

    if (r->traps.n + r->spam.n + r->ham.n == 0 || arena == NULL) {
        return;
    }
    struct arena_mark mark = arena_mark(arena);
    if (address_parse(arena, rcpt, &a) != ERR_OK) {
        arena_rewind(arena, &mark);
        return;
    }
    c->targets |= has_address(&r->spam, a.text) ? MAIL_CAPTURE_SPAM : 0U;
    c->targets |= has_address(&r->ham, a.text) ? MAIL_CAPTURE_HAM : 0U;
    if (c->trap.n == 0 && mail_capture_is_trap(config, a.text)) {
        c->targets |= MAIL_CAPTURE_TRAP;
        c->trap = a.text; /* stays in the arena */
        return;
    }
    arena_rewind(arena, &mark);
}

static void lose(struct mail_capture *c)
{
    c->is_lost = true;
    mail_capture_free(&c->bytes);
}

bool mail_capture_wants(const struct mail_capture *c)
{
    bool is_bounce = c->targets == MAIL_CAPTURE_EMPTY_SENDER;

    return c->targets != 0 && !c->is_lost &&
           (!is_bounce || c->bytes.n < MAIL_CAPTURE_BOUNCE);
}

static void capture_bytes(struct mail_capture *c, struct slice bytes)
{
    bool is_bounce = c->targets == MAIL_CAPTURE_EMPTY_SENDER;

    if (!mail_capture_wants(c) || bytes.n == 0) {
        return;
    }
    if (c->bytes.max == 0) {
        buf_init(&c->bytes, MAIL_CAPTURE_MESSAGE);
    }
    if (is_bounce) {
        bytes = slice_head(bytes, MAIL_CAPTURE_BOUNCE - c->bytes.n);
    }
    size_t most = c->is_ours ? MAIL_CAPTURE_ALL : MAIL_CAPTURE_STRANGERS;
    if (atomic_fetch_add(&held_bytes, bytes.n) + bytes.n > most) {
        atomic_fetch_sub(&held_bytes, bytes.n);
        lose(c);
        return;
    }
    buf_add(&c->bytes, bytes);
    if (buf_failed(&c->bytes)) { /* refused bytes are not in it */
        atomic_fetch_sub(&held_bytes, bytes.n);
        lose(c);
    }
}

void mail_capture_header(struct mail_capture *c, struct slice name, struct slice value)
{
    if (c->targets == 0 || c->has_ended_headers) {
        return;
    }
    capture_bytes(c, name);
    capture_bytes(c, SLICE_LIT(": "));
    capture_bytes(c, value);
    capture_bytes(c, SLICE_LIT("\r\n"));
}

void mail_capture_end_headers(struct mail_capture *c)
{
    if (c->targets != 0 && !c->has_ended_headers) {
        c->has_ended_headers = true;
        capture_bytes(c, SLICE_LIT("\r\n"));
    }
}

void mail_capture_body(struct mail_capture *c, struct slice chunk)
{
    mail_capture_end_headers(c);
    capture_bytes(c, chunk);
}

struct buf mail_capture_take(struct mail_capture *c)
{
    struct buf bytes = c->bytes;

    c->bytes = (struct buf){.p = NULL};
    return bytes;
}

void mail_capture_free(struct buf *bytes)
{
    atomic_fetch_sub(&held_bytes, bytes->n);
    buf_fini(bytes);
    *bytes = (struct buf){.p = NULL};
}
