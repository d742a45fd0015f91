#include "core/reader/pool/dispatch.h"

#include "core/reader/wire/format.h"

static const struct {
    struct slice bytes; /* at the beginning of the file */
    format_read_fn *read;
} rows[] = {
    {{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8}, ole_read},
    {{"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3", 16},
     onenote_read},
    {{"{\\rt", 4}, rtf_read}, /* programs take it without its "f1" */
};

enum { PDF_MARK_WITHIN = 1024 }; /* where readers of PDF take its mark */

/* A disk image and a tar file may begin like a picture: a person opens them by their names. */
static bool is_named_archive(struct slice name)
{
    static const char *const suffixes[] = {".iso", ".img", ".tar", ".cpio"};

    for (size_t i = 0; i < LENGTH(suffixes); i++) {
        if (slice_has_suffix_nocase(name, slice_str(suffixes[i]))) {
            return true;
        }
    }
    return false;
}

void reader_read(const struct reader_job *job, struct found *f)
{
    const struct slice head = slice_head(job->bytes, PDF_MARK_WITHIN);

    bool is_read = false;

    if (picture_knows(job->bytes)) {
        picture_read(job, f);
        is_read = true;
    }
    for (size_t i = 0; i < LENGTH(rows) && !is_read; i++) {
        if (slice_has_prefix(job->bytes, rows[i].bytes)) {
            rows[i].read(job, f);
            is_read = true;
        }
    }
    if (slice_find_slice(head, SLICE_LIT("%PDF-")) < head.n) {
        pdf_read_whole(job, f);
        is_read = true;
    }
    if (!is_read || is_named_archive(job->name)) {
        unpack_read(job, f);
    }
}
