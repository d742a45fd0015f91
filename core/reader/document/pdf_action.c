#include "core/reader/document/pdf_parts.h"

enum {
    SCRIPT_MAX = 4 << 20,
    FORM_MAX = 16 << 20 /* of an XFA form */
};

/* NULL: the text is no UTF-16. */
static char *text_from_utf16(struct slice s)
{
    const size_t n = s.n / sizeof(gunichar2);
    gunichar2 *units = n > 0 ? g_malloc(n * sizeof(*units)) : NULL;
    glong nused = 0;

    for (size_t i = 0; i < n; i++) {
        units[i] =
            (gunichar2)((unsigned char)s.p[2 * i] << 8 | (unsigned char)s.p[2 * i + 1]);
    }
    char *text = g_utf16_to_utf8(units, (glong)n, &nused, NULL, NULL);
    g_free(units);
    return text;
}

/* The text of a string (PDFDocEncoding or UTF-16) or of a stream (mostly ASCII). Bytes that are
 * not UTF-8 are replaced. The caller frees. */
static char *text_from(struct pdf *p, qpdf_oh object, struct slice *ret)
{
    struct buf b;
    size_t n = 0;
    char *text = NULL;

    if (qpdf_oh_is_string(p->objects, object)) {
        const char *value = qpdf_oh_get_binary_utf8_value(p->objects, object, &n);
        text = g_utf8_make_valid(value, (gssize)n);
    } else {
        buf_init(&b, SCRIPT_MAX);
        pdf_string(p, object, &b);
        if (slice_has_prefix(buf_slice(&b), SLICE_LIT("\xfe\xff"))) {
            text = text_from_utf16(slice_from(buf_slice(&b), 2));
        }
        if (text == NULL) {
            text = g_utf8_make_valid(b.n > 0 ? b.p : "", (gssize)b.n);
        }
        buf_fini(&b);
    }
    *ret = slice_str(text);
    return text;
}

/* Handles live as long as the document, so the common case makes none. */
static qpdf_oh value_at(struct pdf *p, qpdf_oh dictionary, const char *key)
{
    return qpdf_oh_is_dictionary(p->objects, dictionary) &&
                   qpdf_oh_has_key(p->objects, dictionary, key)
               ? qpdf_oh_get_key(p->objects, dictionary, key)
               : p->none;
}

static bool is_named(struct pdf *p, qpdf_oh object, const char *name)
{
    return qpdf_oh_is_name_and_equals(p->objects, object, name);
}

/* A relative link stands behind the base of the document. */
static bool give_link(struct pdf *p, qpdf_oh string)
{
    struct buf uri;
    struct buf whole;

    buf_init(&uri, FOUND_VALUE_MAX);
    buf_init(&whole, (size_t)2 * FOUND_VALUE_MAX);
    pdf_string(p, string, &uri);
    if (uri.n > 0 && slice_find(buf_slice(&uri), ':') == uri.n) {
        buf_add(&whole, buf_slice(&p->base));
    }
    buf_add(&whole, buf_slice(&uri));
    const bool is_more = found_link(p->found, buf_slice(&whole));
    buf_fini(&whole);
    buf_fini(&uri);
    return is_more;
}

/* The string in a file specification, which may be that string itself. */
static qpdf_oh name_in(struct pdf *p, qpdf_oh specification)
{
    static const char *const keys[] = {"/F", "/UF", "/Unix", "/DOS", "/Mac"};

    for (size_t i = 0; i < LENGTH(keys); i++) {
        const qpdf_oh name = value_at(p, specification, keys[i]);
        if (qpdf_oh_is_string(p->objects, name)) {
            return name;
        }
    }
    return specification;
}

/* A file that lies elsewhere, by its URL. */
static bool is_remote(struct pdf *p, qpdf_oh specification)
{
    return is_named(p, value_at(p, specification, "/FS"), "/URL");
}

static bool give_remote_file(struct pdf *p, qpdf_oh specification)
{
    const qpdf_oh name =
        is_remote(p, specification) ? name_in(p, specification) : p->none;

    return !qpdf_oh_is_string(p->objects, name) || give_link(p, name);
}

/* The link of an action's file: another document, or where a form is sent. A specification with a
 * URL is given out when it is visited itself. */
static bool give_target(struct pdf *p, qpdf_oh action)
{
    const qpdf_oh file = value_at(p, action, "/F");
    const qpdf_oh name = name_in(p, file);

    return is_remote(p, file) || !qpdf_oh_is_string(p->objects, name) ||
           give_link(p, name);
}

static bool give_script(struct pdf *p, qpdf_oh source)
{
    struct slice text = SLICE_NONE;
    char *owned = text_from(p, source, &text);
    bool is_more = text.n == 0 || found_script(p->found, RECORD_JAVASCRIPT, text);

    if (is_more && slice_find_slice(text, SLICE_LIT("submitForm")) < text.n) {
        is_more = found_fact(p->found, RECORD_FORM);
    }
    g_free(owned);
    return is_more;
}

static void add_argument(struct pdf *p, qpdf_oh object, struct buf *b)
{
    struct slice text = SLICE_NONE;
    char *owned = text_from(p, name_in(p, object), &text);

    if (text.n > 0 && b->n > 0) {
        buf_add_char(b, ' ');
    }
    buf_add(b, text);
    g_free(owned);
}

/* The command of a launch: the file and, for Windows, its parameters. */
static bool give_launch(struct pdf *p, qpdf_oh action)
{
    const qpdf_oh win = value_at(p, action, "/Win");
    struct buf command;

    buf_init(&command, SCRIPT_MAX);
    add_argument(p, value_at(p, action, "/F"), &command);
    add_argument(p, value_at(p, win, "/F"), &command);
    add_argument(p, value_at(p, win, "/P"), &command);
    const bool is_more = found_fact(p->found, RECORD_RUNS) &&
                         (command.n == 0 || found_script(p->found, RECORD_COMMAND,
                                                         buf_slice(&command))) &&
                         give_target(p, action);
    buf_fini(&command);
    return is_more;
}

static bool give_by_type(struct pdf *p, qpdf_oh action, qpdf_oh type)
{
    static const char *const targets[] = {"/GoToR", "/GoToE", "/ImportData", "/Thread"};

    if (is_named(p, type, "/Launch")) {
        return give_launch(p, action);
    }
    if (is_named(p, type, "/SubmitForm")) {
        return found_fact(p->found, RECORD_FORM) && give_target(p, action);
    }
    for (size_t i = 0; i < LENGTH(targets); i++) {
        if (is_named(p, type, targets[i])) {
            return give_target(p, action);
        }
    }
    return true;
}

/* Texts that stand on a page beside its content: values of fields, and notes. */
static bool give_note(struct pdf *p, qpdf_oh object)
{
    struct slice text = SLICE_NONE;
    bool is_more = true;

    if (qpdf_oh_is_string(p->objects, object)) {
        char *owned = text_from(p, object, &text);
        is_more = text.n == 0 || (found_text(p->found, text, false) &&
                                  found_text(p->found, SLICE_LIT("\n"), false));
        g_free(owned);
    }
    return is_more;
}

static bool append_form(void *context, struct slice bytes)
{
    return found_file_data(context, bytes);
}

/* An XFA form is a file of XML: one stream, or parts with their names between. */
static bool give_form(struct pdf *p, qpdf_oh form)
{
    bool is_whole = true;

    if (!qpdf_oh_is_stream(p->objects, form) && !qpdf_oh_is_array(p->objects, form)) {
        return true;
    }
    if (!found_file_begin(p->found, SLICE_LIT("form.xml"),
                          SLICE_LIT("application/xml"))) {
        return false;
    }
    if (qpdf_oh_is_stream(p->objects, form)) {
        is_whole = pdf_stream(p, form, append_form, p->found);
    } else if (qpdf_oh_is_array(p->objects, form)) {
        const int n = qpdf_oh_get_array_n_items(p->objects, form);
        for (int i = 0; i < n; i++) {
            const qpdf_oh part = qpdf_oh_get_array_item(p->objects, form, i);
            if (qpdf_oh_is_stream(p->objects, part)) {
                is_whole = pdf_stream(p, part, append_form, p->found) && is_whole;
            }
            qpdf_oh_release(p->objects, part);
        }
    }
    return found_file_end(p->found, is_whole);
}

static bool has_file(const struct pdf *p, size_t first, qpdf_oh stream)
{
    for (size_t i = first; i < p->nfiles; i++) {
        if (qpdf_oh_get_object_id(p->objects, p->file[i].stream) ==
            qpdf_oh_get_object_id(p->objects, stream)) {
            return true;
        }
    }
    return false;
}

/* Keeps a file until the text was given out. It may stand there under several keys. */
static void keep_files(struct pdf *p, qpdf_oh specification, qpdf_oh embedded)
{
    static const char *const keys[] = {"/UF", "/F", "/Unix", "/DOS", "/Mac"};
    const size_t first = p->nfiles;

    for (size_t i = 0; i < LENGTH(keys); i++) {
        const qpdf_oh stream = value_at(p, embedded, keys[i]);
        if (!qpdf_oh_is_stream(p->objects, stream) || has_file(p, first, stream) ||
            p->nfiles > p->job->limits.entries) {
            continue;
        }
        struct pdf_file *grown = realloc(p->file, (p->nfiles + 1) * sizeof(*grown));
        if (grown == NULL) {
            return;
        }
        p->file = grown;
        p->file[p->nfiles++] = (struct pdf_file){
            .specification = qpdf_oh_new_object(p->objects, specification),
            .stream = stream};
    }
}

bool pdf_action(struct pdf *p, qpdf_oh dictionary)
{
    qpdf_data q = p->objects;
    const qpdf_oh uri = value_at(p, dictionary, "/URI");
    const qpdf_oh script = value_at(p, dictionary, "/JS");
    const qpdf_oh type = value_at(p, dictionary, "/S");
    const qpdf_oh embedded = value_at(p, dictionary, "/EF");
    bool is_more = true;

    if (qpdf_oh_is_string(q, uri)) {
        is_more = give_link(p, uri);
    }
    if (is_more && (qpdf_oh_is_string(q, script) || qpdf_oh_is_stream(q, script))) {
        is_more = give_script(p, script);
    }
    if (is_more && qpdf_oh_is_name(q, type)) {
        is_more = give_by_type(p, dictionary, type);
    }
    if (qpdf_oh_is_dictionary(q, embedded)) {
        keep_files(p, dictionary, embedded);
    }
    return is_more && give_remote_file(p, dictionary) &&
           (!qpdf_oh_has_key(q, dictionary, "/FT") ||
            give_note(p, value_at(p, dictionary, "/V"))) &&
           (!qpdf_oh_has_key(q, dictionary, "/Subtype") ||
            give_note(p, value_at(p, dictionary, "/Contents"))) &&
           give_form(p, value_at(p, dictionary, "/XFA"));
}
