/*
 * follower - a publisher, its place and a subscriber in one folder, for tests; fetching is reading
 * files.
 */
#ifndef TESTS_UNIT_PUBLISH_FOLLOWER_H
#define TESTS_UNIT_PUBLISH_FOLLOWER_H

#include "core/ring/publish/publish.h"
#include "core/ring/publish/subscription.h"
#include "core/ring/publish/textlist.h"

enum { FOLLOWER_ENTRIES = 64, FOLLOWER_TEXT = 48, FOLLOWER_PATH = 256 };

struct follower {
    char dir[64];
    char publisher[FOLLOWER_PATH]; /* state folder */
    char place[FOLLOWER_PATH];
    char subscriber[FOLLOWER_PATH]; /* state folder */
    struct identity self;
    struct keyring keys;
    struct peerlists *lists;
    struct subscription *s;
    double most_change;
    uint64_t most_entries;
    uint64_t now_ms;
    uint64_t valid_ms;
    /* the list as it should be */
    char text[FOLLOWER_ENTRIES][FOLLOWER_TEXT];
    struct list_record entry[FOLLOWER_ENTRIES]; /* after ENTRY_ABSENT: not in it */
    uint64_t random;
    unsigned fetched; /* objects */
    uint64_t fetched_bytes;
    struct publish_result published;
};

void follower_init(struct follower *f, uint64_t seed);
void follower_fini(struct follower *f);
uint64_t follower_random(struct follower *f, uint64_t below);
/* Changes about n entries of the list. */
void follower_change(struct follower *f, unsigned n);
enum err follower_publish(struct follower *f, bool is_anew, struct errinfo *reterr);
/* A round over these places (folders); opens the subscription where it is closed. */
enum err follower_round(struct follower *f, const char *const *places, unsigned n,
                        struct errinfo *reterr);
void follower_close(struct follower *f);
/* The subscriber has exactly the list, as texts and as digests that gillnetd looks up. */
void follower_assert_same(struct follower *f);
/* Copies the place to DIR/name, whose path is returned in ret. */
void follower_copy_place(const struct follower *f, const char *name,
                         char ret[FOLLOWER_PATH]);

#endif
