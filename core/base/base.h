/*
 * base - the start of every program; and the overview of this room, which all others use.
 *
 * The room has failures, bytes, memory, files, time, keys and users, and knows nothing of mail. A
 * function that can fail returns enum err; where a person must act it also fills struct errinfo:
 * the object, the cause, the remedy. Every buffer, file and loop has a bound.
 * Files in reading order: std, err (failures); slice, buf, cursor, utf8, visible, nearest (bytes
 * and text); arena, array (memory); file, sigbus, dir_walk, unix_place (files, folders, sockets);
 * clock, random, prng, thread; checksum, hash256, digest, keyring (hashes and their keys); log,
 * footprint; user, trial, statedir, statedir_try (users, and their rights to the state folder).
 * Example of a change: a new failure is one value of enum err with its text in err_text, and an
 * errno in err_of_errno if it stands for one; test_err checks that no two codes have the same text.
 * Depends: libsodium, libxxhash, libcrypto, libsystemd.
 */
#ifndef CORE_BASE_BASE_H
#define CORE_BASE_BASE_H

#include "core/base/err.h"

/* Prepares libsodium and the per-process hash key, ignores SIGPIPE, keeps files off the numbers
 * of closed standard streams. Call in main before any file is opened. */
enum err base_init(void);

#endif
