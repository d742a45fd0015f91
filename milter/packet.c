#include "milter/packet.h"

#include "core/base/std.h"

static const char commands[] = "ABCDEHKLMNOQRTU";

const char *packet_fault_name(enum packet_fault fault)
{
    static const char *const names[PACKET_FAULT_COUNT] = {
        [PACKET_SOUND] = "sound",      [PACKET_EMPTY] = "empty",
        [PACKET_LONG] = "long",        [PACKET_UNKNOWN] = "unknown",
        [PACKET_SHORT] = "short",      [PACKET_UNTERMINATED] = "unterminated",
        [PACKET_UNPAIRED] = "unpaired"};
    return names[fault];
}

static char command(const struct packet_check *c)
{
    return (char)c->head[PACKET_HEAD - 1];
}

static enum packet_fault check_head(const struct packet_check *c)
{
    if (command(c) == '\0' || !strchr(commands, command(c))) {
        return PACKET_UNKNOWN;
    }
    return c->length > (command(c) == 'D' ? PACKET_MACROS_MAX : PACKET_DATA_MAX)
               ? PACKET_LONG
               : PACKET_SOUND;
}

/* The length comes before the command: an impossible one is a fault at once. */
static enum packet_fault take_head(struct packet_check *c, char byte)
{
    c->head[c->nhead++] = (uint8_t)byte;
    if (c->nhead < PACKET_HEAD - 1) {
        return PACKET_SOUND;
    }
    if (c->nhead == PACKET_HEAD) {
        return check_head(c);
    }
    uint32_t n = (uint32_t)c->head[0] << 24 | (uint32_t)c->head[1] << 16 |
                 (uint32_t)c->head[2] << 8 | c->head[3];
    if (n == 0) {
        return PACKET_EMPTY;
    }
    c->length = n - 1;
    return c->length > PACKET_DATA_MAX ? PACKET_LONG : PACKET_SOUND;
}

/* Strings are looked at only where they matter: not in bodies. */
static bool has_strings(char cmd)
{
    return cmd != '\0' && strchr("CDHLMRU", cmd);
}

static void take_strings(struct packet_check *c, const char *bytes, size_t n)
{
    size_t i = command(c) == 'D' && c->at == 0 ? 1 : 0;
    if (c->nuls > 0 && c->family == 0 && c->at == c->first_nul + 1) {
        c->family = bytes[0];
    }
    for (const char *p; i < n && (p = memchr(bytes + i, '\0', n - i)); i++) {
        i = (size_t)(p - bytes);
        if (c->nuls++ == 0) {
            c->first_nul = c->at + (uint32_t)i;
            c->family = (char)(i + 1 < n ? bytes[i + 1] : '\0');
        }
    }
    c->last = bytes[n - 1];
}

static enum packet_fault check_macros(const struct packet_check *c)
{
    if (c->length == 0) {
        return PACKET_SHORT;
    }
    if (c->length > 1 && c->last != '\0') {
        return PACKET_UNTERMINATED;
    }
    return c->nuls % 2 ? PACKET_UNPAIRED : PACKET_SOUND;
}

/* A name, a family and, where that is not "unknown", a port and an address. */
static enum packet_fault check_connection(const struct packet_check *c)
{
    enum { PORT = 2 };
    if (c->nuls == 0) {
        return PACKET_UNTERMINATED;
    }
    uint32_t rest = c->length - c->first_nul - 1;
    if (rest == 0 || (c->family != 'U' && rest < 1 + PORT + 1)) {
        return PACKET_SHORT;
    }
    return c->family != 'U' && c->last != '\0' ? PACKET_UNTERMINATED : PACKET_SOUND;
}

static enum packet_fault check_strings(const struct packet_check *c, uint32_t wanted)
{
    if (c->length == 0) {
        return PACKET_SHORT;
    }
    if (c->last != '\0') {
        return PACKET_UNTERMINATED;
    }
    return c->nuls < wanted ? PACKET_SHORT : PACKET_SOUND;
}

/* At its end. */
static enum packet_fault check_whole(const struct packet_check *c)
{
    switch (command(c)) {
    case 'D':
        return check_macros(c);
    case 'C':
        return check_connection(c);
    case 'H':
    case 'M':
    case 'R':
    case 'U':
        return check_strings(c, 1);
    case 'L':
        return check_strings(c, 2);
    case 'O':
        return c->length < PACKET_OPTIONS_MIN ? PACKET_SHORT : PACKET_SOUND;
    default:
        return PACKET_SOUND;
    }
}

static void end_packet(struct packet_check *c)
{
    c->fault = check_whole(c);
    if (c->fault == PACKET_SOUND) {
        *c = (struct packet_check){.fault = PACKET_SOUND};
    }
}

enum packet_fault packet_check(struct packet_check *c, const char *bytes, size_t n)
{
    while (n > 0 && c->fault == PACKET_SOUND) {
        size_t taken = 1;
        if (c->nhead < PACKET_HEAD) {
            c->fault = take_head(c, *bytes);
        } else {
            taken = c->length - c->at < n ? c->length - c->at : n;
            if (has_strings(command(c))) {
                take_strings(c, bytes, taken);
            }
            c->at += (uint32_t)taken;
        }
        bytes += taken;
        n -= taken;
        if (c->fault == PACKET_SOUND && c->nhead == PACKET_HEAD && c->at == c->length) {
            end_packet(c);
        }
    }
    return c->fault;
}
