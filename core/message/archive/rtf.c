#include "core/message/archive/rtf.h"

#include "core/base/cursor.h"

enum {
    RTF_COMPRESSED = 0x75465a4c,
    RTF_STORED = 0x414c454d,
    DICTIONARY = 4096,
    START = 207 /* of the dictionary is filled before the first byte */
};

static const char start_text[] =
    "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss "
    "\\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier"
    "{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
_Static_assert(sizeof(start_text) == START + 1, "as MS-OXRTFCP has it");

/* The dictionary is what was written last: each time it is full it is given. */
struct unpacked {
    struct archive_budget *budget;
    bool (*data)(void *context, struct slice bytes);
    void *context;
    char dictionary[DICTIONARY];
    size_t at;
    size_t given; /* of the dictionary, since it was full */
    bool stopped;
};

static void give(struct unpacked *u)
{
    size_t n = u->at - u->given;
    if (n > u->budget->inflated) {
        u->budget->limits_met |= ARCHIVE_LIMIT_INFLATED;
        u->stopped = true;
    } else if (n > 0) {
        u->budget->inflated -= n;
        u->stopped = !u->data(u->context, slice_of(u->dictionary + u->given, n));
    }
    u->given = u->at;
}

static void put(struct unpacked *u, char c)
{
    u->dictionary[u->at++] = c;
    if (u->at == DICTIONARY) {
        give(u);
        u->at = 0;
        u->given = 0;
    }
}

/* A reference to earlier text: 12 bits of place, 4 of length. False: the end of the text. */
static bool put_earlier(struct unpacked *u, struct cursor *c)
{
    unsigned high = cursor_u8(c);
    unsigned low = cursor_u8(c);
    size_t from = high << 4 | low >> 4;
    size_t n = (low & 0x0f) + 2;
    if (!cursor_ok(c) || from == u->at) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        put(u, u->dictionary[(from + i) % DICTIONARY]);
    }
    return true;
}

static void unpack(struct unpacked *u, struct cursor *c)
{
    while (c->rest.n > 0 && !u->stopped) {
        unsigned control = cursor_u8(c);
        for (unsigned i = 0; i < 8 && c->rest.n > 0 && !u->stopped; i++) {
            if ((control >> i & 1) == 0) {
                put(u, (char)cursor_u8(c));
            } else if (!put_earlier(u, c)) {
                give(u);
                return;
            }
        }
    }
    give(u);
}

bool rtf_decompress(struct archive_budget *budget, struct slice in,
                    bool (*data)(void *context, struct slice bytes), void *context)
{
    struct cursor c = cursor_of(in);
    (void)cursor_bytes(&c, 8); /* sizes: the data tells where it ends */
    uint32_t kind = cursor_u32(&c);
    (void)cursor_u32(&c);
    if (!cursor_ok(&c) || (kind != RTF_COMPRESSED && kind != RTF_STORED)) {
        return false;
    }
    if (kind == RTF_STORED) {
        return c.rest.n == 0 || data(context, c.rest);
    }
    struct unpacked u = {.budget = budget,
                         .data = data,
                         .context = context,
                         .at = START,
                         .given = START};
    memcpy(u.dictionary, start_text, START);
    unpack(&u, &c);
    return !u.stopped;
}
