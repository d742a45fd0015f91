/* shared_objects - calls, the stream of changes, and the turn of each second. */
#include "core/hub/shared/shared_objects.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/shared/shared_objects_internal.h"

enum {
    NOTICES_MAX = 256, /* read at once */
    WITHOUT_S = 5,     /* between looks at all heads while the changes cannot be read */
    FAULT_S = 60,      /* between lines of the log about faults */
    HOUR_S = 3600
};

uint64_t objects_soon(unsigned seconds)
{
    return clock_mono_us() + (uint64_t)seconds * OBJECTS_US_PER_S;
}

struct sync *objects_sync(const struct shared_objects *o)
{
    return shared_node(o->shared)->sync;
}

const struct object_id *objects_self(const struct shared_objects *o)
{
    return &shared_node(o->shared)->self.origin;
}

/* ---- names ---- */

struct shared_name objects_name(const struct shared_objects *o,
                                const struct object_id *origin, const char *rest)
{
    char tag[2 + 2 * OBJECT_ID_BYTES + 1];

    (void)snprintf(tag, sizeof(tag), "o:%s", object_id_hex(origin).digits);
    return shared_name(o->shared, tag, rest);
}

struct shared_name objects_stream_name(const struct shared_objects *o,
                                       const struct object_id *origin,
                                       const struct object_id *stream, uint64_t seq)
{
    char rest[2 * OBJECT_ID_BYTES + 1 + 20 + 1];
    const struct object_id_hex hex = object_id_hex(stream);

    if (seq == 0) {
        return objects_name(o, origin, hex.digits);
    }
    (void)snprintf(rest, sizeof(rest), "%s:%" PRIu64, hex.digits, seq);
    return objects_name(o, origin, rest);
}

bool objects_place_parse(struct slice id, struct objects_place *ret)
{
    struct slice seq = slice_cut(&id, '-');

    return slice_to_u64(seq, 10, UINT64_MAX, &ret->seq) &&
           slice_to_u64(id, 10, UINT64_MAX, &ret->part);
}

bool objects_is_self(const struct shared_objects *o, const struct object_id *origin)
{
    return object_id_equal(origin, objects_self(o));
}

/* ---- calls ---- */

struct objects_call {
    struct shared_objects *o;
    uint64_t turn;
    objects_take_fn *take;
    struct object_id origin;
    void *what;
};

static void note_fault(struct shared_objects *o, const char *kind, struct slice why)
{
    char *text = o->stat.last_fault;

    o->stat.faults++;
    (void)snprintf(text, sizeof(o->stat.last_fault), "%s: %.*s", kind,
                   SLICE_ARGS(slice_head(why, 150)));
    for (; *text != '\0'; text++) {
        if (*text < ' ' || *text > '~') {
            *text = '?';
        }
    }
    if (!o->is_lost && clock_mono_us() >= o->fault_until_us) {
        o->is_lost = true;
        o->fault_until_us = objects_soon(FAULT_S);
        log_warn("event=store what=objects state=lost reason=\"%s\"",
                 o->stat.last_fault);
    }
}

static void note_answer(struct shared_objects *o)
{
    o->stat.heard_ms = clock_wall_us() / 1000;
    o->stat.last_fault[0] = '\0';
    if (o->is_lost) {
        o->is_lost = false;
        log_info("event=store what=objects state=answers");
    }
}

static void on_reply(void *context, const struct redis_answer *a)
{
    struct objects_call *call = context;
    struct shared_objects *o = call->o;
    const struct resp *reply = a->reply;
    struct slice error = SLICE_NONE;

    if (call->turn == o->turn && o->is_open) {
        if (reply == NULL) {
            note_fault(o, redis_fault_name(a->fault), slice_str(a->why));
            objects_doubt(o);
        } else if (reply->nodes[0].kind == RESP_ERROR) {
            error = resp_text(reply, 0);
            note_fault(o, "error", error);
            reply = NULL;
        } else {
            note_answer(o);
        }
        call->take(o, &call->origin, call->what, reply, error);
    }
    free(call);
}

bool objects_ask(struct shared_objects *o, const struct objects_request *request)
{
    struct objects_call *call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return false;
    }
    *call = (struct objects_call){o, o->turn, request->take, *request->origin,
                                  request->what};
    const struct redis_call ask = {.key = slice_str(request->key->text),
                                   .args = request->args,
                                   .nargs = request->nargs,
                                   .may_repeat = true,
                                   .answer = on_reply,
                                   .context = call};
    if (redis_call(shared_redis(o->shared), &ask) != ERR_OK) {
        free(call);
        return false;
    }
    return true;
}

/* ---- refusals ---- */

void objects_refused(struct shared_objects *o, const struct object_id *origin,
                     const char *what, enum sync_result r, const struct errinfo *why)
{
    const struct objects_member *m = objects_member(o, origin);
    const uint64_t now = clock_mono_us();

    o->stat.refused[r]++;
    (void)snprintf(o->stat.last_refusal, sizeof(o->stat.last_refusal), "%s: %.150s",
                   sync_result_name(r), why->text);
    if (now >= o->logged_until_us[r]) {
        o->logged_until_us[r] = now + HOUR_S * (uint64_t)OBJECTS_US_PER_S;
        log_warn("event=refused from=store origin=%s what=%s reason=%s: %s",
                 m != NULL ? m->name : "-", what, sync_result_name(r), why->text);
    }
}

/* ---- members ---- */

struct objects_member *objects_member(struct shared_objects *o,
                                      const struct object_id *origin)
{
    for (size_t i = 0; i < o->nmembers; i++) {
        if (object_id_equal(&o->members[i].origin, origin)) {
            return &o->members[i];
        }
    }
    return NULL;
}

/* Those of the manifest; what is known of them stays. */
static void take_members(struct shared_objects *o)
{
    const struct manifest *m = &shared_node(o->shared)->manifest;
    struct objects_member *v = calloc(m->nmembers + 1, sizeof(*v));
    size_t n = 0;

    if (v == NULL) {
        return; /* the next turn tries again */
    }
    for (unsigned i = 0; i < m->nmembers; i++) {
        const struct manifest_member *member = &m->members[i];
        const struct objects_member *old = objects_member(o, &member->origin);

        if (member->state == MEMBER_DROPPED) {
            continue;
        }
        if (old != NULL) {
            v[n] = *old;
        }
        v[n].origin = member->origin;
        v[n].is_due = true; /* it may have another key now */
        (void)snprintf(v[n].name, sizeof(v[n].name), "%s", member->name);
        n++;
    }
    free(o->members);
    o->members = v;
    o->nmembers = n;
    o->epoch = shared_node(o->shared)->epoch;
}

static void look_at_all(struct shared_objects *o)
{
    for (size_t i = 0; i < o->nmembers; i++) {
        o->members[i].is_due = true;
    }
    o->whole_us = objects_soon(OBJECTS_WHOLE_S);
}

void objects_doubt(struct shared_objects *o)
{
    o->notice = (struct objects_place){0, 0};
    objects_put_check(&o->put);
}

/* ---- the stream of changes ---- */

/* The id of an entry, and the origin that it names. */
static bool read_notice(const struct resp *r, size_t entry, struct objects_place *retid,
                        struct slice *retorigin)
{
    const size_t fields = resp_below(r, entry, 1);

    *retorigin = SLICE_NONE;
    if (!objects_place_parse(resp_text(r, resp_below(r, entry, 0)), retid)) {
        return false;
    }
    if (fields != 0 && r->nodes[fields].number == 2 &&
        slice_eq(resp_text(r, resp_below(r, fields, 0)), SLICE_LIT("o"))) {
        *retorigin = resp_text(r, resp_below(r, fields, 1));
    }
    return true;
}

static void take_notice(struct shared_objects *o, struct slice origin)
{
    struct object_id id;

    if (origin.n != OBJECT_ID_BYTES) {
        return; /* of a later version, or nonsense: its place counts all the same */
    }
    memcpy(id.b, origin.p, OBJECT_ID_BYTES);
    struct objects_member *m = objects_member(o, &id);

    if (m != NULL && !objects_is_self(o, &id)) {
        m->is_due = true;
    }
}

/* The last change read must come first: else the store has lost changes. */
static void take_notices(struct shared_objects *o, const struct object_id *origin,
                         void *what, const struct resp *r, struct slice error)
{
    const size_t n = r != NULL ? (size_t)r->nodes[0].number : 0;
    const bool is_array = r != NULL && r->nodes[0].kind == RESP_ARRAY;
    const struct objects_place before = o->notice;

    (void)origin;
    (void)what;
    o->is_polling = false;
    for (size_t i = 0; is_array && i < n && i <= NOTICES_MAX; i++) {
        struct objects_place place;
        struct slice of;

        if (!read_notice(r, resp_below(r, 0, i), &place, &of)) {
            break;
        }
        if (i == 0 && (place.seq != before.seq || place.part != before.part)) {
            objects_doubt(o);
            look_at_all(o);
            o->notice = place;
        } else if (i > 0) {
            o->notice = place;
            take_notice(o, of);
        }
    }
    if (r != NULL && (n == 0 || !is_array) && before.seq != 0) {
        objects_doubt(o);
        look_at_all(o);
    }
    if (error.n > 0 && o->whole_us > objects_soon(WITHOUT_S)) {
        o->whole_us = objects_soon(WITHOUT_S);
    }
    objects_look(o);
}

/* Without a last change: where the stream ends now. */
static void poll_notices(struct shared_objects *o)
{
    const struct shared_name key = shared_name(o->shared, "objects", "");
    const bool is_known = o->notice.seq != 0;
    char last[48];
    char most[24];

    if (o->is_polling) {
        return;
    }
    (void)snprintf(last, sizeof(last), "%" PRIu64 "-%" PRIu64, o->notice.seq,
                   o->notice.part);
    (void)snprintf(most, sizeof(most), "%d", is_known ? NOTICES_MAX + 1 : 1);
    const struct slice args[] = {is_known ? SLICE_LIT("XRANGE")
                                          : SLICE_LIT("XREVRANGE"),
                                 slice_str(key.text),
                                 is_known ? slice_str(last) : SLICE_LIT("+"),
                                 is_known ? SLICE_LIT("+") : SLICE_LIT("-"),
                                 SLICE_LIT("COUNT"),
                                 slice_str(most)};
    o->is_polling =
        objects_ask(o, &(struct objects_request){.key = &key,
                                                 .args = args,
                                                 .nargs = LENGTH(args),
                                                 .take = take_notices,
                                                 .origin = objects_self(o)});
}

/* ---- life ---- */

enum err shared_objects_new(struct shared *shared, const struct exchange *exchange,
                            struct shared_objects **ret, struct errinfo *reterr)
{
    struct shared_objects *o = calloc(1, sizeof(*o));

    if (o == NULL) {
        return errinfo_nomem(reterr, "store");
    }
    o->shared = shared;
    o->exchange = exchange;
    *ret = o;
    return ERR_OK;
}

void shared_objects_free(struct shared_objects **o)
{
    if (*o != NULL) {
        shared_objects_pause(*o);
        free(*o);
        *o = NULL;
    }
}

void shared_objects_pause(struct shared_objects *o)
{
    o->is_open = false;
    o->turn++;
    free(o->members);
    o->members = NULL;
    o->nmembers = 0;
    o->notice = (struct objects_place){0, 0};
    o->is_polling = false;
    objects_fetches_reset(o);
    objects_put_reset(&o->put);
}

static void open_turn(struct shared_objects *o)
{
    o->is_open = true;
    o->begun_us = clock_mono_us();
    take_members(o);
    look_at_all(o);
}

void shared_objects_tick(struct shared_objects *o)
{
    const uint64_t now = clock_mono_us();

    if (!o->is_open) {
        open_turn(o);
    } else if (o->epoch != shared_node(o->shared)->epoch) {
        take_members(o);
    }
    if (now >= o->whole_us) {
        look_at_all(o);
    }
    for (size_t i = 0; i < o->nmembers; i++) {
        struct objects_member *m = &o->members[i];

        if (m->again_us != 0 && now >= m->again_us) {
            m->again_us = 0;
            m->is_due = true;
        }
    }
    poll_notices(o);
    objects_look(o);
    objects_put_step(o);
}

/* ---- for others ---- */

struct exchange_sources shared_objects_source(const struct shared_objects *o)
{
    struct exchange_sources s = {.called = 0};

    if (o == NULL) {
        return s;
    }
    s.called = 1;
    s.open = 1;
    for (size_t i = 0; o->is_open && i < o->nmembers; i++) {
        const struct objects_member *m = &o->members[i];

        if (objects_is_self(o, &m->origin)) {
            s.asked = m->was_heard;
            s.open = !m->was_heard && !m->has_failed;
        }
    }
    return s;
}

void shared_objects_status(const struct shared_objects *o,
                           struct shared_objects_status *ret)
{
    *ret = o->stat;
    for (size_t i = 0; i < OBJECTS_FETCHES; i++) {
        ret->fetches += o->fetches[i].is_used;
    }
}
