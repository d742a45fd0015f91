/*
 * packet - is what comes from the MTA a packet that libmilter can take?
 *
 * libmilter splits some packets without looking at their shape: of an odd number of macro strings
 * it reads the pointer behind the last one, of a connection without a NUL the byte behind the
 * packet. A check follows the bytes of one connection in pieces of any size, and says at the last
 * byte of a packet what is wrong with it. libmilter itself handles all other packets that it
 * refuses or ignores safely, except for lengths and commands that no MTA sends.
 * Threads: pure.   Allocates: nothing.   Source: ADR 0053.
 */
#ifndef MILTER_PACKET_H
#define MILTER_PACKET_H

#include "core/base/std.h"

enum {
    PACKET_DATA_MAX = 1024 * 1024 - 1, /* bytes behind the command, for MTAs that send
                                          long header fields */
    PACKET_MACROS_MAX = 65535,         /* the same of macros, which libmilter keeps */
    PACKET_OPTIONS_MIN = 12,           /* version, actions, steps */
    PACKET_HEAD = 5                    /* length and command */
};

enum packet_fault {
    PACKET_SOUND,
    PACKET_EMPTY,        /* length 0: not even a command */
    PACKET_LONG,         /* over the limits above */
    PACKET_UNKNOWN,      /* an unknown command */
    PACKET_SHORT,        /* ends before all that the command needs */
    PACKET_UNTERMINATED, /* its last string has no NUL */
    PACKET_UNPAIRED,     /* a macro's name without a value */
    PACKET_FAULT_COUNT
};
/* "empty", "long", ... */
const char *packet_fault_name(enum packet_fault fault);

/* All zero at the beginning of a connection. */
struct packet_check {
    enum packet_fault fault; /* the first one; it stays */
    uint32_t length;         /* of the packet's data, without the command */
    uint32_t at;             /* bytes of the data that were seen */
    uint32_t nuls;           /* of them, without the first byte of macros */
    uint32_t first_nul;      /* its place; valid with nuls > 0 */
    uint8_t nhead;           /* bytes of head that were seen */
    uint8_t head[PACKET_HEAD];
    char family; /* byte behind the first NUL; 0: not seen */
    char last;
};

/* The next n bytes of the connection. */
enum packet_fault packet_check(struct packet_check *c, const char *bytes, size_t n);

#endif
