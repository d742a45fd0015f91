/* err - texts of failures, and how they are filled in. */
#include "core/base/err.h"

const char *err_text(enum err code)
{
    switch (code) {
    case ERR_OK:
        return "no error";
    case ERR_NOMEM:
        return "out of memory";
    case ERR_LIMIT:
        return "a limit was met";
    case ERR_SYNTAX:
        return "malformed";
    case ERR_RANGE:
        return "out of range";
    case ERR_NOT_FOUND:
        return "not found";
    case ERR_EXISTS:
        return "already exists";
    case ERR_IO:
        return "input or output failed";
    case ERR_NOSPACE:
        return "no space left";
    case ERR_CORRUPT:
        return "damaged";
    case ERR_VERSION:
        return "of another version of gillnet";
    case ERR_KEY:
        return "made with a key that is not installed here";
    case ERR_LOCKED:
        return "locked by another process";
    case ERR_DENIED:
        return "permission denied";
    case ERR_UNSUPPORTED:
        return "not supported";
    case ERR_TIMEOUT:
        return "timed out";
    }
    return "unknown error";
}

enum err err_of_errno(int errnum)
{
    switch (errnum) {
    case 0:
        return ERR_OK;
    case ENOMEM:
        return ERR_NOMEM;
    case ENOSPC:
    case EDQUOT:
        return ERR_NOSPACE;
    case ENOENT:
    case ENOTDIR:
        return ERR_NOT_FOUND;
    case EEXIST:
        return ERR_EXISTS;
    case EACCES:
    case EPERM:
    case EROFS:
        return ERR_DENIED;
    case EAGAIN:
        return ERR_LOCKED;
    case ETIMEDOUT:
        return ERR_TIMEOUT;
    case ENAMETOOLONG:
    case EFBIG:
    case EMFILE:
    case ENFILE:
        return ERR_LIMIT;
    case ENOSYS:
    case EOPNOTSUPP:
        return ERR_UNSUPPORTED;
    default:
        return ERR_IO;
    }
}

/* The text may hold names of files and peers and answers of servers, so control bytes, which
 * command a terminal, become "?". */
static void clean(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            *text = '?';
        }
    }
}

enum err errinfo_set(struct errinfo *reterr, enum err code, const char *source,
                     unsigned line, const char *format, ...)
{
    if (!reterr) {
        return code;
    }
    /* Filled in a local copy first: source and the arguments may lie in *reterr itself. */
    struct errinfo filled = {.code = code, .line = line, .source = "", .text = ""};
    if (source) {
        (void)snprintf(filled.source, sizeof(filled.source), "%s", source);
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(filled.text, sizeof(filled.text), format, args);
    va_end(args);
    clean(filled.source);
    clean(filled.text);
    *reterr = filled;
    return code;
}

enum err errinfo_errno(struct errinfo *reterr, const char *source, const char *what)
{
    int errnum = errno;
    const char *text = strerrordesc_np(errnum);
    return errinfo_set(reterr, err_of_errno(errnum), source, 0, "%s: %s", what,
                       text ? text : "unknown system error");
}

enum err errinfo_nomem(struct errinfo *reterr, const char *source)
{
    return errinfo_set(reterr, ERR_NOMEM, source, 0, "%s", err_text(ERR_NOMEM));
}

char *errinfo_format(const struct errinfo *info, char *dst, size_t size)
{
    const char *text = info->text[0] ? info->text : err_text(info->code);
    if (info->source[0] && info->line) {
        (void)snprintf(dst, size, "%s:%u: %s", info->source, info->line, text);
    } else if (info->source[0]) {
        (void)snprintf(dst, size, "%s: %s", info->source, text);
    } else if (info->line) {
        (void)snprintf(dst, size, "line %u: %s", info->line, text);
    } else {
        (void)snprintf(dst, size, "%s", text);
    }
    return dst;
}
