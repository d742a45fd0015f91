/* vector_part - form of header, MIME parts and HTML. */
#include "core/base/le.h"
#include "core/learn/vector_internal.h"
#include "core/message/text/ascii.h"

enum { VALUE_MAX = 40, MAILER_MAX = 20, EXTENSION_MAX = 6, NAME_MAX_BYTES = 64 };

bool vector_is_name(const struct vector_reader *r, struct slice word)
{
    if (r->nnames == 0 || word.n < VECTOR_NAME_MIN) {
        return false;
    }
    uint64_t name = vector_mix(0, word);
    if ((r->name_bits & UINT64_C(1) << (name & 63)) == 0) {
        return false;
    }
    for (size_t i = 0; i < r->nnames; i++) {
        if (r->name[i] == name) {
            return true;
        }
    }
    return false;
}

/* Each run of letters in a value that names recipients or a list; the last label of a host, "com",
 * is no name. */
static void add_names(struct vector_reader *r, struct slice value)
{
    char word[VALUE_MAX];
    size_t i = 0;
    while (i < value.n && r->nnames < VECTOR_NAMES) {
        size_t n = 0;
        while (i < value.n && !ASCII_IS(value.p[i], ASCII_ALPHA)) {
            i++;
        }
        while (i < value.n && ASCII_IS(value.p[i], ASCII_ALPHA)) {
            if (n < sizeof(word)) {
                word[n++] = ASCII_LOWER(value.p[i]);
            }
            i++;
        }
        bool is_top = i == value.n || value.p[i] == '>' || value.p[i] == ',';
        if (n >= VECTOR_NAME_MIN && !(is_top && n <= 4)) {
            uint64_t name = vector_mix(0, slice_of(word, n));
            r->name[r->nnames++] = name;
            r->name_bits |= UINT64_C(1) << (name & 63);
        }
    }
}

/* The value in lower case, up to the first of these bytes. */
static struct slice lower_head(struct slice value, const char *stops, char *to,
                               size_t size)
{
    size_t n = 0;
    while (n < value.n && n < size && strchr(stops, value.p[n]) == NULL) {
        to[n] = ASCII_LOWER(value.p[n]);
        n++;
    }
    return slice_trim(slice_of(to, n));
}

/* The form of a token: runs of digits, small letters and capitals as 9, a and A. */
static struct slice shape_of(struct slice token, char to[VECTOR_SHAPE])
{
    size_t n = 0;
    for (size_t i = 0; i < token.n && n < VECTOR_SHAPE; i++) {
        char c = token.p[i];
        if (ASCII_IS(c, ASCII_DIGIT)) {
            c = '9';
        } else if (ASCII_IS(c, ASCII_ALPHA)) {
            c = (c & 32) != 0 ? 'a' : 'A';
        } else {
            /* a sign stands for itself */
        }
        if (n == 0 || to[n - 1] != c || (c != '9' && c != 'a' && c != 'A')) {
            to[n++] = c;
        }
    }
    return slice_of(to, n);
}

static void add_shape(struct vector_reader *r, const char *word, struct slice token)
{
    char shape[VECTOR_SHAPE];
    vector_add_pair(r, VECTOR_FIELD, word, shape_of(token, shape));
}

static void on_message_id(struct vector_reader *r, struct slice value)
{
    size_t begin = slice_find(value, '<');
    struct slice id = begin < value.n ? slice_from(value, begin + 1) : value;
    add_shape(r, "message-id=", slice_head(id, slice_find(id, '@')));
}

static void on_mailer(struct vector_reader *r, struct slice value)
{
    char text[MAILER_MAX];
    size_t n = 0;
    for (size_t i = 0; i < value.n && n < sizeof(text); i++) {
        if (ASCII_IS(value.p[i], ASCII_ALPHA) || value.p[i] == ' ') {
            text[n++] = ASCII_LOWER(value.p[i]);
        }
    }
    r->has_mailer = true;
    vector_add_pair(r, VECTOR_FIELD, "mailer=", slice_trim(slice_of(text, n)));
}

static void on_content_type(struct vector_reader *r, struct slice value)
{
    static const char *const words[] = {"format=flowed", "delsp=",       "charset=\"",
                                        "reply-type=",   "report-type=", "type="};
    size_t at = slice_find_slice(value, SLICE_LIT("oundary="));
    if (at < value.n) {
        struct slice token = slice_from(value, at + sizeof "oundary=" - 1);
        bool is_quoted = token.n > 0 && token.p[0] == '"';
        token = is_quoted ? slice_from(token, 1) : token;
        add_shape(r, is_quoted ? "boundary=\"" : "boundary=",
                  slice_head(token, slice_find(token, is_quoted ? '"' : ';')));
    }
    for (size_t i = 0; i < LENGTH(words); i++) {
        if (slice_find_slice(value, slice_str(words[i])) < value.n) {
            vector_add_pair(r, VECTOR_FIELD, "content-type~", slice_str(words[i]));
        }
    }
}

/* How a text of the header is encoded. */
static void on_encoded(struct vector_reader *r, const char *word, struct slice value)
{
    char text[VALUE_MAX];
    size_t at = slice_find_slice(value, SLICE_LIT("=?"));
    if (at < value.n) {
        struct slice rest = slice_from(value, at + 2);
        struct slice charset = lower_head(rest, "?*", text, sizeof(text));
        vector_add_pair(r, VECTOR_FIELD, word, charset);
        rest = slice_from(rest, slice_find(rest, '?') + 1);
        char way = ' ';
        if (rest.n > 0) {
            way = ASCII_LOWER(rest.p[0]);
        }
        vector_add_pair(r, VECTOR_FIELD, "encoding=", slice_of(&way, 1));
    }
}

static void on_subject(struct vector_reader *r, struct slice value)
{
    on_encoded(r, "subject-charset=", value);
}

static void on_from(struct vector_reader *r, struct slice value)
{
    on_encoded(r, "from-charset=", value);
    if (slice_find(value, '"') < value.n) {
        vector_add(r, VECTOR_FIELD, SLICE_LIT("from-quoted"));
    }
    if (slice_find(value, '<') == value.n && slice_find(value, '@') < value.n) {
        vector_add(r, VECTOR_FIELD, SLICE_LIT("from-bare"));
    }
}

static void note_answer_field(struct vector_reader *r, struct slice value)
{
    (void)value;
    if (!r->has_answer) {
        r->has_answer = true;
        vector_add(r, VECTOR_FIELD, SLICE_LIT("answer"));
    }
}

static void on_priority(struct vector_reader *r, struct slice value)
{
    vector_add_pair(r, VECTOR_FIELD, "priority=", slice_head(value, 1));
}

static void on_names(struct vector_reader *r, struct slice value)
{
    add_names(r, value);
}

/* Fields whose values give terms. */
static const struct {
    struct slice name;
    void (*read)(struct vector_reader *r, struct slice value);
} fields[] = {
    {{"Subject", 7}, on_subject},
    {{"From", 4}, on_from},
    {{"Message-ID", 10}, on_message_id},
    {{"Content-Type", 12}, on_content_type},
    {{"X-Mailer", 8}, on_mailer},
    {{"User-Agent", 10}, on_mailer},
    {{"In-Reply-To", 11}, note_answer_field},
    {{"References", 10}, note_answer_field},
    {{"X-Priority", 10}, on_priority},
    {{"Importance", 10}, on_priority},
    {{"To", 2}, on_names},
    {{"Cc", 2}, on_names},
    {{"Delivered-To", 12}, on_names},
    {{"X-Original-To", 13}, on_names},
    {{"List-Id", 7}, on_names},
    {{"List-Post", 9}, on_names},
    {{"X-BeenThere", 11}, on_names},
    {{"X-Mailing-List", 14}, on_names},
    {{"Mailing-List", 12}, on_names},
};

/* Fields whose being there, and the capitals in their names, tell how the sender's program
 * writes. */
static const struct slice noted[] = {{"MIME-Version", 12},
                                     {"Message-ID", 10},
                                     {"Content-Type", 12},
                                     {"Organization", 12},
                                     {"Reply-To", 8},
                                     {"Thread-Topic", 12},
                                     {"Thread-Index", 12},
                                     {"Importance", 10},
                                     {"Content-Class", 13},
                                     {"Priority", 8},
                                     {"Auto-Submitted", 14},
                                     {"Content-Language", 16},
                                     {"Content-Transfer-Encoding", 25},
                                     {"Comments", 8},
                                     {"Errors-To", 9},
                                     {"Accept-Language", 15}};

void vector_on_field(void *context, struct slice name, struct slice value)
{
    struct vector_reader *r = context;
    for (size_t i = 0; i < LENGTH(fields); i++) {
        if (name.n == fields[i].name.n && slice_eq_nocase(name, fields[i].name)) {
            fields[i].read(r, value);
        }
    }
    for (size_t i = 0; i < LENGTH(noted); i++) {
        if (name.n == noted[i].n && slice_eq_nocase(name, noted[i])) {
            vector_add_pair(r, VECTOR_FIELD, "has=", name);
        }
    }
}

static void add_file_name(struct vector_reader *r, struct slice name)
{
    char text[EXTENSION_MAX];
    size_t at = name.n;
    while (at > 0 && name.p[at - 1] != '.') {
        at--;
    }
    if (at > 0) {
        vector_add_pair(r, VECTOR_PART, "extension=",
                        lower_head(slice_from(name, at), " ", text, sizeof(text)));
    }
    vector_add_number(r, VECTOR_PART, "file-name=", vector_log2(name.n));
}

void vector_on_part(void *context, const struct mail_part *part)
{
    struct vector_reader *r = context;
    char text[VALUE_MAX];
    vector_text_end(r);
    if (part->is_extra || part->is_over) {
        return;
    }
    r->nparts++;
    vector_add_pair(r, VECTOR_PART, part->is_container ? "multipart=" : "type=",
                    slice_head(part->type, VALUE_MAX));
    if (part->is_container) {
        return;
    }
    if (!part->has_type) {
        vector_add(r, VECTOR_PART, SLICE_LIT("no-type"));
    }
    r->has_html = r->has_html || slice_eq(part->type, SLICE_LIT("text/html"));
    struct slice main = slice_head(part->type, slice_find(part->type, '/'));
    vector_add_pair(r, VECTOR_PART,
                    slice_eq(main, SLICE_LIT("text")) ? "text-transfer=" : "transfer=",
                    lower_head(part->transfer, "; ", text, sizeof(text)));
    if (slice_eq(main, SLICE_LIT("text"))) {
        vector_add_pair(r, VECTOR_PART,
                        "charset=", lower_head(part->charset, " ", text, sizeof(text)));
    }
    if (part->disposition.n > 0) {
        vector_add_pair(r, VECTOR_PART,
                        "disposition=", slice_head(part->disposition, VALUE_MAX));
    }
    if (part->filename.n > 0) {
        add_file_name(r, part->filename);
    }
}

void vector_on_tag(void *context, struct slice name)
{
    struct vector_reader *r = context;
    uint32_t hash = vector_hash(VECTOR_HTML, name) | 1U << 31;
    size_t at = hash % LENGTH(r->tag);
    while (r->tag[at].hash != 0 && r->tag[at].hash != hash) {
        at = (at + 1) % LENGTH(r->tag);
    }
    if (r->tag[at].hash == 0) {
        if (r->ntags == VECTOR_TAGS) {
            return;
        }
        r->tag[at].hash = hash;
        r->ntags++;
        if (r->names != NULL) {
            r->tag[at].name = arena_copy(r->arena, name);
        }
    }
    r->tag[at].count++;
}

void vector_on_attribute(void *context, struct slice name)
{
    vector_add_pair(context, VECTOR_HTML, "@", slice_head(name, VALUE_MAX));
}

static void add_tag(struct vector_reader *r, const struct vector_tag *t, unsigned size)
{
    char text[NAME_MAX_BYTES];
    uint8_t bytes[5];
    le_put(bytes, (uint64_t)t->hash << 8 | size, sizeof(bytes));
    uint32_t hash = vector_hash(VECTOR_HTML, slice_of(bytes, sizeof(bytes)));
    vector_add_hash(r, VECTOR_HTML, hash, FINGERPRINT_OTHER);
    if (r->names != NULL) {
        (void)snprintf(text, sizeof(text), "%.*s about %u times", SLICE_ARGS(t->name),
                       1U << (size - 1));
        vector_note_name(r, VECTOR_HTML, hash, "tag=", slice_str(text));
    }
}

/* Counts of tags on a scale of powers of two, and how many words stand to a tag. */
void vector_add_tags(struct vector_reader *r, uint32_t nwords)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < LENGTH(r->tag); i++) {
        const struct vector_tag *t = &r->tag[i];
        if (t->hash != 0) {
            unsigned size = vector_log2(t->count);
            size = size < 6 ? size : 6;
            sum += t->count;
            add_tag(r, t, size);
        }
    }
    if (sum > 0) {
        vector_add_number(r, VECTOR_HTML,
                          "words-per-tag=", vector_log2(8 * (uint64_t)nwords / sum));
    }
    vector_add_number(r, VECTOR_PART, "parts=", vector_log2(r->nparts));
    if (!r->has_mailer) {
        vector_add(r, VECTOR_FIELD, SLICE_LIT("no-mailer"));
    }
}
