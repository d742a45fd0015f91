#include "core/reader/wire/records.h"

#include "core/base/cursor.h"

/* Bounds of detail by kind; a value has a length of at most value. */
static const struct {
    unsigned least;
    unsigned most;
    size_t value;
} rows[RECORD_KINDS] = {
    [RECORD_END] = {0, 0, 0},
    [RECORD_TEXT] = {0, 1, RECORD_VALUE_MAX},
    [RECORD_LINK] = {0, 0, RECORD_VALUE_MAX},
    [RECORD_SCRIPT] = {1, RECORD_LANGUAGES - 1, RECORD_VALUE_MAX},
    [RECORD_CODE] = {1, RECORD_SYMBOLOGIES - 1, RECORD_VALUE_MAX},
    [RECORD_LOOK] = {0, 0, RECORD_LOOK_MAX},
    [RECORD_FACT] = {1, RECORD_FACTS - 1, 0},
    [RECORD_NAME] = {0, 0, RECORD_VALUE_MAX},
    [RECORD_FILE_BEGIN] = {0, 0, RECORD_VALUE_MAX},
    [RECORD_FILE_DATA] = {0, 0, RECORD_VALUE_MAX},
    [RECORD_FILE_END] = {0, 1, 0},
    [RECORD_READY] = {0, 0, 0},
};

const char *record_symbology_name(enum record_symbology symbology)
{
    switch (symbology) {
    case RECORD_QR:
        return "QR code";
    case RECORD_DATA_MATRIX:
        return "Data Matrix";
    case RECORD_AZTEC:
        return "Aztec code";
    case RECORD_OTHER_CODE:
    case RECORD_SYMBOLOGIES:
        break;
    }
    return "code";
}

void record_add(struct buf *b, const struct record *r)
{
    buf_add_u8(b, (uint8_t)r->kind);
    buf_add_u8(b, (uint8_t)r->detail);
    buf_add_u16(b, (uint16_t)r->place.n);
    buf_add_u32(b, (uint32_t)r->value.n);
    buf_add(b, r->place);
    buf_add(b, r->value);
}

enum record_step record_next(struct slice *bytes, struct record *ret)
{
    struct cursor c = cursor_of(*bytes);
    unsigned kind = cursor_u8(&c);
    unsigned detail = cursor_u8(&c);
    size_t nplace = cursor_u16(&c);
    size_t nvalue = cursor_u32(&c);

    if (!cursor_ok(&c)) {
        return RECORD_MORE;
    }
    if (kind == 0 || kind >= RECORD_KINDS || detail < rows[kind].least ||
        detail > rows[kind].most || nplace > RECORD_PLACE_MAX ||
        nvalue > rows[kind].value) {
        return RECORD_WRONG;
    }
    *ret = (struct record){.kind = (enum record_kind)kind, .detail = detail};
    ret->place = cursor_bytes(&c, nplace);
    ret->value = cursor_bytes(&c, nvalue);
    if (!cursor_ok(&c)) {
        return RECORD_MORE;
    }
    *bytes = c.rest;
    return RECORD_OK;
}
