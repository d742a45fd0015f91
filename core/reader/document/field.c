#include "core/reader/document/field.h"

void field_init(struct field *fd)
{
    memset(fd, 0, sizeof(*fd));
    buf_init(&fd->code, FIELD_MAX);
}

void field_fini(struct field *fd)
{
    buf_fini(&fd->code);
}

/* One argument: quoted, with its escapes undone, or up to a blank. */
static void cut_argument(struct slice *code, struct buf *to)
{
    const bool is_quoted = code->p[0] == '"';
    size_t i = is_quoted ? 1 : 0;

    buf_clear(to);
    for (; i < code->n; i++) {
        if (is_quoted ? code->p[i] == '"' : (unsigned char)code->p[i] <= ' ') {
            break;
        }
        if (is_quoted && code->p[i] == '\\' && i + 1 < code->n) {
            i++;
        }
        buf_add_char(to, code->p[i]);
    }
    *code = slice_from(*code, i + 1);
}

static bool is_one_of(struct slice word, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (slice_eq_nocase(word, slice_str(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Each argument that is neither a switch nor belongs to one is an address. */
static bool read_addresses(struct found *f, struct slice code, struct buf *argument)
{
    static const char *const with_text[] = {"\\l", "\\o", "\\t", "\\*",
                                            "\\c", "\\@", "\\#", NULL};
    bool is_option = false;
    bool is_more = true;

    while (code.n > 0 && is_more) {
        if ((unsigned char)code.p[0] <= ' ') {
            code = slice_from(code, 1);
            continue;
        }
        const bool is_switch = code.p[0] == '\\' && code.n > 1 && code.p[1] != '\\';
        cut_argument(&code, argument);
        if (!is_switch && !is_option && argument->n > 0) {
            is_more = found_link(f, buf_slice(argument));
        }
        is_option = is_switch && is_one_of(buf_slice(argument), with_text);
    }
    return is_more;
}

bool field_read(struct found *f, struct slice code)
{
    static const char *const addresses[] = {
        "HYPERLINK", "INCLUDEPICTURE", "INCLUDETEXT", "INCLUDE", "IMPORT",
        "RD",        "LINK",           "DATABASE",    NULL};
    static const char *const commands[] = {"DDE", "DDEAUTO", NULL};
    struct buf argument;
    bool is_more = true;

    code = slice_trim(code);
    if (code.n == 0) {
        return true;
    }
    buf_init(&argument, FIELD_MAX);
    cut_argument(&code, &argument);
    if (is_one_of(buf_slice(&argument), commands)) {
        is_more = found_fact(f, RECORD_RUNS) && found_script(f, RECORD_COMMAND, code);
    } else if (is_one_of(buf_slice(&argument), addresses)) {
        is_more = read_addresses(f, code, &argument);
    } else {
        /* numbers of pages, dates: no address */
    }
    buf_fini(&argument);
    return is_more;
}

bool field_begin(struct field *fd)
{
    if (fd->depth < FIELD_DEPTH) {
        fd->begin[fd->depth] = fd->code.n;
        fd->is_result[fd->depth] = false;
        fd->ncodes++;
    }
    fd->depth++;
    return true;
}

/* The code of the innermost field is whole. */
static bool finish_code(struct field *fd, struct found *f)
{
    const size_t begin = fd->begin[fd->depth - 1];
    const struct slice code = slice_from(buf_slice(&fd->code), begin);
    const bool is_more = field_read(f, code);

    fd->code.n = begin;
    fd->code.failed = false;
    fd->is_result[fd->depth - 1] = true;
    fd->ncodes--;
    return is_more;
}

bool field_separate(struct field *fd, struct found *f)
{
    if (fd->depth == 0 || fd->depth > FIELD_DEPTH || fd->is_result[fd->depth - 1]) {
        return true;
    }
    return finish_code(fd, f);
}

bool field_end(struct field *fd, struct found *f)
{
    const bool is_more = field_separate(fd, f);

    fd->depth -= fd->depth > 0 ? 1 : 0;
    return is_more;
}

struct buf *field_code(struct field *fd)
{
    return fd->ncodes > 0 ? &fd->code : NULL;
}
