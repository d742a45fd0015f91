#include <dirent.h>
#include <libconfig.h>

#include "core/config/config_internal.h"
#include "core/config/config_value.h"
#include "core/config/mistake.h"
#include "core/config/precheck.h"
#include "core/config/shipped.h"
#include "core/config/tuning.h"

enum {
    LOAD_FILE_MAX = 1 << 20, /* bytes of one file, with a line break */
    LOAD_FILES_MAX = 256,    /* files of conf.d */
    SHIPPED_NAME_MAX = 128
};

static void refuse_file(struct load *l, enum err code, unsigned line, const char *what)
{
    config_errors_add(l->errors, code, l->file, line, "%s", what);
}

static void refuse_nomem(struct load *l)
{
    refuse_file(l, ERR_NOMEM, 0, "out of memory");
}

static void on_scan_finding(void *context, unsigned line, enum err code,
                            const char *text)
{
    refuse_file(context, code, line, text);
}

static void parse_text(struct load *l, const struct buf *text)
{
    config_t parsed;

    if (!scan_config(buf_slice(text), on_scan_finding, l)) {
        return;
    }
    config_init(&parsed);
    if (config_read_string(&parsed, text->p != NULL ? text->p : "") == CONFIG_TRUE) {
        apply_settings(l, config_root_setting(&parsed));
    } else if (mistake_find(buf_slice(text), on_scan_finding, l) == 0) {
        const char *what = config_error_text(&parsed);

        config_errors_add(l->errors, ERR_SYNTAX, l->file,
                          (unsigned)config_error_line(&parsed),
                          "%s; look here and on the line before for a missing "
                          "semicolon, quote or bracket",
                          what != NULL ? what : "syntax error");
    }
    config_destroy(&parsed);
}

static void refuse_errno(struct load *l, int errnum, const char *path)
{
    if (errnum == ENOENT) {
        config_errors_add(
            l->errors, ERR_NOT_FOUND, path, 0, "%s",
            "there is no such file; write one (state_dir = \"FOLDER\"; is "
            "enough) or name another with -c");
    } else {
        char text[128] = "";

        config_errors_add(l->errors, err_of_errno(errnum), path, 0,
                          "cannot be read: %s; check its rights and the folders above",
                          strerror_r(errnum, text, sizeof(text)));
    }
}

/* Appends at most LOAD_FILE_MAX bytes of a regular file to text; false after an error. A
 * symbolic link may lead to it. */
static bool read_conf(struct load *l, struct buf *text)
{
    int fd = open(l->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    char chunk[16384];
    ssize_t n = 0;
    int errnum = errno;

    if (fd < 0) {
        refuse_errno(l, errnum, l->file);
        return false;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        refuse_file(l, ERR_UNSUPPORTED, 0, "is not a regular file; name a text file");
        return false;
    }
    while ((n = read(fd, chunk, sizeof(chunk))) > 0 && !buf_failed(text)) {
        buf_add(text, slice_of(chunk, (size_t)n));
    }
    errnum = errno;
    close(fd);
    if (n < 0) {
        refuse_errno(l, errnum, l->file);
        return false;
    }
    if (buf_failed(text)) {
        refuse_file(
            l, ERR_LIMIT, 0,
            "is larger than 1 MiB, or memory is short; keep entries in lists (gillnet "
            "list import), not in the configuration");
        return false;
    }
    return true;
}

/* Remembers the file's name and makes it the current one. */
static bool begin_file(struct load *l, const char *path)
{
    struct config_origin *o = l->c->origin;
    char **files = NULL;
    char *copy = strdup(path);

    if (copy != NULL) {
        files = reallocarray(o->files, o->nfiles + 1, sizeof(*files));
    }
    if (files == NULL) {
        free(copy);
        refuse_nomem(l);
        return false;
    }
    o->files = files;
    o->files[o->nfiles] = copy;
    l->file = copy;
    l->file_index = (unsigned)o->nfiles++;
    return true;
}

static void load_file(struct load *l, const char *path)
{
    struct buf text;

    if (!begin_file(l, path)) {
        return;
    }
    buf_init(&text, LOAD_FILE_MAX);
    if (read_conf(l, &text)) {
        buf_add_char(&text,
                     '\n'); /* libconfig refuses a comment that ends with the file */
        parse_text(l, &text);
    }
    buf_fini(&text);
}

bool config_reads_file(const char *name)
{
    size_t n = strlen(name);

    return *name != '.' && n > 5 && strcmp(name + n - 5, ".conf") == 0;
}

static int is_conf(const struct dirent *e)
{
    return config_reads_file(e->d_name);
}

/* Order by bytes, whatever the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void load_dir(struct load *l, const char *dir)
{
    struct dirent **entries = NULL;
    int n = scandir(dir, &entries, is_conf, by_name);
    int errnum = errno;

    if (n < 0) {
        if (errnum != ENOENT) {
            refuse_errno(l, errnum, dir);
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        char *path = NULL;

        if (i == LOAD_FILES_MAX) {
            config_errors_add(l->errors, ERR_LIMIT, dir, 0, "%s",
                              "more than 256 files; join some");
        } else if (i < LOAD_FILES_MAX) {
            if (asprintf(&path, "%s/%s", dir, entries[i]->d_name) < 0) {
                refuse_nomem(l);
            } else {
                load_file(l, path);
                free(path);
            }
        }
        free(entries[i]);
    }
    free(entries);
}

/* conf.d beside the main file. */
static void load_beside(struct load *l, const char *file)
{
    const char *slash = strrchr(file, '/');
    int n = slash != NULL ? (int)(slash - file) + 1 : 0;
    char *dir = NULL;

    if (asprintf(&dir, "%.*sconf.d", n, file) < 0) {
        refuse_nomem(l);
        return;
    }
    load_dir(l, dir);
    free(dir);
}

/* The files of a load; NULL: none, and that of the state folder. */
struct sources {
    const char *file;
    const char *tuning; /* "": none */
};

/* ---- defaults ---- */

/* Reads "v = TEXT;" into the field of each row; a failure here fails every test. */
static void set_defaults(struct load *l, const struct schema_row *rows, size_t n,
                         void *base)
{
    for (size_t i = 0; i < n; i++) {
        struct value_place place = {&rows[i],  base,      rows[i].path,
                                    "default", l->errors, 0};
        char text[VALUE_TEXT_MAX];
        config_t parsed;

        (void)snprintf(text, sizeof(text), "v = %s;", rows[i].default_text);
        config_init(&parsed);
        if (config_read_string(&parsed, text) == CONFIG_TRUE) {
            value_set(&place, config_setting_get_elem(config_root_setting(&parsed), 0));
        } else {
            config_errors_add(l->errors, ERR_SYNTAX, "default", 0,
                              "%s: the built-in default cannot be read", rows[i].path);
        }
        config_destroy(&parsed);
    }
}

/* The rules that come with gillnet. An error in them fails every test. */
static void apply_shipped(struct load *l)
{
    for (const struct shipped_file *f = shipped_files; f->name != NULL; f++) {
        char name[SHIPPED_NAME_MAX];
        struct buf text;

        (void)snprintf(name, sizeof(name), "rules.d/%s (shipped)", f->name);
        if (!begin_file(l, name)) {
            return;
        }
        buf_init(&text, LOAD_FILE_MAX);
        buf_add(&text, f->text);
        buf_add_char(&text, '\n');
        parse_text(l, &text);
        buf_fini(&text);
    }
    l->c->origin->nshipped = l->c->origin->nfiles - 1;
}

static void apply_defaults(struct load *l)
{
    set_defaults(l, schema_keys, SCHEMA_KEYS, l->c);
    for (size_t i = 0; i < SCHEMA_FAMILIES; i++) {
        set_defaults(l, schema_families[i].rows, schema_families[i].nrows,
                     family_defaults(l->c, i));
    }
}

/* Settings that stand above all files. tuning: their file; NULL: that of the state folder. */
static void load_tuning(struct load *l, const char *tuning)
{
    char *path = NULL;

    if (l->c->state_dir == NULL) { /* without memory not even the defaults are there */
        return;
    }
    int n = tuning != NULL ? asprintf(&path, "%s", tuning)
                           : asprintf(&path, "%s/" STATE_TUNING_FILE, l->c->state_dir);

    if (n < 0) {
        refuse_nomem(l);
        return;
    }
    if (*path != '\0' && begin_file(l, path)) {
        apply_tuning(l);
    }
    free(path);
}

static void load_all(struct load *l, const struct sources *s, bool has_shipped)
{
    const char *file = s->file;

    l->c->file = strdup(file != NULL ? file : "");
    if (l->c->file == NULL || !begin_file(l, "default")) {
        refuse_nomem(l);
        return;
    }
    apply_defaults(l);
    if (has_shipped) {
        apply_shipped(l);
    }
    if (file != NULL) {
        load_file(l, file);
        load_beside(l, file);
        load_tuning(l, s->tuning);
    }
}

/* One load with the shipped rules or without; NULL without memory. */
static struct config *load_once(const struct sources *s,
                                const struct config_types *types, bool has_shipped,
                                struct config_errors *errors)
{
    struct load l = {.c = config_new(), .errors = errors, .file = ""};

    if (l.c == NULL) {
        config_errors_add(errors, ERR_NOMEM, s->file, 0, "%s", "out of memory");
        return NULL;
    }
    load_all(&l, s, has_shipped);
    if (l.c->shipped_rules == has_shipped || !has_shipped) {
        config_finish(l.c, types, errors);
    }
    return l.c;
}

enum err config_load_tuned(const char *file, const char *tuning,
                           const struct config_types *types, struct config **ret,
                           struct config_errors *reterrors)
{
    const struct sources s = {file, tuning};
    struct config_errors errors = {0, NULL};
    struct config *c = load_once(&s, types, true, &errors);
    enum err code = ERR_NOMEM;

    if (c != NULL && !c->shipped_rules) { /* then its files may build on none of them */
        config_release(&c);
        config_errors_free(&errors);
        c = load_once(&s, types, false, &errors);
    }
    if (c != NULL && errors.n == 0) {
        *ret = c;
        return ERR_OK;
    }
    code = errors.n > 0 ? errors.v[0].code : ERR_NOMEM;
    *reterrors = errors;
    config_release(&c);
    return code;
}

enum err config_load(const char *file, const struct config_types *types,
                     struct config **ret, struct config_errors *reterrors)
{
    return config_load_tuned(file, NULL, types, ret, reterrors);
}

/* Keeps the first error as the reason. */
static void note_tuning_fault(struct config *c, const struct config_errors *errors)
{
    char line[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16] = "out of memory";

    if (errors->n > 0) {
        errinfo_format(&errors->v[0], line, sizeof(line));
    }
    c->tuning_fault = strdup(line);
}

enum err config_load_start(const char *file, const struct config_types *types,
                           struct config **ret, struct config_errors *reterrors)
{
    struct config_errors without = {0, NULL};
    enum err e = config_load(file, types, ret, reterrors);

    if (e == ERR_OK || file == NULL) {
        return e;
    }
    if (config_load_tuned(file, "", types, ret, &without) != ERR_OK) {
        config_errors_free(&without);
        return e;
    }
    note_tuning_fault(*ret, reterrors);
    config_errors_free(reterrors);
    return ERR_OK;
}

void config_print_tuning_fault(const char *program, const struct config *c)
{
    if (c->tuning_fault != NULL) {
        (void)fprintf(stderr,
                      "%s: warning: the settings of `gillnet tune` are not in force: "
                      "%s; `gillnet tune undo` puts the last whole version in place\n",
                      program, c->tuning_fault);
    }
}

bool config_load_or_print(const char *program, const char *file,
                          const struct config_types *types, struct config **ret)
{
    struct config_errors errors = {.n = 0};
    char line[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];

    if (config_load_start(file, types, ret, &errors) == ERR_OK) {
        config_print_tuning_fault(program, *ret);
        return true;
    }
    for (size_t i = 0; i < errors.n; i++) {
        (void)fprintf(stderr, "%s: %s\n", program,
                      errinfo_format(&errors.v[i], line, sizeof(line)));
    }
    config_errors_free(&errors);
    return false;
}
