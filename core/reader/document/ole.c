#include "core/reader/document/ole.h"

#include <gsf/gsf-infile-msole.h>
#include <gsf/gsf-input-memory.h>
#include <stdarg.h>

#include "core/reader/wire/format.h"

/* A storage that is open, and its child that comes next. */
struct ole_folder {
    GsfInfile *file;
    int next;
    int nchildren;
    bool is_pool; /* its storages are embedded objects */
    char where[OLE_WHERE_MAX];
};

struct row {
    const char *name;
    ole_stream_fn *read;
};

static const struct row rows[] = {
    {"WordDocument", word_read},
    {"Workbook", excel_read},
    {"Book", excel_read},
    {"PowerPoint Document", slides_read},
    {"dir", vba_read},
    {"\1Ole10Native", native_read},
    {"Package", package_read},
    {"CONTENTS", package_read},
    {"package_stream", package_read},
    {"EmbeddedOdf", package_read},
    {"__properties_version1.0", message_read},
    {"EncryptedPackage", crypt_read},
};

void ole_keep(struct ole *o, bool is_more)
{
    o->is_over = o->is_over || !is_more;
}

void ole_at(struct ole *o, const char *format, ...)
{
    char place[FOUND_WHERE_MAX + 2];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(place, sizeof(place), format, list);
    va_end(list);
    const char *between = o->where[0] != '\0' && place[0] != '\0' ? ", " : "";
    found_at(o->f, "%s%s%s", o->where, between, place);
}

/* Reads the stream as a whole; its memory is the stream's. */
static bool read_stream(struct ole *o, GsfInput *input, struct ole_stream *ret)
{
    const gsf_off_t size = input != NULL ? gsf_input_size(input) : 0;

    ret->input = input;
    ret->bytes = SLICE_NONE;
    if (size <= 0) {
        return input != NULL;
    }
    if ((uint64_t)size > o->left) {
        ole_keep(o, found_fact(o->f, RECORD_BYTES));
        return false;
    }
    o->left -= (uint64_t)size;
    const guint8 *p = gsf_input_read(input, (size_t)size, NULL);
    if (p == NULL) {
        ole_keep(o, found_fact(o->f, RECORD_DAMAGED));
        return false;
    }
    ret->bytes = slice_of(p, (size_t)size);
    return true;
}

bool ole_open(struct ole *o, const struct ole_folder *folder, const char *name,
              struct ole_stream *ret)
{
    GsfInput *input = gsf_infile_child_by_name(folder->file, name);

    if (input == NULL || !read_stream(o, input, ret)) {
        g_clear_object(&input);
        *ret = (struct ole_stream){NULL, SLICE_NONE};
        return false;
    }
    return true;
}

void ole_close(struct ole_stream *s)
{
    if (s->input != NULL) {
        g_object_unref(s->input);
    }
    *s = (struct ole_stream){NULL, SLICE_NONE};
}

static ole_stream_fn *reader_of(const char *name)
{
    for (size_t i = 0; name != NULL && i < LENGTH(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].read;
        }
    }
    return NULL;
}

/* A stream that no reader knows: programs and archives in it are files. */
static void read_other(struct ole *o, struct slice bytes)
{
    static const struct slice heads[] = {
        {"MSCF\0\0\0\0", 8}, {"MZ", 2},    {"PK\3\4", 4},
        {"%PDF-", 5},        {"{\\rt", 4}, {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8}};
    for (size_t i = 0; i < LENGTH(heads); i++) {
        if (slice_has_prefix(bytes, heads[i])) {
            ole_file(o, SLICE_NONE, SLICE_NONE, bytes);
            return;
        }
    }
    ole_search(o, bytes);
}

static bool begins(const char *name, const char *with)
{
    return name != NULL && strncmp(name, with, strlen(with)) == 0;
}

/* The name of a property ends with the type of its value. */
static bool is_wide_text(const char *name)
{
    const size_t n = strlen(name);

    return n > 4 && strcmp(name + n - 4, "001F") == 0;
}

static void read_child(struct ole *o, struct ole_folder *folder, GsfInput *child)
{
    const char *name = gsf_input_name(child);
    ole_stream_fn *read = reader_of(name);
    const bool is_named = begins(name, "__substg1.0_8") && is_wide_text(name);
    struct ole_stream s;

    if (begins(name, "__substg1.0_") && !is_named) {
        return; /* properties are read where their message is */
    }
    if (!read_stream(o, child, &s)) {
        return;
    }
    ole_at(o, "%s", "");
    if (is_named) {
        named_read(o, folder, s.bytes);
    } else if (read != NULL) {
        read(o, folder, s.bytes);
    } else {
        read_other(o, s.bytes);
    }
}

/* The place of a storage, in words. */
static void name_place(struct ole *o, const struct ole_folder *parent,
                       struct ole_folder *folder, const char *name)
{
    const char *between = o->where[0] != '\0' ? ", " : ""; /* the parent's place */

    if (begins(name, "__attach_version1.0_#")) {
        const unsigned long n =
            strtoul(name + strlen("__attach_version1.0_#"), NULL, 16);
        (void)snprintf(folder->where, sizeof(folder->where), "%.48s%sattachment %lu",
                       o->where, between, n + 1);
    } else if (parent->is_pool || begins(name, "MBD")) {
        o->object++;
        (void)snprintf(folder->where, sizeof(folder->where), "%.48s%sobject %u",
                       o->where, between, o->object);
    } else {
        memcpy(folder->where, o->where, sizeof(folder->where));
    }
    folder->is_pool = name != NULL && strcmp(name, "ObjectPool") == 0;
}

static void open_folder(struct ole_folder *folder, GsfInfile *file)
{
    const int n = gsf_infile_num_children(file);

    folder->file = file;
    folder->next = 0;
    folder->nchildren = n < OLE_CHILDREN ? n : OLE_CHILDREN;
}

/* Opens the next child of the storage on top: a storage goes onto the stack, a stream is read. */
static size_t step_child(struct ole *o, struct ole_folder *stack, size_t n)
{
    struct ole_folder *folder = &stack[n - 1];

    if (folder->next >= folder->nchildren) {
        g_object_unref(folder->file);
        return n - 1;
    }
    GsfInput *child = gsf_infile_child_by_index(folder->file, folder->next++);
    if (child == NULL) {
        return n;
    }
    memcpy(o->where, folder->where, sizeof(o->where));
    if (GSF_IS_INFILE(child) && gsf_infile_num_children(GSF_INFILE(child)) >= 0) {
        if (n < OLE_DEPTH && !begins(gsf_input_name(child), "__nameid") &&
            !begins(gsf_input_name(child), "__recip")) {
            name_place(o, folder, &stack[n], gsf_input_name(child));
            open_folder(&stack[n], GSF_INFILE(child)); /* taken */
            return n + 1;
        }
    } else {
        read_child(o, folder, child);
    }
    g_object_unref(child);
    return n;
}

static void read_root(struct ole *o, GsfInfile *root)
{
    static const guint8 installer[16] = {0x84, 0x10, 0x0c, 0, 0, 0, 0, 0,
                                         0xc0, 0,    0,    0, 0, 0, 0, 0x46};
    struct ole_folder stack[OLE_DEPTH] = {{0}};
    guint8 id[16];
    size_t n = 1;

    if (gsf_infile_msole_get_class_id(GSF_INFILE_MSOLE(root), id) &&
        memcmp(id, installer, sizeof(id)) == 0) {
        ole_keep(o, found_fact(o->f, RECORD_RUNS));
    }
    open_folder(&stack[0], g_object_ref(root));
    while (n > 0 && !o->is_over) {
        n = step_child(o, stack, n);
    }
    while (n > 0) {
        g_object_unref(stack[--n].file);
    }
}

/* libgsf reports faults of the file, which the records tell better. */
static void drop_log(const gchar *domain, GLogLevelFlags level, const gchar *text,
                     gpointer context)
{
    (void)domain, (void)level, (void)text, (void)context;
}

void ole_read(const struct reader_job *job, struct found *f)
{
    struct ole o = {.f = f,
                    .job = job,
                    .arena = arena_new(OLE_ARENA),
                    .left = OLE_READ_FREE + OLE_READ_RATIO * (uint64_t)job->bytes.n};
    (void)g_log_set_default_handler(drop_log, NULL);
    GsfInput *input = gsf_input_memory_new((const guint8 *)job->bytes.p,
                                           (gsf_off_t)job->bytes.n, FALSE);
    GsfInfile *root = o.arena != NULL ? gsf_infile_msole_new(input, NULL) : NULL;

    if (root != NULL) {
        read_root(&o, root);
        g_object_unref(root);
    } else { /* the container is broken: addresses stand in it as they are */
        (void)found_fact(f, RECORD_DAMAGED);
        if (o.arena != NULL) {
            o.is_broken = true;
            ole_search(&o, job->bytes);
        }
    }
    g_object_unref(input);
    arena_free(&o.arena);
}
