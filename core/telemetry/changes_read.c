/* changes_read - files from the newest to the oldest, and each from its end: an undo is seen before
 * the change that it undoes. */
#include "core/telemetry/changes_read.h"

#include "core/base/array.h"
#include "core/base/file.h"
#include "core/telemetry/changes_file.h"

enum {
    READ_MAX = CHANGES_FILE_BYTES + 2 * CHANGES_LINE_MAX, /* of one file */
    UNDONE_MAX =
        4096, /* the newest; a change that an older one undid shows as not undone */
    WORDS_MAX = 16
};

struct reading {
    struct slice word[WORDS_MAX];
    size_t nwords;
    uint64_t before;
    uint64_t only; /* the row of this id; 0: any */
    size_t limit;
    json_t *rows;
    uint64_t last; /* id of the last row */
    bool has_more;
    uint64_t *undone; /* ids */
    size_t nundone;
    size_t room;
};

/* ---- a line ---- */

static const char *const texts[] = {"who",   "way",    "object", "kind",  "before",
                                    "after", "reason", "result", "undoes"};
enum { FIELDS = 4 }; /* the first of them can be named in a query */

static bool is_bounded_text(const json_t *v, size_t most)
{
    return json_is_string(v) && json_string_length(v) <= most;
}

static bool has_right_values(const json_t *line)
{
    const json_t *values = json_object_get(line, "values");
    const json_t *count = json_object_get(line, "count");

    for (size_t i = 0; i < json_array_size(values); i++) {
        if (!is_bounded_text(json_array_get(values, i), CHANGES_VALUES_BYTES)) {
            return false;
        }
    }
    return (values == NULL) == (count == NULL) &&
           (values == NULL ||
            (json_is_array(values) && json_array_size(values) <= CHANGES_VALUES_MAX &&
             json_is_integer(count) && json_integer_value(count) >= 0));
}

/* Only what changes_note writes. */
static bool is_right(json_t *line)
{
    const json_t *time = json_object_get(line, "time");
    size_t known = json_object_get(line, "values") != NULL ? 3 : 1;

    for (size_t i = 0; i < LENGTH(texts); i++) {
        const json_t *v = json_object_get(line, texts[i]);

        if (v != NULL && !is_bounded_text(v, CHANGES_STATE_MAX)) {
            return false;
        }
        known += v != NULL;
    }
    const json_t *kind = json_object_get(line, "kind");
    return json_is_integer(time) && json_integer_value(time) >= 0 && kind != NULL &&
           change_kind_by_name(slice_str(json_string_value(kind))) != CHANGE_KINDS &&
           has_right_values(line) && json_object_size(line) == known;
}

static json_t *line_read(struct slice bytes)
{
    json_t *line = bytes.n > 0 && bytes.n < CHANGES_LINE_MAX && bytes.p[0] == '{'
                       ? json_loadb(bytes.p, bytes.n, JSON_REJECT_DUPLICATES, NULL)
                       : NULL;

    if (line != NULL && !is_right(line)) {
        json_decref(line);
        line = NULL;
    }
    return line;
}

/* ---- undone ---- */

static bool is_undone(const struct reading *r, uint64_t id)
{
    size_t i = 0;

    while (i < r->nundone && r->undone[i] != id) {
        i++;
    }
    return i < r->nundone;
}

/* An undo that was itself undone does not count. */
static void note_undone(struct reading *r, const json_t *line, uint64_t id)
{
    const char *text = json_string_value(json_object_get(line, "undoes"));
    uint64_t other = 0;

    if (text == NULL || !change_id_read(slice_str(text), &other) || other >= id ||
        is_undone(r, id)) {
        return;
    }
    if (array_room(&r->undone, &r->room, r->nundone + 1, UNDONE_MAX,
                   sizeof(*r->undone))) {
        r->undone[r->nundone++] = other;
    }
}

/* ---- words ---- */

static bool text_has_word(const char *text, struct slice word)
{
    const struct slice in = slice_str(text);

    for (size_t i = 0; i + word.n <= in.n; i++) {
        if (slice_has_prefix_nocase(slice_from(in, i), word)) {
            return true;
        }
    }
    return false;
}

/* The text that a word names by "who:" and the like; FIELDS: none. */
static size_t cut_field(struct slice *word)
{
    struct slice rest = *word;
    const struct slice name = slice_cut(&rest, ':');
    size_t i = 0;

    while (i < FIELDS && !slice_eq_nocase(name, slice_str(texts[i]))) {
        i++;
    }
    *word = i < FIELDS && rest.p != NULL ? rest : *word;
    return rest.p != NULL ? i : FIELDS;
}

static bool has_it(const json_t *line, struct slice word)
{
    const size_t field = cut_field(&word);
    const json_t *values = json_object_get(line, "values");

    for (size_t i = 0; i < LENGTH(texts); i++) {
        if ((field == FIELDS || field == i) &&
            text_has_word(json_string_value(json_object_get(line, texts[i])), word)) {
            return true;
        }
    }
    for (size_t i = 0; field == FIELDS && i < json_array_size(values); i++) {
        if (text_has_word(json_string_value(json_array_get(values, i)), word)) {
            return true;
        }
    }
    return false;
}

static bool has_all(const struct reading *r, const json_t *line)
{
    size_t i = 0;

    while (i < r->nwords && has_it(line, r->word[i])) {
        i++;
    }
    return i == r->nwords;
}

/* ---- rows ---- */

/* Older rows say "not listed before" alone. */
static const char *no_undo_of(const char *result)
{
    return slice_has_prefix(slice_str(result), SLICE_LIT("not listed before"))
               ? "it was " CHANGE_NOT_LISTED
               : "it had no effect";
}

/* Whether the row has what its undo needs. */
static const char *missing(const json_t *row, enum change_undo undo)
{
    const json_t *values = json_object_get(row, "values");
    const bool needs_values = undo == CHANGE_LIST_ADD || undo == CHANGE_LIST_REVOKE ||
                              undo == CHANGE_REPORT_UNDO;

    if (undo == CHANGE_STAYS) {
        return "such a change cannot be undone";
    }
    if (json_object_get(row, "result") != NULL) {
        return no_undo_of(json_string_value(json_object_get(row, "result")));
    }
    if (needs_values && (json_array_size(values) == 0 ||
                         (json_int_t)json_array_size(values) !=
                             json_integer_value(json_object_get(row, "count")))) {
        return "the log does not have all of its values";
    }
    if (undo == CHANGE_USER_SET && (json_object_get(row, "before") == NULL ||
                                    json_object_get(row, "after") == NULL)) {
        return "the log does not have what was before and after, because it is too "
               "long";
    }
    return json_object_get(row, "object") == NULL ? "the log does not say of what"
                                                  : NULL;
}

static enum change_undo undo_of(const json_t *row, const char **retwhy)
{
    const char *kind = json_string_value(json_object_get(row, "kind"));
    const enum change_undo undo = change_undo_of(change_kind_by_name(slice_str(kind)));

    *retwhy = missing(row, undo);
    return *retwhy == NULL ? undo : CHANGE_STAYS;
}

enum change_undo changes_undo_of(const json_t *row, const char **retwhy)
{
    const char *undo = json_string_value(json_object_get(row, "undo"));

    if (undo != NULL && strcmp(undo, "done") == 0) {
        *retwhy = "it was undone before";
        return CHANGE_STAYS;
    }
    return undo_of(row, retwhy);
}

static void add_change_row(struct reading *r, json_t *line, uint64_t id)
{
    char text[CHANGE_ID_SIZE];
    const char *why = NULL;
    const bool can_undo = undo_of(line, &why) != CHANGE_STAYS;

    (void)json_object_set_new(line, "id", json_string(change_id_print(id, text)));
    (void)json_object_set_new(line, "undo",
                              json_string(is_undone(r, id) ? "done"
                                          : can_undo       ? "possible"
                                                           : "none"));
    (void)json_array_append(r->rows, line);
    r->last = id;
}

/* False: that was the last row. */
static bool take_change(struct reading *r, struct slice bytes, uint64_t id)
{
    const bool is_wanted =
        (r->before == 0 || id < r->before) && (r->only == 0 || id == r->only);

    if (!is_wanted && slice_find_slice(bytes, SLICE_LIT("\"undoes\":")) == bytes.n) {
        return true;
    }
    json_t *line = line_read(bytes);
    if (line != NULL && is_wanted && has_all(r, line)) {
        r->has_more = json_array_size(r->rows) == r->limit;
        if (!r->has_more) {
            add_change_row(r, line, id);
        }
    }
    if (line != NULL) {
        note_undone(r, line, id);
    }
    json_decref(line);
    return !r->has_more && (r->only == 0 || id > r->only);
}

/* The lines from the last one on; one without an end is being written. */
static bool take_changes(struct reading *r, struct slice bytes, uint32_t number)
{
    bool goes_on = true;

    while (bytes.n > 0 && bytes.p[bytes.n - 1] != '\n') {
        bytes.n--;
    }
    while (goes_on && bytes.n > 0) {
        size_t begin = bytes.n - 1;

        while (begin > 0 && bytes.p[begin - 1] != '\n') {
            begin--;
        }
        goes_on = take_change(r, slice_of(bytes.p + begin, bytes.n - 1 - begin),
                              (uint64_t)number << 32 | begin);
        bytes.n = begin;
    }
    return goes_on;
}

static enum err read_all(struct reading *r, const char *state_dir,
                         struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    uint32_t least = 0;
    uint32_t most = 0;
    struct buf bytes;
    bool goes_on = true;
    enum err e = path_make(path, reterr, "%s/" STATE_CHANGES_DIR, state_dir);

    THEN(e, changes_file_names(path, &least, &most, reterr));
    buf_init(&bytes, READ_MAX);
    for (uint32_t i = 0; e == ERR_OK && goes_on && i < CHANGES_FILES && i < most; i++) {
        buf_clear(&bytes);
        e = path_make(path, reterr, "%s/" STATE_CHANGES_DIR "/" CHANGES_FILE "%" PRIu32,
                      state_dir, most - i);
        THEN(e, file_read(path, &bytes, reterr));
        if (e == ERR_OK) {
            goes_on = take_changes(r, buf_slice(&bytes), most - i);
        }
        if (e == ERR_NOT_FOUND || e == ERR_LIMIT || e == ERR_CORRUPT) {
            e = ERR_OK; /* a writer removed it, or it is no file of the log */
        }
    }
    buf_fini(&bytes);
    free(r->undone);
    return e;
}

enum err changes_read(const struct changes_query *q, json_t **ret, uint64_t *retnext,
                      struct errinfo *reterr)
{
    struct reading r = {.before = q->before, .limit = q->limit, .rows = json_array()};
    struct slice rest = q->words;

    while (rest.n > 0 && r.nwords < WORDS_MAX) {
        const struct slice word = slice_cut(&rest, ' ');

        if (word.n > 0) {
            r.word[r.nwords++] = word;
        }
    }
    enum err e = read_all(&r, q->state_dir, reterr);

    if (e != ERR_OK) {
        json_decref(r.rows);
        return e;
    }
    *ret = r.rows;
    *retnext = r.has_more ? r.last : 0;
    return ERR_OK;
}

enum err changes_find(const char *state_dir, struct slice id, json_t **ret,
                      struct errinfo *reterr)
{
    struct reading r = {.limit = 1};

    if (!change_id_read(id, &r.only)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, STATE_CHANGES_DIR, 0,
                           "this is no id of a change");
    }
    r.rows = json_array();
    enum err e = read_all(&r, state_dir, reterr);

    if (e == ERR_OK && json_array_size(r.rows) == 0) {
        e = errinfo_set(reterr, ERR_NOT_FOUND, STATE_CHANGES_DIR, 0,
                        "the log has no change of this id");
    }
    if (e == ERR_OK) {
        *ret = json_incref(json_array_get(r.rows, 0));
    }
    json_decref(r.rows);
    return e;
}
