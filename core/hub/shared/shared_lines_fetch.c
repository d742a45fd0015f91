/* shared_lines_fetch - lines from the cache, or by one GETRANGE each, all under way at once. */
#include "core/base/clock.h"
#include "core/base/hash256.h"
#include "core/base/log.h"
#include "core/hub/shared/shared_lines_internal.h"

struct shared_name lines_part_name(const struct shared_lines *l,
                                   const struct lines_filter *f, uint64_t part)
{
    char tag[2 + 2 * BLOOMFILE_ID_BYTES + 1 + 16 + 1] = "l:";

    hex_print(f->file.id, BLOOMFILE_ID_BYTES, tag + 2);
    (void)snprintf(tag + 2 + (size_t)2 * BLOOMFILE_ID_BYTES, 18, ":%" PRIx64, part);
    return shared_name(l->shared, tag, "");
}

/* ---- the cache: lines never change, so nothing has to be forgotten ---- */

static struct lines_cached *cache_slot(const struct shared_lines *l, uint32_t serial,
                                       uint64_t number)
{
    uint64_t mixed = (number ^ (uint64_t)serial << 40) * 0x9e3779b97f4a7c15u;

    return &l->cache[(mixed >> 32) % LINES_CACHE];
}

static bool cache_get(struct shared_lines *l, struct lines_fetch *x)
{
    const struct lines_cached *c = cache_slot(l, x->serial, x->number);

    if (c->serial != x->serial || c->number != x->number) {
        return false;
    }
    memcpy(x->sealed, c->sealed, LINE_SEALED_BYTES);
    x->is_there = true;
    l->status.cached++;
    return true;
}

/* ---- the store ---- */

/* Takes the line if its seal is right; else its part is lost or damaged. */
static void line_take(struct shared_lines *l, struct lines_filter *f,
                      struct lines_fetch *x, struct slice bytes)
{
    struct line_name name = {&f->key, f->file.id, x->number};
    uint64_t line[BLOOM_LINE_BYTES / 8];

    if (bytes.n != LINE_SEALED_BYTES ||
        !line_unseal(&name, (const uint8_t *)bytes.p, line)) {
        l->status.lost += f->is_complete;
        lines_part_lost(l, f, x->number / LINES_PART);
        return;
    }
    struct lines_cached *c = cache_slot(l, x->serial, x->number);
    c->serial = x->serial;
    c->number = x->number;
    memcpy(c->sealed, bytes.p, LINE_SEALED_BYTES);
    memcpy(x->sealed, bytes.p, LINE_SEALED_BYTES);
    x->is_there = true;
}

static void on_line_answer(void *context, const struct redis_answer *a)
{
    struct lines_fetch *x = context;
    struct lines_question *q = x->question;
    struct shared_lines *l = q->lines;
    struct lines_filter *f = lines_filter_of_serial(l, x->serial);

    l->nasked--;
    q->nunder--;
    if (l->is_closing) {
        return;
    }
    if (a->fault != REDIS_FAULT_NONE || a->reply->nodes[0].kind != RESP_TEXT) {
        q->has_failed = true;
    } else if (f != NULL) {
        line_take(l, f, x, resp_text(a->reply, 0));
    }
    lines_question_step(q);
}

static void line_ask(struct shared_lines *l, const struct lines_filter *f,
                     struct lines_fetch *x)
{
    struct shared_name name = lines_part_name(l, f, x->number / LINES_PART);
    uint64_t from = x->number % LINES_PART * LINE_SEALED_BYTES;
    char first[24];
    char last[24];

    (void)snprintf(first, sizeof(first), "%" PRIu64, from);
    (void)snprintf(last, sizeof(last), "%" PRIu64, from + LINE_SEALED_BYTES - 1);
    const struct slice args[] = {SLICE_LIT("GETRANGE"), slice_str(name.text),
                                 slice_str(first), slice_str(last)};
    const struct redis_call call = {.key = args[1],
                                    .args = args,
                                    .nargs = LENGTH(args),
                                    .may_repeat = true,
                                    .answer = on_line_answer,
                                    .context = x};
    if (l->nasked < LINES_ASKED_MAX &&
        redis_call(shared_redis(l->shared), &call) == ERR_OK) {
        l->nasked++;
        x->question->nunder++;
        x->question->has_asked = true;
    } else {
        x->question->has_failed = true;
    }
}

void lines_fetch_all(struct lines_question *q)
{
    struct shared_lines *l = q->lines;

    for (size_t i = 0; i < q->nlines; i++) {
        struct lines_fetch *x = &q->fetch[i];
        const struct lines_filter *f = lines_filter_of_serial(l, x->serial);

        if (f != NULL && x->number < f->file.bloom.nlines && !cache_get(l, x) &&
            l->is_up) {
            line_ask(l, f, x);
        }
    }
}

/* ---- is it up? ---- */

void lines_up_set(struct shared_lines *l, bool is_up, const char *why)
{
    if (is_up != l->is_up) {
        log_info("event=store_lines up=%d%s%s", is_up,
                 is_up ? "" : " why=", is_up ? "" : why);
    }
    l->is_up = is_up;
}

/* An answer that is later than a message waits says that the store is of no use now. */
static void on_probe(void *context, const struct redis_answer *a)
{
    struct shared_lines *l = context;
    uint64_t took_us = clock_mono_us() - l->probe_us;

    l->is_probing = false;
    if (l->is_closing) {
        return;
    }
    bool is_answered =
        a->fault == REDIS_FAULT_NONE && a->reply->nodes[0].kind == RESP_INTEGER;
    bool is_late = took_us > shared_config(l->shared)->store.deadline_us;
    lines_up_set(l, is_answered && !is_late,
                 is_answered ? "late" : redis_fault_name(a->fault));
}

void lines_probe(struct shared_lines *l)
{
    struct shared_name name = shared_name(l->shared, "l:probe", "");
    const struct slice args[] = {SLICE_LIT("EXISTS"), slice_str(name.text)};
    const struct redis_call call = {.key = args[1],
                                    .args = args,
                                    .nargs = LENGTH(args),
                                    .may_repeat = true,
                                    .answer = on_probe,
                                    .context = l};
    if (l->is_probing) { /* for a second */
        lines_up_set(l, false, "late");
        return;
    }
    if (l->nfilters == 0) {
        return;
    }
    l->probe_us = clock_mono_us();
    l->is_probing = redis_call(shared_redis(l->shared), &call) == ERR_OK;
}
