/* payload_read - columns back into records: judged in one walk, read in a second. */

#include "core/ring/stream/leb128.h"
#include "core/ring/stream/payload.h"

enum { KEYS, COUNTS };                         /* columns of COUNT */
enum { NAMES, STEPS, TYPES, EXPIRIES, TEXTS }; /* of LIST and TEXT */

static const uint8_t *bytes_of(const struct payload_reader *r)
{
    return (const uint8_t *)r->raw.p;
}

static enum err refuse_record(struct errinfo *reterr, uint64_t record, const char *why)
{
    return errinfo_set(reterr, ERR_SYNTAX, "payload", 0, "record %" PRIu64 ": %s",
                       record, why);
}

/* Walks a column of numbers from *at on. Each is least..most, and so is their sum. */
static const char *walk_numbers(const struct payload_reader *r, size_t *at,
                                uint64_t least, uint64_t most, uint64_t *retrecord)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < r->n; i++) {
        uint64_t v = 0;
        *retrecord = i;
        if (!leb128_get(bytes_of(r), r->raw.n, at, &v)) {
            return "a number is cut off or not in its shortest form";
        }
        if (v < least || v > most) {
            return "a number is too small or too large";
        }
        if (sum > UINT64_MAX - v) {
            return "the numbers add up to more than 64 bits hold";
        }
        sum += v;
    }
    return NULL;
}

static const char *walk_counts(struct payload_reader *r, uint64_t *retrecord)
{
    size_t at = 0;
    const char *why = walk_numbers(r, &at, 1, UINT64_MAX, retrecord);
    r->at[COUNTS] = at;
    if (!why) {
        why = walk_numbers(r, &at, 1, UINT64_MAX, retrecord);
    }
    return why || at == r->raw.n ? why : "bytes are left over";
}

static bool step_is_good(uint8_t step, bool is_snap)
{
    const unsigned before = step >> 4;
    const unsigned after = step & 15;
    if (before > ENTRY_TAKEN_BACK || after > ENTRY_TAKEN_BACK) {
        return false;
    }
    return before != after && (!is_snap || before == ENTRY_ABSENT);
}

static const char *walk_steps(const struct payload_reader *r, uint64_t *retrecord)
{
    const uint8_t *step = bytes_of(r) + r->at[STEPS];
    if (r->raw.n - r->at[STEPS] < r->n) {
        return "the steps are cut off";
    }
    for (uint64_t i = 0; i < r->n; i++) {
        *retrecord = i;
        if (!step_is_good(step[i], r->is_snap)) {
            return "there is no such step";
        }
    }
    return NULL;
}

/* The columns that LIST and TEXT have in common; *retat: behind them. */
static const char *walk_states(struct payload_reader *r, size_t *retat,
                               uint64_t *retrecord)
{
    const char *why = walk_steps(r, retrecord);
    if (why) {
        return why;
    }
    size_t at = r->at[STEPS] + (size_t)r->n;
    r->at[TYPES] = at;
    why = walk_numbers(r, &at, 0, UINT16_MAX, retrecord);
    r->at[EXPIRIES] = at;
    if (!why) {
        why = walk_numbers(r, &at, 0, UINT32_MAX, retrecord);
    }
    *retat = at;
    return why;
}

static const char *walk_list(struct payload_reader *r, uint64_t *retrecord)
{
    const uint8_t *p = bytes_of(r);
    size_t at = 0;
    if (r->raw.n / DIGEST_BYTES < r->n) {
        return "the digests are cut off";
    }
    for (uint64_t i = 1; i < r->n; i++) {
        *retrecord = i;
        if (memcmp(p + (i - 1) * DIGEST_BYTES, p + i * DIGEST_BYTES, DIGEST_BYTES) >=
            0) {
            return "its digest does not rise";
        }
    }
    r->at[STEPS] = (size_t)r->n * DIGEST_BYTES;
    const char *why = walk_states(r, &at, retrecord);
    return why || at == r->raw.n ? why : "bytes are left over";
}

/* By type, then text, each above the one before. */
static const char *walk_texts(struct payload_reader *r, uint64_t *retrecord)
{
    struct slice last = SLICE_NONE;
    uint64_t last_type = 0;
    size_t length_at = r->at[NAMES];
    size_t type_at = r->at[TYPES];
    size_t at = r->at[TEXTS];
    for (uint64_t i = 0; i < r->n; i++) {
        uint64_t n = 0;
        uint64_t type = 0;
        *retrecord = i;
        (void)leb128_get(bytes_of(r), r->raw.n, &length_at, &n);
        (void)leb128_get(bytes_of(r), r->raw.n, &type_at, &type);
        if (r->raw.n - at < n) {
            return "its text is cut off";
        }
        struct slice text = slice_of(r->raw.p + at, (size_t)n);
        if (i > 0 &&
            (type < last_type || (type == last_type && slice_cmp(last, text) >= 0))) {
            return "type and text do not rise";
        }
        last = text;
        last_type = type;
        at += (size_t)n;
    }
    return at == r->raw.n ? NULL : "bytes are left over";
}

static const char *walk_text(struct payload_reader *r, uint64_t *retrecord)
{
    size_t at = 0;
    const char *why = walk_numbers(r, &at, 1, PAYLOAD_TEXT_BYTES_MAX, retrecord);
    r->at[STEPS] = at;
    if (!why) {
        why = walk_states(r, &at, retrecord);
    }
    r->at[TEXTS] = at;
    return why ? why : walk_texts(r, retrecord);
}

enum err payload_reader_init(struct payload_reader *r, uint16_t kind, bool is_snap,
                             uint64_t records, struct slice raw, struct errinfo *reterr)
{
    const char *why = NULL;
    uint64_t record = 0;
    *r = (struct payload_reader){.raw = raw.n > 0 ? raw : SLICE_LIT(""),
                                 .n = records,
                                 .kind = kind,
                                 .is_snap = is_snap};
    if (!payload_length_is_possible(kind, records, raw.n)) {
        why = "the payload has a length that its number of records does not allow";
    } else if (kind == OBJECT_COUNT) {
        why = walk_counts(r, &record);
    } else if (kind == OBJECT_LIST) {
        why = walk_list(r, &record);
    } else if (kind == OBJECT_TEXT) {
        why = walk_text(r, &record);
    } else {
        why = "a filter has no records to read";
    }
    return why ? refuse_record(reterr, record, why) : ERR_OK;
}

/* Reads a number that the walk has checked. */
static uint64_t next_number(struct payload_reader *r, unsigned column)
{
    uint64_t v = 0;
    (void)leb128_get(bytes_of(r), r->raw.n, &r->at[column], &v);
    return v;
}

bool payload_next_count(struct payload_reader *r, struct count_record *ret)
{
    if (r->i >= r->n || r->kind != OBJECT_COUNT) {
        return false;
    }
    r->i++;
    r->last += next_number(r, KEYS);
    ret->key = r->last;
    ret->count = next_number(r, COUNTS);
    return true;
}

bool payload_next_list(struct payload_reader *r, struct list_record *ret)
{
    struct list_record record = {.text = SLICE_NONE};
    if (r->i >= r->n || (r->kind != OBJECT_LIST && r->kind != OBJECT_TEXT)) {
        return false;
    }
    r->i++;
    if (r->kind == OBJECT_LIST) {
        memcpy(record.digest.b, r->raw.p + r->at[NAMES], DIGEST_BYTES);
        r->at[NAMES] += DIGEST_BYTES;
    } else {
        const size_t n = (size_t)next_number(r, NAMES);
        record.text = slice_of(r->raw.p + r->at[TEXTS], n);
        r->at[TEXTS] += n;
    }
    const uint8_t step = bytes_of(r)[r->at[STEPS]++];
    record.before = step >> 4;
    record.after = step & 15;
    record.type = (uint16_t)next_number(r, TYPES);
    record.expiry_h = (uint32_t)next_number(r, EXPIRIES);
    *ret = record;
    return true;
}
