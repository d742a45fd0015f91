/* line_seal - the first bytes of a digest over the line and its name. */
#include "core/filter/line_seal.h"

#include "core/base/le.h"

enum {
    SEAL_TYPE = 0xfffe, /* no feature type: no digest of a value is a seal */
    SEAL_BYTES = LINE_SEALED_BYTES - BLOOM_LINE_BYTES
};

static void seal_make(const struct line_name *name, const void *line,
                      uint8_t ret[SEAL_BYTES])
{
    char text[BLOOMFILE_ID_BYTES + 8 + BLOOM_LINE_BYTES];
    struct digest d;
    memcpy(text, name->id, BLOOMFILE_ID_BYTES);
    le_put(text + BLOOMFILE_ID_BYTES, name->number, 8);
    memcpy(text + BLOOMFILE_ID_BYTES + 8, line, BLOOM_LINE_BYTES);
    digest_make(name->key, SEAL_TYPE, slice_of(text, sizeof(text)), &d);
    memcpy(ret, d.b, SEAL_BYTES);
}

void line_seal(const struct line_name *name, const void *line,
               uint8_t ret[LINE_SEALED_BYTES])
{
    memcpy(ret, line, BLOOM_LINE_BYTES);
    seal_make(name, line, ret + BLOOM_LINE_BYTES);
}

bool line_unseal(const struct line_name *name, const uint8_t sealed[LINE_SEALED_BYTES],
                 uint64_t retline[BLOOM_LINE_BYTES / 8])
{
    uint8_t seal[SEAL_BYTES];
    memcpy(retline, sealed, BLOOM_LINE_BYTES);
    seal_make(name, retline, seal);
    return memcmp(seal, sealed + BLOOM_LINE_BYTES, SEAL_BYTES) == 0;
}
