/*
 * find_number - phone numbers and wallet addresses in running text.
 *
 * Phone numbers with a country code ("+49 30 1234567", "0049 (0)30 ..."), and North American ones
 * with their usual marks ("(212) 555-0100", "212.555.0100"); dates, times, amounts, addresses and
 * order numbers have neither. Normal form: E.164, "+" and 8 to 15 digits.
 * Wallets whose checksum is right: base58check with a 20-byte hash (Bitcoin, Litecoin, Dogecoin,
 * Dash, Tron), bech32 and bech32m (bc1, tb1, ltc1). Normal form: as it stands; bech32 in lower
 * case. Ethereum is not read: its checksum needs Keccak, which the linked libraries lack.
 * Source: ITU-T E.164; BIP 173, BIP 350; the base58 of Bitcoin.
 * Linear. Threads: any.   Allocates: a checksum context for each candidate wallet.
 */
#ifndef CORE_MESSAGE_URL_FIND_NUMBER_H
#define CORE_MESSAGE_URL_FIND_NUMBER_H

#include "core/base/slice.h"

enum { PHONE_DIGITS_MIN = 8, PHONE_DIGITS_MAX = 15, WALLET_BYTES_MAX = 90 };

enum find_number_kind { FIND_PHONE, FIND_WALLET };

struct find_number {
    enum find_number_kind kind;
    struct slice text; /* normal form; lives during the call back */
    struct slice raw;  /* where it stands */
};

typedef void find_number_fn(void *context, const struct find_number *number);

/* Calls back for every number in text, in order. */
void find_numbers_in_text(struct slice text, find_number_fn *on_number, void *context);

#endif
