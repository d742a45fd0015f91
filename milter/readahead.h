/*
 * readahead - libmilter's packets are read in one go, and checked before it sees them.
 *
 * libmilter polls three times and reads twice for each packet. The program therefore defines read,
 * poll and close itself; dynamic linking gives them to libmilter, as sigwait and accept
 * (signals.h). A connection from accept is known here by its descriptor until it is closed. When
 * libmilter polls it, all bytes that have come are read at once (up to READAHEAD_BYTES), and
 * further polls and reads are answered from these. For all other descriptors, and without such
 * bytes, the calls go to the kernel unchanged. A packet that is odd (packet.h) is not handed over:
 * libmilter finds the end of the connection, a line is logged (each kind once a minute) and
 * packets_refused counts it.
 * Memory: the bytes read and not yet handed over; a waiting connection holds none.
 * Threads: any; a connection is used by one at a time, as libmilter does.   Source: ADR 0053.
 */
#ifndef MILTER_READAHEAD_H
#define MILTER_READAHEAD_H

#include "core/base/std.h"

enum {
    READAHEAD_BYTES = 64 * 1024,
    READAHEAD_DESCRIPTORS = 65536 /* with higher numbers no connection is taken */
};

/* fd is a new connection from the MTA. False: its number is too high. */
bool readahead_open(int fd);

#endif
