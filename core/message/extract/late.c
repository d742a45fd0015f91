#include "core/message/extract/late.h"

#include "core/message/extract/extract_internal.h"
#include "core/message/extract/read_file.h"

static bool keep_in(struct extract *x, struct extract_file **list, unsigned *n,
                    unsigned most, struct extract_file *file)
{
    if (*n == most ||
        x->late.bytes + file->bytes.n > (size_t)x->limits.attachment_bytes / 2) {
        featureset_set_limit(x->set, LIMIT_FLAG(reader));
        return false;
    }
    x->late.bytes += file->bytes.n;
    file->next = NULL;
    list[(*n)++] = file;
    return true;
}

static bool is_picture(const struct extract_file *file)
{
    return file->kind == FILE_PICTURE && file->depth == 0 &&
           file->bytes.n <= LATE_PICTURE_BYTES;
}

/* Pictures do not crowd out a file that is known to be locked. */
static void drop_pictures_for(struct extract *x, size_t n)
{
    struct extract_late *l = &x->late;

    while (l->npictures > 0 && l->bytes + n > (size_t)x->limits.attachment_bytes / 2) {
        l->bytes -= l->picture[--l->npictures]->bytes.n;
        extract_file_drop(x, &l->picture[l->npictures]);
        featureset_set_limit(x->set, LIMIT_FLAG(reader));
    }
}

bool extract_late_keep(struct extract *x, struct extract_file *file)
{
    struct extract_late *l = &x->late;

    if (l->is_now || x->limits.reader == NULL) {
        return false;
    }
    if (l->is_locked) {
        drop_pictures_for(x, file->bytes.n);
        return keep_in(x, l->locked, &l->nlocked, LATE_LOCKED, file);
    }
    return is_picture(file) && l->ncodes == 0 &&
           keep_in(x, l->picture, &l->npictures, LATE_PICTURES, file);
}

static void read_together(struct extract *x)
{
    struct extract_late *l = &x->late;
    struct extract_file *first = l->picture[0];

    memmove(l->picture, l->picture + 1, --l->npictures * sizeof(struct extract_file *));
    first->kind = FILE_TOGETHER;
    first->label = SLICE_NONE;
    extract_file_append(x, first);
    extract_files_run(x);
}

/* Of the text, which was looked at as it came, and of the subject. */
static void find_passwords(struct extract *x)
{
    const struct feature *subject = featureset_first(x->set, FEATURE_subject);

    password_finder_break(&x->passwords);
    if (subject != NULL) {
        password_finder_text(&x->passwords, subject->text);
    }
    x->late.npasswords = password_finder_end(&x->passwords, x->late.password);
}

static void read_locked(struct extract *x)
{
    struct extract_late *l = &x->late;

    for (unsigned i = 0; i < l->nlocked; i++) {
        l->locked[i]->kind = FILE_LOCKED;
        extract_file_append(x, l->locked[i]);
    }
    l->nlocked = 0;
    extract_files_run(x);
}

void extract_late_run(struct extract *x)
{
    struct extract_late *l = &x->late;

    l->is_now = true;
    x->reader_us = x->reader_us < LATE_US ? x->reader_us : LATE_US;
    if (l->nlocked > 0) {
        find_passwords(x);
    }
    if (l->npasswords > 0) {
        read_locked(x);
    }
    if (l->npictures > 1) {
        read_together(x);
    }
    extract_late_drop(x);
}

void extract_late_drop(struct extract *x)
{
    struct extract_late *l = &x->late;

    while (l->nlocked > 0) {
        extract_file_drop(x, &l->locked[--l->nlocked]);
    }
    while (l->npictures > 0) {
        extract_file_drop(x, &l->picture[--l->npictures]);
    }
}
