/*
 * unwrap_decode - the encodings that link wrappers put targets into, for unwrap.c.
 *
 * Each writes at most text.n bytes to dst and returns their number. A cut or broken part stays as
 * it
 * is. Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_URL_UNWRAP_DECODE_H
#define CORE_MESSAGE_URL_UNWRAP_DECODE_H

#include "core/base/slice.h"

/* Base64 of either alphabet; ends at the first other byte. */
size_t unwrap_base64(struct slice text, char *dst);
/* urldefense v2: '-' for '%', '_' for '/'. Also character references for '&'. */
size_t unwrap_urldefense_v2(struct slice text, char *dst);
/* urldefense v3: text stands after "/v3/"; "__URL__;BASE64!...", with a '*' for each character
 * and "**N" for each run that stand in the base64. */
size_t unwrap_urldefense_v3(struct slice text, char *dst);

#endif
