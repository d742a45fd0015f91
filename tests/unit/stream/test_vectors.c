/*
 * test_vectors - the frozen objects of tests/data/peers: made the same, and read the same.
 *
 * These files never change within version 1 (ADR 0030). `test_stream_vectors DIR` writes
 * those of this program, for the day that version 2 needs some.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/ring/stream/heads.h"

#include "tests/unit/stream/example.h"
#include "tests/unit/unit.h"

enum { TEXT_MAX = 1 << 20, PATH_BYTES = 4096 };

static void add_hex(struct buf *b, const char *name, struct slice bytes)
{
    char hex[3];
    buf_printf(b, "%s ", name);
    for (size_t i = 0; i < bytes.n; i++) {
        hex_print((const uint8_t *)bytes.p + i, 1, hex);
        buf_add_str(b, hex);
    }
    buf_add_char(b, '\n');
}

static void add_hash(struct buf *b, const char *name, const struct hash256 *h)
{
    add_hex(b, name, slice_of((const char *)h->b, HASH256_BYTES));
}

static void add_id(struct buf *b, const char *name, const struct object_id *id)
{
    add_hex(b, name, slice_of((const char *)id->b, OBJECT_ID_BYTES));
}

static void add_number(struct buf *b, const char *name, uint64_t v)
{
    buf_printf(b, "%s %" PRIu64 "\n", name, v);
}

static void describe_stream(const struct stream_key *k, struct buf *b)
{
    struct object_id id;
    stream_key_id(k, &id);
    add_id(b, "origin", &k->origin);
    add_number(b, "inc", k->inc);
    add_number(b, "start_s", k->start_s);
    add_number(b, "len_s", k->len_s);
    add_number(b, "ring_key", k->ring_key);
    add_number(b, "kind", k->kind);
    buf_printf(b, "list %s\n", k->list[0] ? k->list : "-");
    add_id(b, "stream_id", &id);
}

static void describe_fields(const struct object *o, struct buf *b)
{
    add_number(b, "type", o->type);
    add_number(b, "flags", o->flags);
    add_id(b, "ring", &o->ring);
    describe_stream(&o->stream, b);
    add_number(b, "key_id", o->key_id);
    add_number(b, "seq", o->seq);
    add_number(b, "base_seq", o->base_seq);
    add_hash(b, "prev", &o->prev);
    add_hash(b, "root", &o->root);
    add_hash(b, "payload_hash", &o->payload);
    add_number(b, "records", o->records);
    add_number(b, "total", o->total);
    add_number(b, "raw_len", o->raw_len);
    add_number(b, "sent_len", o->sent_len);
    add_number(b, "created_ms", o->created_ms);
    add_number(b, "expires_ms", o->expires_ms);
}

static bool has_records(const struct object *o)
{
    return o->stream.kind == OBJECT_COUNT || o->stream.kind == OBJECT_LIST ||
           o->stream.kind == OBJECT_TEXT;
}

static void describe_records(const struct object *o, struct slice raw, struct buf *b)
{
    struct payload_reader r;
    struct count_record count;
    struct list_record entry;
    assert_int_equal(payload_reader_init(&r, o->stream.kind, o->type == OBJECT_SNAP,
                                         o->records, raw, NULL),
                     ERR_OK);
    while (payload_next_count(&r, &count)) {
        buf_printf(b, "record %" PRIu64 " %" PRIu64 "\n", count.key, count.count);
    }
    while (payload_next_list(&r, &entry)) {
        buf_printf(b, "record %u %u %u %u ", entry.before, entry.after, entry.type,
                   entry.expiry_h);
        add_hex(b, o->stream.kind == OBJECT_TEXT ? "text" : "digest",
                o->stream.kind == OBJECT_TEXT
                    ? entry.text
                    : slice_of((const char *)entry.digest.b, DIGEST_BYTES));
    }
}

/* All that a receiver learns from the bytes of an object, checked as a receiver does. */
static void describe(struct slice header, struct slice payload, struct buf *b)
{
    struct object o;
    struct hash256 hash;
    struct buf raw;
    uint8_t key[OBJECT_KEY_BYTES];
    struct root root = {{0}};
    assert_true(example_public(key));
    assert_int_equal(object_parse(header, &o, NULL), ERR_OK);
    assert_true(object_is_signed_by(header, key));
    hash256_of(payload, &hash);
    assert_true(hash256_equal(&hash, &o.payload));
    buf_init(&raw, TEXT_MAX);
    if (o.type == OBJECT_DELTA || o.stream.kind == OBJECT_TEXT) {
        assert_int_equal(payload_unpack(payload, o.raw_len, &raw, NULL), ERR_OK);
    } else {
        buf_add(&raw, payload);
    }
    if (o.stream.kind != OBJECT_NONE) {
        assert_true(example_root_holds(&o, buf_slice(&raw), &root));
    }
    object_hash(header, &hash);
    add_hex(b, "header", header);
    add_hex(b, "payload", payload);
    add_hex(b, "raw", buf_slice(&raw));
    add_hash(b, "hash", &hash);
    describe_fields(&o, b);
    if (has_records(&o)) {
        describe_records(&o, buf_slice(&raw), b);
    }
    buf_fini(&raw);
}

/* ---- files ---- */

static void read_vector(const char *name, struct buf *ret)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/tests/data/peers/%s.txt", GILLNET_SOURCE_DIR,
                   name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    buf_init(ret, TEXT_MAX);
    for (int c = fgetc(f); c != EOF; c = fgetc(f)) {
        buf_add_char(ret, (char)c);
    }
    (void)fclose(f);
}

/* The bytes of the line that begins with name. */
static void read_line(const struct buf *text, const char *name, struct buf *ret)
{
    struct slice rest = buf_slice(text);
    const size_t n = strlen(name);
    while (rest.p) {
        struct slice line = slice_cut(&rest, '\n');
        if (line.n > n && slice_has_prefix(line, slice_str(name)) && line.p[n] == ' ') {
            struct slice hex = slice_from(line, n + 1);
            buf_init(ret, TEXT_MAX);
            char *to = hex.n ? buf_extend(ret, hex.n / 2) : NULL;
            assert_true(hex.n == 0 || (to && hex_parse(hex, (uint8_t *)to, hex.n / 2)));
            return;
        }
    }
    fail_msg("there is no line %s", name);
}

/* The DELTA that a vector is, follows or forges: as packed as it was on the day it was frozen. */
static enum example_kind delta_of(enum example_kind which)
{
    return which == EXAMPLE_SNAP_COUNT || which == EXAMPLE_PROOF ? EXAMPLE_DELTA_COUNT
           : which == EXAMPLE_SNAP_LIST                          ? EXAMPLE_DELTA_LIST
           : which == EXAMPLE_SNAP_TEXT                          ? EXAMPLE_DELTA_TEXT
                                                                 : which;
}

static const char *name_of(enum example_kind which)
{
    struct example e;
    assert_true(example_make(which, SLICE_NONE, &e));
    example_fini(&e);
    return e.name;
}

static void test_objects__frozen__are_made_and_read_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++) {
        const enum example_kind which = (enum example_kind)i;
        struct buf text;
        struct buf delta_text;
        struct buf packed;
        struct buf again;
        struct example e;
        read_vector(name_of(which), &text);
        read_vector(name_of(delta_of(which)), &delta_text);
        read_line(&delta_text, "payload", &packed);
        assert_true(example_make(which, buf_slice(&packed), &e));
        buf_init(&again, TEXT_MAX);
        describe(buf_slice(&e.header), buf_slice(&e.payload), &again);
        assert_string_equal(again.p, text.p);
        buf_fini(&text);
        buf_fini(&delta_text);
        buf_fini(&packed);
        buf_fini(&again);
        example_fini(&e);
    }
}

static void make_heads(struct buf *ret)
{
    static const enum example_kind which[] = {EXAMPLE_SNAP_LIST, EXAMPLE_SNAP_MEMBER};
    struct head v[2];
    struct example beat;
    for (size_t i = 0; i < 2; i++) {
        struct example e;
        struct buf text;
        struct buf packed;
        read_vector(name_of(delta_of(which[i])), &text);
        read_line(&text, "payload", &packed);
        assert_true(example_make(which[i], buf_slice(&packed), &e));
        v[i] = (struct head){.stream = e.o.stream,
                             .seq = e.o.seq + 1, /* a DELTA after it */
                             .from = 1,
                             .snap_seq = e.o.seq};
        object_hash(buf_slice(&e.header), &v[i].snap);
        hash256_of(slice_str(e.name), &v[i].hash);
        buf_fini(&text);
        buf_fini(&packed);
        example_fini(&e);
    }
    assert_true(example_make(EXAMPLE_HEARTBEAT, SLICE_NONE, &beat));
    struct slice beats[] = {buf_slice(&beat.header)};
    const struct heads h = {UINT64_C(0x123456789abcdef0), v, 2, beats, 1};
    buf_init(ret, TEXT_MAX);
    heads_print(&h, ret);
    example_fini(&beat);
}

static void describe_heads(struct slice bytes, struct buf *b)
{
    struct heads h;
    assert_int_equal(heads_parse(bytes, &h, NULL), ERR_OK);
    add_hex(b, "bytes", bytes);
    add_number(b, "version", h.version);
    for (size_t i = 0; i < h.n; i++) {
        describe_stream(&h.v[i].stream, b);
        add_number(b, "flags", h.v[i].flags);
        add_number(b, "seq", h.v[i].seq);
        add_hash(b, "hash", &h.v[i].hash);
        add_number(b, "from", h.v[i].from);
        add_number(b, "snap_seq", h.v[i].snap_seq);
        add_hash(b, "snap", &h.v[i].snap);
    }
    for (size_t i = 0; i < h.nheartbeats; i++) {
        add_hex(b, "heartbeat", h.heartbeats[i]);
    }
    heads_fini(&h);
}

static void test_heads__frozen__are_made_and_read_the_same(void **state)
{
    (void)state;
    struct buf text;
    struct buf bytes;
    struct buf again;
    read_vector("heads", &text);
    make_heads(&bytes);
    buf_init(&again, TEXT_MAX);
    describe_heads(buf_slice(&bytes), &again);
    assert_string_equal(again.p, text.p);
    buf_fini(&text);
    buf_fini(&bytes);
    buf_fini(&again);
}

static void describe_keys(struct buf *b)
{
    uint8_t secret[OBJECT_KEY_BYTES];
    uint8_t key[OBJECT_KEY_BYTES];
    example_secret(secret);
    assert_true(example_public(key));
    add_hex(b, "secret", slice_of((const char *)secret, sizeof(secret)));
    add_hex(b, "public", slice_of((const char *)key, sizeof(key)));
    add_number(b, "key_id", object_key_id(key));
}

static void test_keys__frozen__are_the_same(void **state)
{
    (void)state;
    struct buf text;
    struct buf again;
    read_vector("keys", &text);
    buf_init(&again, TEXT_MAX);
    describe_keys(&again);
    assert_string_equal(again.p, text.p);
    buf_fini(&text);
    buf_fini(&again);
}

/* ---- writing ---- */

static void write_file(const char *dir, const char *name, struct buf *text)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%s.txt", dir, name);
    FILE *f = fopen(path, "w");
    if (!f || fwrite(text->p, 1, text->n, f) != text->n || fclose(f) != 0) {
        (void)fprintf(stderr, "%s cannot be written\n", path);
    }
    buf_fini(text);
}

/* Once more after this for the heads, which come from the files. */
static int write_vectors(const char *dir)
{
    struct buf text;
    for (int i = 0; i < EXAMPLES; i++) {
        struct example e;
        buf_init(&text, TEXT_MAX);
        if (!example_make((enum example_kind)i, SLICE_NONE, &e)) {
            return 1;
        }
        describe(buf_slice(&e.header), buf_slice(&e.payload), &text);
        write_file(dir, e.name, &text);
        example_fini(&e);
    }
    buf_init(&text, TEXT_MAX);
    describe_keys(&text);
    write_file(dir, "keys", &text);
    struct buf bytes;
    make_heads(&bytes);
    buf_init(&text, TEXT_MAX);
    describe_heads(buf_slice(&bytes), &text);
    write_file(dir, "heads", &text);
    buf_fini(&bytes);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects__frozen__are_made_and_read_the_same),
        cmocka_unit_test(test_heads__frozen__are_made_and_read_the_same),
        cmocka_unit_test(test_keys__frozen__are_the_same),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return argc == 2 ? write_vectors(argv[1])
                     : cmocka_run_group_tests(tests, NULL, NULL);
}
