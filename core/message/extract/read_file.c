#include "core/message/extract/read_file.h"

#include "core/base/clock.h"
#include "core/message/extract/extract_internal.h"
#include "core/reader/wire/ask.h"

enum {
    ENOUGH_US = 1000, /* less time is none */
    LABEL_MAX = 2 * RECORD_PLACE_MAX + EXTRACT_LABEL_MAX,
    PAGES_DRAWN = 10,      /* of a document, to look for codes */
    PIXELS_MAX = 16 << 20, /* of a picture; a larger one is made smaller */
};

/* The file that is being read. */
struct reading {
    struct extract *x;
    const struct extract_file *file;
    bool has_text_open;           /* a leaf that takes text */
    bool is_hidden;               /* the text of it */
    bool has_file_open;           /* a leaf that takes a contained file */
    bool is_file_refused;         /* its data goes nowhere */
    char place[RECORD_PLACE_MAX]; /* of the open text */
    size_t nplace;
    char label[LABEL_MAX];
};

static void set_within(struct reading *r, const char *what, struct slice place)
{
    const struct slice label = r->file->label;
    const int n = snprintf(r->label, sizeof(r->label), "%s%s%.*s%s%.*s", what,
                           what[0] != '\0' && place.n + label.n > 0 ? " in " : "",
                           SLICE_ARGS(place), place.n > 0 && label.n > 0 ? " of " : "",
                           SLICE_ARGS(label));

    r->x->within = slice_of(r->label, n > 0 && n < LABEL_MAX ? (size_t)n : 0);
    featureset_set_within(r->x->set, r->x->within);
}

static void end_text_leaf(struct reading *r)
{
    if (r->has_text_open) {
        extract_leaf_end(r->x, true);
        r->has_text_open = false;
    }
}

static void begin_text(struct reading *r, const struct record *record)
{
    const struct leaf leaf = {.type = SLICE_LIT("text/plain"),
                              .charset = SLICE_LIT("utf-8"),
                              .depth = r->file->depth + 1};

    end_text_leaf(r);
    memcpy(r->place, record->place.p, record->place.n);
    r->nplace = record->place.n;
    r->is_hidden = record->detail == 1;
    set_within(r, "", record->place);
    extract_leaf_begin(r->x, &leaf);
    r->has_text_open = true;
}

static void take_document_text(struct reading *r, const struct record *record)
{
    if (!r->has_text_open || r->is_hidden != (record->detail == 1) ||
        !slice_eq(slice_of(r->place, r->nplace), record->place)) {
        begin_text(r, record);
    }
    extract_leaf_data(r->x, record->value);
    if (r->is_hidden) {
        extract_trait(r->x, TRAIT_document_hidden);
    } else {
        extract_document_text(r->x, record->value);
    }
}

/* A link, or a text that may be one. */
static void take_link(struct extract *x, struct slice text)
{
    extract_cpu_step(x, text.n);
    if (!x->stopped && !extract_try_link(x, text)) {
        extract_target(x, text); /* "www.", a path of a server */
    }
}

static void take_code(struct reading *r, const struct record *record)
{
    struct extract *x = r->x;
    const size_t before = featureset_count_type(x->set, FEATURE_url_host);

    x->late.ncodes++;
    set_within(r, record_symbology_name((enum record_symbology)record->detail),
               record->place);
    if (!extract_try_link(x, record->value)) {
        extract_links_in(x, record->value, 0); /* bare names, wallets, addresses */
    }
    if (featureset_count_type(x->set, FEATURE_url_host) > before) {
        extract_trait(x, TRAIT_code_link);
    }
    arena_reset(x->text);
}

static void take_script(struct extract *x, const struct record *record)
{
    static const enum script_dialect dialects[RECORD_LANGUAGES] = {
        [RECORD_JAVASCRIPT] = SCRIPT_JAVASCRIPT,
        [RECORD_VBA] = SCRIPT_VBSCRIPT,
        [RECORD_COMMAND] = SCRIPT_POWERSHELL,
    };

    extract_trait(x, record->detail == RECORD_VBA ? TRAIT_attachment_macro
                                                  : TRAIT_document_script);
    extract_cpu_step(x, record->value.n);
    if (!x->stopped) {
        extract_code_value(x, record->value, dialects[record->detail]);
        extract_unc(x, record->value);
    }
    arena_reset(x->text);
}

static void take_fact(struct reading *r, enum record_fact fact)
{
    struct extract *x = r->x;

    switch (fact) {
    case RECORD_ENCRYPTED:
        x->late.is_locked = r->file->kind != FILE_ARCHIVE; /* no password opens those */
        extract_trait(x, r->file->kind == FILE_PDF        ? TRAIT_pdf_encrypted
                         : r->file->kind == FILE_DOCUMENT ? TRAIT_office_encrypted
                                                          : TRAIT_archive_encrypted);
        break;
    case RECORD_OPENED:
        extract_trait(x, TRAIT_file_opened);
        break;
    case RECORD_MACRO:
        extract_trait(x, TRAIT_attachment_macro);
        break;
    case RECORD_RUNS:
        extract_trait(x, TRAIT_document_runs);
        break;
    case RECORD_FORM:
        extract_trait(x, TRAIT_document_form);
        break;
    case RECORD_ENTRIES:
        x->archive.limits_met |= ARCHIVE_LIMIT_ENTRIES;
        break;
    case RECORD_BYTES:
        x->archive.limits_met |= ARCHIVE_LIMIT_INFLATED;
        break;
    case RECORD_RATIO:
        x->archive.limits_met |= ARCHIVE_LIMIT_RATIO;
        break;
    case RECORD_DAMAGED:
    case RECORD_UNKNOWN:
    case RECORD_PAGES:
    case RECORD_PIXELS:
    case RECORD_FACTS:
        break; /* of honest files, too */
    }
}

/* ASCII without blanks, as other servers make it. */
static void take_look(struct extract *x, struct slice key)
{
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] <= ' ' || key.p[i] > '~') {
            return;
        }
    }
    featureset_add(x->set, FEATURE_picture, key);
}

static void begin_contained(struct reading *r, struct slice value)
{
    const size_t end = slice_find(value, '\0');
    /* the leaf borrows them longer than the record lasts */
    const struct archive_file entry = {
        .name = arena_copy(r->x->arena, slice_head(value, end)),
        .type = arena_copy(r->x->arena, slice_from(value, end + 1))};

    extract_entry_name(r->x, entry.name, SLICE_NONE);
    r->has_file_open = true;
    r->is_file_refused =
        !archive_budget_entry(&r->x->archive) || !extract_entry_begin(r->x, &entry);
}

static void take_data(struct reading *r, struct slice bytes)
{
    struct archive_budget *b = &r->x->archive;

    if (!r->has_file_open || r->is_file_refused) {
        return;
    }
    if (bytes.n > b->inflated) {
        b->limits_met |= ARCHIVE_LIMIT_INFLATED;
        bytes = slice_head(bytes, (size_t)b->inflated);
    }
    b->inflated -= bytes.n;
    extract_leaf_data(r->x, bytes);
}

static void end_file(struct reading *r, bool whole)
{
    if (r->has_file_open && !r->is_file_refused) {
        extract_leaf_end(r->x, whole);
    }
    r->has_file_open = false;
}

static bool on_record(void *context, const struct record *record)
{
    struct reading *r = context;
    struct extract *x = r->x;

    if (record->kind != RECORD_TEXT) {
        end_text_leaf(r);
    }
    if (record->kind != RECORD_FILE_DATA && record->kind != RECORD_FILE_END) {
        end_file(r, false); /* they come one after the other */
        set_within(r, "", record->place);
    }
    switch (record->kind) {
    case RECORD_TEXT:
        take_document_text(r, record);
        break;
    case RECORD_LINK:
        take_link(x, record->value);
        break;
    case RECORD_SCRIPT:
        take_script(x, record);
        break;
    case RECORD_CODE:
        take_code(r, record);
        break;
    case RECORD_LOOK:
        take_look(x, record->value);
        break;
    case RECORD_FACT:
        take_fact(r, (enum record_fact)record->detail);
        break;
    case RECORD_NAME:
        extract_entry_name(x, record->value, SLICE_NONE);
        break;
    case RECORD_FILE_BEGIN:
        begin_contained(r, record->value);
        break;
    case RECORD_FILE_DATA:
        take_data(r, record->value);
        break;
    case RECORD_FILE_END:
        end_file(r, record->detail == 1);
        break;
    case RECORD_END:
    case RECORD_READY:
    case RECORD_KINDS:
        break;
    }
    return !x->is_over;
}

bool extract_may_read(const struct extract *x, enum file_kind kind)
{
    return x->limits.reader != NULL &&
           (kind == FILE_PDF || kind == FILE_ARCHIVE || kind == FILE_DOCUMENT ||
            kind == FILE_PICTURE || kind == FILE_RTF);
}

static struct reader_job job_of(const struct extract *x,
                                const struct extract_file *file)
{
    return (struct reader_job){.bytes = buf_slice(&file->bytes),
                               .name = file->name,
                               .limits = {.entries = x->archive.entries,
                                          .bytes = x->archive.inflated,
                                          .ratio = x->archive.ratio,
                                          .pages = PAGES_DRAWN,
                                          .pixels = PIXELS_MAX,
                                          .with_ocr = x->limits.with_ocr}};
}

/* A file may take half of what is left. Pictures together may take half of the whole: heavy ones
 * leave time for documents and archives. */
static uint64_t time_for(const struct extract *x, const struct extract_file *file)
{
    const uint64_t for_others = x->limits.reader_us / 2;
    uint64_t left = x->reader_us;

    if (file->kind == FILE_PICTURE && !x->late.is_now) {
        left -= left < for_others ? left : for_others;
    }
    return left / 2;
}

static enum reader_outcome ask_reader(struct reading *r, const struct reader_job *job)
{
    struct extract *x = r->x;
    const uint64_t start = clock_mono_us();
    const enum reader_outcome outcome = x->limits.reader->ask(
        x->limits.reader->context, job, time_for(x, r->file), on_record, r);
    const uint64_t took = clock_mono_us() - start;

    x->reader_us -= took < x->reader_us ? took : x->reader_us;
    return outcome;
}

static bool read_job(struct extract *x, const struct extract_file *file,
                     const struct reader_job *job)
{
    struct reading r = {.x = x, .file = file};

    if (time_for(x, file) < ENOUGH_US) {
        featureset_set_limit(x->set, LIMIT_FLAG(reader));
        extract_trait(x, TRAIT_file_unread);
        return false;
    }
    const enum reader_outcome outcome = ask_reader(&r, job);
    end_text_leaf(&r);
    end_file(&r, false);
    set_within(&r, "", SLICE_NONE);
    extract_document_end(x, outcome != READER_READ);
    x->within = SLICE_NONE;
    featureset_set_within(x->set, SLICE_NONE);
    if (outcome == READER_SLOW) {
        featureset_set_limit(x->set, LIMIT_FLAG(reader));
    }
    if (outcome != READER_READ && outcome != READER_ABSENT) {
        extract_trait(x, TRAIT_file_unread);
    }
    return outcome == READER_READ;
}

bool extract_read(struct extract *x, const struct extract_file *file)
{
    const struct reader_job job = job_of(x, file);

    return read_job(x, file, &job);
}

void extract_read_locked(struct extract *x, const struct extract_file *file)
{
    struct reader_job job = job_of(x, file);

    job.password = x->late.password;
    job.npasswords = x->late.npasswords;
    job.locked_only = true;
    featureset_set_place(x->set, file->part, SLICE_NONE);
    (void)read_job(x, file, &job);
}

void extract_read_together(struct extract *x, const struct extract_file *file)
{
    struct slice next[LATE_PICTURES];
    struct reader_job job = job_of(x, file);

    for (unsigned i = 0; i < x->late.npictures; i++) {
        next[i] = buf_slice(&x->late.picture[i]->bytes);
    }
    job.next = next;
    job.nnext = x->late.npictures;
    featureset_set_place(x->set, file->part, SLICE_NONE);
    (void)read_job(x, file, &job);
    if (x->late.ncodes > 0) {
        extract_trait(x, TRAIT_code_split);
    }
}
