#include "core/reader/document/pdf_parts.h"

static bool give_uri(struct pdf *p, const char *uri)
{
    return uri == NULL || found_link(p->found, slice_str(uri));
}

static bool give_script(struct pdf *p, enum record_language language,
                        const char *source)
{
    return source == NULL || found_script(p->found, language, slice_str(source));
}

static bool give_started(struct pdf *p, const PopplerActionLaunch *launch)
{
    char *command = g_strjoin(" ", launch->file_name != NULL ? launch->file_name : "",
                              launch->params, NULL);
    const bool is_more = found_fact(p->found, RECORD_RUNS) &&
                         give_script(p, RECORD_COMMAND, command) &&
                         give_uri(p, launch->file_name);

    g_free(command);
    return is_more;
}

bool pdf_repaired_links(struct pdf *p, PopplerPage *page)
{
    GList *links = poppler_page_get_link_mapping(page);
    bool is_more = true;

    for (const GList *l = links; l != NULL && is_more; l = l->next) {
        const PopplerAction *action = ((const PopplerLinkMapping *)l->data)->action;
        if (action->type == POPPLER_ACTION_URI) {
            is_more = give_uri(p, action->uri.uri);
        } else if (action->type == POPPLER_ACTION_GOTO_REMOTE) {
            is_more = give_uri(p, action->goto_remote.file_name);
        } else if (action->type == POPPLER_ACTION_LAUNCH) {
            is_more = give_started(p, &action->launch);
        } else if (action->type == POPPLER_ACTION_JAVASCRIPT) {
            is_more = give_script(p, RECORD_JAVASCRIPT, action->javascript.script);
        }
    }
    poppler_page_free_link_mapping(links);
    return is_more;
}

static gboolean give_bytes(const gchar *bytes, gsize n, gpointer found, GError **error)
{
    (void)error;
    return found_file_data(found, slice_of(bytes, n));
}

static bool give_attachment(struct pdf *p, PopplerAttachment *attachment)
{
    if (!found_file_begin(p->found, slice_str(poppler_attachment_get_name(attachment)),
                          SLICE_NONE)) {
        return false;
    }
    const gboolean is_whole =
        poppler_attachment_save_to_callback(attachment, give_bytes, p->found, NULL);
    return found_file_end(p->found, is_whole != FALSE);
}

bool pdf_repaired_files(struct pdf *p, PopplerDocument *document)
{
    GList *files = poppler_document_get_attachments(document);
    size_t number = 0;
    bool is_more = true;

    for (const GList *l = files; l != NULL && is_more; l = l->next) {
        found_at(p->found, "attachment %zu", ++number);
        is_more = give_attachment(p, l->data);
    }
    g_list_free_full(files, g_object_unref);
    return is_more;
}

/* --- a file without a trailer --- */

static bool is_decimal(char c)
{
    return c >= '0' && c <= '9';
}

/* The number and the generation in "1 0 obj" at the end of s, as "1 0". Empty: there are none. */
static struct slice reference_before(struct slice s)
{
    size_t n = s.n;
    size_t nwords = 0;

    while (n > 0 && s.p[n - 1] == ' ') {
        n--;
    }
    const size_t end = n;
    while (n > 0 && (is_decimal(s.p[n - 1]) || (s.p[n - 1] == ' ' && nwords == 0))) {
        nwords += s.p[n - 1] == ' ' ? 1 : 0;
        n--;
    }
    return nwords == 1 && n < end && is_decimal(s.p[n]) ? slice_of(s.p + n, end - n)
                                                        : SLICE_NONE;
}

bool pdf_mend(struct slice bytes, struct buf *ret)
{
    const struct slice word = SLICE_LIT("obj"); /* of "endobj" too */
    const struct slice type = SLICE_LIT("/Catalog");
    struct slice root = SLICE_NONE;
    size_t next = slice_find_slice(bytes, word);

    while (next < bytes.n) { /* from one "obj" to the next */
        const struct slice rest = slice_from(bytes, next + word.n);
        const size_t n = slice_find_slice(rest, word);
        if (slice_find_slice(slice_head(rest, n), type) < n) {
            const struct slice object = reference_before(slice_head(bytes, next));
            root = object.n > 0 ? object : root; /* the last one counts */
        }
        next += word.n + n;
    }
    if (root.n == 0) {
        return false;
    }
    buf_add(ret, bytes);
    buf_add_str(ret, "\ntrailer<</Root ");
    buf_add(ret, root);
    buf_add_str(ret, " R>>\n");
    return !buf_failed(ret);
}
