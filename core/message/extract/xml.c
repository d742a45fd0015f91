#include "core/message/extract/xml.h"

#include "core/message/extract/extract_internal.h"

enum where {
    IN_TEXT,
    IN_CODE,  /* of a formula, a value, a definition */
    IN_FIELD, /* of the code of a field */
};

struct extract_xml {
    struct extract *x;
    struct html *html;
    enum where where;
    unsigned depth;    /* of fields in one another */
    bool is_separated; /* the outer field's code has ended: its result comes */
    bool is_external;  /* the relation that is open leads outside */
    bool is_string;    /* the value of the cell is text */
    bool
        is_document; /* an office program's: tags within a paragraph do not divide it */
    size_t nseen;    /* bytes of text of the file */
    size_t at;       /* where the text begins */
    size_t n;
    size_t nfield;
    size_t ntarget;
    char text[EXTRACT_XML_TEXT];
    char field[EXTRACT_XML_FIELD];
    char target[EXTRACT_UNC_MAX]; /* of a relation */
};

static struct slice local_name(struct slice name)
{
    size_t colon = slice_find(name, ':');
    return colon < name.n ? slice_from(name, colon + 1) : name;
}

bool extract_is_xml(struct slice name)
{
    static const char *const suffixes[] = {
        ".rels",          ".library-ms",        ".search-ms", ".searchconnector-ms",
        ".appcontent-ms", ".settingcontent-ms", NULL};
    for (size_t i = 0; suffixes[i] != NULL; i++) {
        if (slice_has_suffix_nocase(name, slice_str(suffixes[i]))) {
            return true;
        }
    }
    return false;
}

/* Text that a reader of the document sees. */
static void give_shown(struct extract_xml *m, struct slice text)
{
    if (m->is_document && (m->where == IN_TEXT || m->is_string)) {
        extract_document_text(m->x, text);
    }
}

static void scan(struct extract_xml *m, size_t n)
{
    struct slice text = slice_of(m->text, n);
    extract_cpu_step(m->x, n);
    if (m->x->stopped || n == 0) {
        return;
    }
    extract_tag_at(m->x, m->at);
    give_shown(m, text);
    if (m->where == IN_CODE || !m->is_document) {
        extract_code_value(m->x, text, SCRIPT_VBSCRIPT);
        extract_unc(m->x, text);
    } else {
        extract_links_of_tag(m->x, text);
    }
}

static void flush(struct extract_xml *m)
{
    scan(m, m->n);
    m->n = 0;
}

/* The buffer is full: all but its last word is scanned. */
static void make_room(struct extract_xml *m)
{
    size_t end = m->n;
    size_t lowest = m->n - EXTRACT_XML_TEXT / 4;
    while (end > lowest && (unsigned char)m->text[end - 1] > ' ') {
        end--;
    }
    end = end > lowest ? end : m->n;
    scan(m, end);
    m->n -= end;
    memmove(m->text, m->text + end, m->n);
}

static void add_text(struct extract_xml *m, struct slice text)
{
    while (text.n > 0) {
        struct slice part = slice_head(text, sizeof(m->text) - m->n);
        memcpy(m->text + m->n, part.p, part.n);
        m->n += part.n;
        text = slice_from(text, part.n);
        if (m->n == sizeof(m->text)) {
            make_room(m);
        }
    }
}

static void add_field(struct extract_xml *m, struct slice text)
{
    text = slice_head(text, sizeof(m->field) - m->nfield);
    memcpy(m->field + m->nfield, text.p, text.n);
    m->nfield += text.n;
}

/* One argument of a field: quoted, with its escapes undone in place, or up to a blank. */
static struct slice cut_argument(char *p, size_t n, size_t *at)
{
    size_t i = *at;
    bool is_quoted = p[i] == '"';
    size_t begin = i + (is_quoted ? 1 : 0);
    size_t to = begin;
    for (i = begin; i < n; i++) {
        bool is_end = is_quoted ? p[i] == '"' : (unsigned char)p[i] <= ' ';
        if (is_end) {
            break;
        }
        if (is_quoted && p[i] == '\\' && i + 1 < n) {
            i++;
        }
        p[to++] = p[i];
    }
    *at = i < n ? i + 1 : n;
    return slice_of(p + begin, to - begin);
}

/* HYPERLINK "http://..." \l "anchor": text behind \l, \o and \t is no address. */
static void read_field(struct extract_xml *m)
{
    bool is_option = false;
    size_t at = 0;
    while (at < m->nfield && !m->x->stopped) {
        if ((unsigned char)m->field[at] <= ' ') {
            at++;
            continue;
        }
        bool is_switch =
            m->field[at] == '\\' && at + 1 < m->nfield && m->field[at + 1] != '\\';
        struct slice argument = cut_argument(m->field, m->nfield, &at);
        if (!is_switch && !is_option) {
            extract_target(m->x, argument);
        }
        is_option = is_switch && (slice_eq(argument, SLICE_LIT("\\l")) ||
                                  slice_eq(argument, SLICE_LIT("\\o")) ||
                                  slice_eq(argument, SLICE_LIT("\\t")));
    }
    m->nfield = 0;
}

static void on_field_char(struct extract_xml *m, struct slice what)
{
    if (slice_eq(what, SLICE_LIT("begin"))) {
        m->depth++;
        if (m->depth == 1) {
            read_field(m);
            m->is_separated = false;
        }
        return;
    }
    if (m->depth <= 1) {
        read_field(m);
        m->is_separated = true;
    }
    if (slice_eq(what, SLICE_LIT("end")) && m->depth > 0) {
        m->depth--;
    }
}

static void on_attribute(struct extract_xml *m, const struct html_token *token)
{
    static const char *const addresses[] = {"href", "src", "url"};
    static const char *const codes[] = {"ddetopic", "connection", "formula",
                                        "dde-topic", "dde-item"};
    struct slice name = local_name(token->name);
    if (slice_has_prefix(token->name, SLICE_LIT("xmlns")) || token->value.n == 0) {
        return;
    }
    if (slice_eq(name, SLICE_LIT("t"))) {
        m->is_string = slice_eq(token->value, SLICE_LIT("str"));
    } else if (slice_eq(name, SLICE_LIT("fldchartype"))) {
        on_field_char(m, token->value);
    } else if (slice_eq(name, SLICE_LIT("instr"))) {
        read_field(m);
        add_field(m, token->value);
        read_field(m);
    } else if (slice_eq(local_name(token->tag), SLICE_LIT("relationship"))) {
        bool is_target = slice_eq(name, SLICE_LIT("target"));
        m->is_external =
            m->is_external || (slice_eq(name, SLICE_LIT("targetmode")) &&
                               slice_eq_nocase(token->value, SLICE_LIT("External")));
        if (is_target) {
            m->ntarget = slice_head(token->value, sizeof(m->target)).n;
            memcpy(m->target, token->value.p, m->ntarget);
        }
    } else if (name_index(name, addresses, LENGTH(addresses)) >= 0) {
        extract_target(m->x, token->value);
    } else if (name_index(name, codes, LENGTH(codes)) >= 0) {
        extract_code_value(m->x, token->value, SCRIPT_VBSCRIPT);
    } else {
        /* names, numbers, schemas */
    }
}

static void end_element(struct extract_xml *m)
{
    if (m->where == IN_CODE) {
        flush(m);
    }
    m->where = IN_TEXT;
}

static void begin_element(struct extract_xml *m, struct slice tag)
{
    static const char *const codes[] = {
        "f", "v", "formula", "formula1", "formula2", "definedname", "val"};
    static const char *const fields[] = {"instrtext", "delinstrtext"};
    end_element(m);
    m->is_external = false;
    m->is_string = m->is_string && !slice_eq(tag, SLICE_LIT("c"));
    m->ntarget = 0;
    if (name_index(tag, codes, LENGTH(codes)) >= 0) {
        flush(m);
        m->where = IN_CODE;
    } else if (name_index(tag, fields, LENGTH(fields)) >= 0) {
        m->where = IN_FIELD;
    } else {
        /* text */
    }
}

/* Tags that divide text; all do but those of runs in a paragraph. */
static void divide(struct extract_xml *m, struct slice tag)
{
    static const char *const tags[] = {
        "p",        "h",          "si",         "is",          "c",     "row",
        "tr",       "tc",         "br",         "cr",          "tab",   "s",
        "tbl",      "sp",         "line-break", "txbxcontent", "note",  "table-cell",
        "text-box", "annotation", "pt",         "comment",     "title", "user-defined"};
    if (m->n > 0 && (!m->is_document || name_index(tag, tags, LENGTH(tags)) >= 0)) {
        /* an empty line, so that the texts before and behind it do not join */
        add_text(m, SLICE_LIT("\n\n"));
    }
}

static bool is_layout(struct slice text)
{
    return slice_find(text, '\n') < text.n && slice_trim(text).n == 0;
}

static void on_text(struct extract_xml *m, const struct html_token *token)
{
    struct slice text = token->value;
    if (token->kind == HTML_COMMENT) {
        const struct slice cdata = SLICE_LIT("[CDATA[");
        if (!slice_has_prefix(text, cdata)) {
            return;
        }
        text = slice_from(text, cdata.n);
        text = slice_head(
            text, slice_has_suffix_nocase(text, SLICE_LIT("]]")) ? text.n - 2 : text.n);
    }
    if (is_layout(text)) {
        return;
    }
    m->nseen += text.n;
    m->at = m->n == 0 ? token->at : m->at;
    if (m->where == IN_FIELD ? m->depth <= 1 : m->depth > 1 && !m->is_separated) {
        add_field(m, text);
    } else {
        add_text(m, text);
    }
}

static void on_token(void *context, const struct html_token *token)
{
    struct extract_xml *m = context;
    struct slice tag = local_name(token->tag);
    extract_cpu_step(m->x, token->value.n);
    if (m->x->stopped) {
        return;
    }
    extract_tag_at(m->x, token->at);
    switch (token->kind) {
    case HTML_START_TAG:
        begin_element(m, tag);
        divide(m, tag);
        break;
    case HTML_END_TAG:
        end_element(m);
        divide(m, tag);
        break;
    case HTML_ATTRIBUTE:
        on_attribute(m, token);
        break;
    case HTML_TAG_END:
        if (m->is_external && m->ntarget > 0) {
            extract_target(m->x, slice_of(m->target, m->ntarget));
            m->ntarget = 0;
        }
        if (token->is_self_closing) {
            end_element(m);
        }
        break;
    case HTML_TEXT:
    case HTML_RAW_TEXT:
    case HTML_COMMENT:
        on_text(m, token);
        break;
    case HTML_DOCTYPE:
    case HTML_NUL:
        break;
    }
}

bool extract_xml_begin(struct extract *x)
{
    struct extract_xml *m = x->xml;
    if (m == NULL) {
        m = arena_alloc(x->arena, sizeof(*m));
        if (m == NULL || (m->html = html_new(x->arena, on_token, m)) == NULL) {
            return false;
        }
        x->xml = m;
        m->x = x;
    }
    html_set_content(m->html, HTML_CONTENT_DATA, SLICE_NONE);
    m->where = IN_TEXT;
    m->depth = 0;
    m->is_separated = false;
    m->is_document = x->leaf.role != OFFICE_FILE;
    m->nseen = 0;
    m->n = 0;
    m->nfield = 0;
    m->ntarget = 0;
    return true;
}

void extract_xml_text(struct extract *x, struct slice utf8)
{
    html_feed(x->xml->html, utf8);
}

void extract_xml_end(struct extract *x)
{
    html_end(x->xml->html);
    if (!x->stopped) {
        end_element(x->xml);
        flush(x->xml);
        read_field(x->xml);
    }
    if (html_met_limit(x->xml->html)) {
        featureset_set_limit(x->set, LIMIT_FLAG(html_attributes));
    }
}

bool extract_xml_has_text(const struct extract *x)
{
    return x->xml != NULL && x->xml->nseen >= EXTRACT_XML_TEXT_MIN;
}
