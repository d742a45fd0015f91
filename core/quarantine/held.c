#include "core/quarantine/held.h"

#include "core/base/visible.h"
#include "core/message/feature/feature_json.h"
#include "core/message/text/encoded_word.h"

enum { SHOWN_MAX = 300, DECODE_MAX = 64 * 1024 };

bool quarantine_is_id(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        const char c = s.p[i];

        if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') &&
            !(c >= 'a' && c <= 'z')) {
            return false;
        }
    }
    return s.n >= QUARANTINE_ID_MIN && s.n <= QUARANTINE_ID_MAX;
}

void held_add_recipient(struct held *h, struct slice address)
{
    if (h->nrcpt < HELD_RECIPIENTS_MAX) {
        h->rcpt[h->nrcpt] = address;
    }
    h->nrcpt++;
}

/* ---- header ---- */

/* Cuts the next field off, without its line end; its folds are in it. */
static struct slice next_field(struct slice *header)
{
    struct slice rest = *header;
    const char *end = NULL;

    do {
        struct slice line = slice_cut(&rest, '\n');
        end = line.p + line.n;
    } while (rest.n > 0 && (rest.p[0] == ' ' || rest.p[0] == '\t'));
    struct slice field = slice_of(header->p, (size_t)(end - header->p));
    *header = rest;
    return field;
}

/* The value on one line: each fold becomes one blank. */
static struct slice unfold(struct slice value, struct arena *arena)
{
    struct slice line = slice_head(slice_trim(value), HELD_VALUE_MAX);
    char *text = arena_bytes(arena, line.n);
    size_t n = 0;

    for (size_t i = 0; text != NULL && i < line.n; i++) {
        const char c = line.p[i];
        const bool is_blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';

        if (!is_blank || (n > 0 && text[n - 1] != ' ')) {
            text[n] = c;
            if (is_blank) {
                text[n] = ' ';
            }
            n++;
        }
    }
    return slice_of(text, n);
}

void held_read_header(struct held *h, struct slice header, struct arena *arena)
{
    const struct {
        const char *name;
        struct slice *value;
    } wanted[] = {{"From", &h->from},
                  {"Subject", &h->subject},
                  {"X-Gillnet-Status", &h->status},
                  {"X-Gillnet-Symbols", &h->symbols}};

    h->has_header = true;
    while (header.n > 0) {
        struct slice value = next_field(&header);
        struct slice name = slice_trim(slice_cut(&value, ':'));

        for (size_t i = 0; value.p != NULL && i < LENGTH(wanted); i++) {
            if (wanted[i].value->p == NULL &&
                slice_eq_nocase(name, slice_str(wanted[i].name))) {
                *wanted[i].value = unfold(value, arena);
            }
        }
    }
}

/* The value of "NAME=" among the words of X-Gillnet-Status. */
static struct slice word_of(struct slice status, struct slice name)
{
    while (status.n > 0) {
        struct slice word = slice_cut(&status, ' ');

        if (slice_has_prefix(word, name)) {
            return slice_from(word, name.n);
        }
    }
    return SLICE_NONE;
}

/* ---- rows ---- */

static json_t *held_value(struct slice s)
{
    return json_text(slice_head(s, HELD_VALUE_MAX));
}

static double score_of(struct slice status)
{
    char text[32];
    struct slice word = word_of(status, SLICE_LIT("score="));
    char *end = NULL;

    (void)snprintf(text, sizeof(text), "%.*s", SLICE_ARGS(slice_head(word, 31)));
    double score = strtod(text, &end);
    return end != text && *end == '\0' && score > -1e6 && score < 1e6 ? score : 0;
}

/* The hold of an account (milter/reply.c) has a reason and no header field. */
static bool says_gillnet(const struct held *h)
{
    return slice_has_prefix(h->reason, SLICE_LIT("gillnet: ")) ||
           slice_eq(word_of(h->status, SLICE_LIT("action=")), SLICE_LIT("quarantine"));
}

json_t *held_json(const struct held *h)
{
    json_t *rcpts = json_array();

    for (size_t i = 0; i < h->nrcpt && i < HELD_RECIPIENTS_MAX; i++) {
        (void)json_array_append_new(rcpts, held_value(h->rcpt[i]));
    }
    return json_pack(
        "{s:o, s:I, s:I, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:f, s:b}", "id",
        held_value(h->id), "time_s", (json_int_t)h->time_s, "bytes",
        (json_int_t)h->bytes, "sender", held_value(h->sender), "recipients", rcpts,
        "nrcpt", (json_int_t)h->nrcpt, "from", held_value(h->from), "subject",
        held_value(h->subject), "reason", held_value(h->reason), "symbols",
        held_value(h->symbols), "case",
        held_value(word_of(h->status, SLICE_LIT("case="))), "score",
        score_of(h->status), "gillnet", (int)says_gillnet(h));
}

const char *held_text(const json_t *row, const char *member)
{
    const char *text = json_string_value(json_object_get(row, member));

    return text != NULL ? text : "";
}

uint64_t held_number(const json_t *row, const char *member)
{
    const json_int_t n = json_integer_value(json_object_get(row, member));

    return n > 0 ? (uint64_t)n : 0;
}

void held_add_decoded(struct buf *b, const char *value)
{
    struct arena *arena = arena_new(DECODE_MAX);
    char shown[SHOWN_MAX];

    if (arena != NULL) {
        const struct slice text = encoded_word_decode(arena, slice_str(value));

        buf_add(b, slice_of(shown, visible_print(shown, sizeof(shown), text)));
    }
    arena_free(&arena);
}

bool held_is_gillnets(const json_t *row)
{
    return json_is_true(json_object_get(row, "gillnet"));
}

bool held_has_recipient(const json_t *row, const char *address)
{
    const json_t *rcpts = json_object_get(row, "recipients");

    for (size_t i = 0; i < json_array_size(rcpts); i++) {
        const char *one = json_string_value(json_array_get(rcpts, i));

        if (slice_eq_nocase(slice_str(one), slice_str(address))) {
            return true;
        }
    }
    return false;
}

json_t *held_rows(struct slice answer)
{
    json_t *rows = json_array();

    (void)slice_cut(&answer, '\n');
    while (answer.n > 0) {
        struct slice line = slice_cut(&answer, '\n');
        json_t *row = json_loadb(line.p, line.n, 0, NULL);

        if (json_is_object(row)) {
            (void)json_array_append_new(rows, row);
        } else {
            json_decref(row);
        }
    }
    return rows;
}

json_t *held_find(const json_t *rows, const char *id)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);

        if (strcmp(held_text(row, "id"), id) == 0) {
            return row;
        }
    }
    return NULL;
}
