/*
 * json_records - JSON of any length, one record at a time, in constant memory.
 *
 * A scanner follows strings and brackets and finds the objects that are records; jansson reads each
 * of them. Text around records is only skipped. Text that ends in the middle, or whose brackets do
 * not match, is an error, because more of it may be lost.
 */
#include "core/base/buf.h"
#include "core/feed/lines.h"
#include "core/feed/parser_internal.h"

struct json {
    struct feed *f;
    struct feed_json_path path;
    bool is_string;
    bool is_key;
    bool is_escaped;
    unsigned record_depth; /* containers around the open record and itself; 0: none */
    struct buf record;
    uint64_t at; /* bytes before the chunk */
};

static struct feed_json_level *top(struct json *j)
{
    return j->path.depth == 0 ? NULL : &j->path.level[j->path.depth - 1];
}

static void json_fail(struct json *j, const char *why, size_t i)
{
    j->f->failed =
        errinfo_set(j->f->reterr, ERR_SYNTAX, j->f->name, 0,
                    "this is no whole JSON: %s at byte %llu; nothing of it is used",
                    why, (unsigned long long)j->at + i + 1);
}

bool feed_path_is(const struct feed_json_path *path, unsigned i, const char *key)
{
    const struct feed_json_level *parent = i > 0 ? &path->level[i - 1] : NULL;
    return parent != NULL && parent->open == '{' &&
           slice_eq(slice_of(parent->key, parent->nkey), slice_str(key));
}

bool feed_place_rows(const struct feed_json_path *path)
{
    unsigned n = path->depth;
    return (n == 1 && path->level[0].open == '[') ||
           (n == 2 && path->level[0].open == '{' && path->level[1].open == '[');
}

bool feed_place_lines(const struct feed_json_path *path)
{
    return path->depth == 0;
}

/* The record is complete: parses it and hands it on. */
static void end_record(struct json *j)
{
    struct feed *f = j->f;
    bool is_long = buf_failed(&j->record);
    json_t *object =
        is_long ? NULL
                : json_loadb(j->record.p, j->record.n, JSON_REJECT_DUPLICATES, NULL);

    f->counts.lines++;
    j->record_depth = 0;
    if (json_is_object(object)) {
        f->fields.object = object;
        f->row->fields(f, &f->fields);
        f->fields.object = NULL;
    } else {
        feed_bad(f,
                 is_long ? "the record is longer than 1 MiB"
                         : "the record is no valid JSON",
                 buf_slice(&j->record));
    }
    json_decref(object);
    buf_clear(&j->record);
}

static void open_container(struct json *j, char c, size_t i)
{
    struct feed_json_level *parent = top(j);

    if (parent != NULL && parent->wants_key) {
        json_fail(j, "a name was expected", i);
        return;
    }
    if (j->path.depth == FEED_JSON_DEPTH) {
        json_fail(j, "it is nested too deep", i);
        return;
    }
    bool is_record = c == '{' && j->record_depth == 0 && j->f->row->place(&j->path);
    struct feed_json_level *level = &j->path.level[j->path.depth++];
    level->open = c;
    level->wants_key = c == '{';
    level->nkey = 0;
    if (is_record) {
        j->record_depth = j->path.depth;
    }
}

static void close_container(struct json *j, char c, size_t i)
{
    const struct feed_json_level *level = top(j);

    if (level == NULL || level->open != (c == '}' ? '{' : '[')) {
        json_fail(j, "brackets do not match", i);
        return;
    }
    j->path.depth--;
}

static void open_string(struct json *j)
{
    struct feed_json_level *level = top(j);

    j->is_string = true;
    j->is_key = level != NULL && level->wants_key;
    if (j->is_key) {
        level->nkey = 0;
    }
}

static void in_string(struct json *j, char c)
{
    struct feed_json_level *level = top(j);

    if (!j->is_escaped && c == '"') {
        j->is_string = false;
        return;
    }
    j->is_escaped = !j->is_escaped && c == '\\';
    if (j->is_key && level->nkey < FEED_JSON_KEY) {
        level->key[level->nkey++] = c;
    }
}

/* Outside of records: only what JSON has. */
static bool is_plain_byte(const struct json *j, char c)
{
    bool is_space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                   c == '+' || c == '.' || c == 'E';
    return is_space || (j->path.depth > 0 && is_word);
}

static void outside_string(struct json *j, char c, size_t i)
{
    struct feed_json_level *level = top(j);

    switch (c) {
    case '{':
    case '[':
        open_container(j, c, i);
        return;
    case '}':
    case ']':
        close_container(j, c, i);
        return;
    case '"':
        open_string(j);
        return;
    default:
        break;
    }
    if (level != NULL && (c == ',' || c == ':')) {
        level->wants_key = level->open == '{' && c == ',';
    } else if (j->record_depth == 0 && !is_plain_byte(j, c)) {
        json_fail(j, "a stray byte", i);
    }
}

static void scan_chunk(struct json *j, struct slice chunk)
{
    struct feed *f = j->f;
    size_t from = 0; /* of the open record in this chunk */

    for (size_t i = 0; i < chunk.n && f->failed == ERR_OK; i++) {
        if (j->is_string) {
            in_string(j, chunk.p[i]);
            continue;
        }
        unsigned before = j->record_depth;
        outside_string(j, chunk.p[i], i);
        if (before == 0 && j->record_depth != 0) {
            from = i;
        }
        if (j->record_depth > j->path.depth) {
            buf_add(&j->record, slice_of(chunk.p + from, i + 1 - from));
            end_record(j);
        }
    }
    if (j->record_depth != 0) {
        buf_add(&j->record, slice_from(chunk, from));
    }
    j->at += chunk.n;
}

enum err feed_read_json(struct feed *f, struct feed_lines *l)
{
    struct json j = {.f = f};
    struct slice chunk;
    enum feed_lines_result r = FEED_LINES_LINE;

    buf_init(&j.record, FEED_RECORD_MAX);
    while (f->failed == ERR_OK &&
           (r = feed_lines_chunk(l, &chunk)) == FEED_LINES_LINE) {
        scan_chunk(&j, chunk);
        if (f->sink->on_progress != NULL) {
            f->sink->on_progress(f->sink->context, l->bytes);
        }
    }
    if (f->failed == ERR_OK && r == FEED_LINES_ERROR) {
        f->failed = feed_read_failed(f, l);
    } else if (f->failed == ERR_OK && (j.path.depth > 0 || j.is_string)) {
        json_fail(&j, "it ends in the middle", 0);
    }
    buf_fini(&j.record);
    return f->failed;
}
