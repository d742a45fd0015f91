/*
 * mistake_walk - the place of a walk through a broken file; private to mistake.c and its values.
 *
 * Threads: pure.   Owns: nothing but the table of keys.
 */
#ifndef CORE_CONFIG_MISTAKE_WALK_H
#define CORE_CONFIG_MISTAKE_WALK_H

#include "core/config/mistake.h"
#include "core/config/schema.h"

enum { WALK_KEY_MAX = 80 };

/* The next element that may come. */
enum walk_state { WALK_KEY, WALK_VALUE, WALK_AFTER, WALK_STOP };

/* An open bracket; [0] is the file. */
struct walk_level {
    char open;        /* '\0', '{', '(' or '[' */
    bool is_mistaken; /* the wrong bracket, which was reported: either one closes it */
    bool is_after_comma;
    unsigned line;
    unsigned scope; /* of the keys in it */
    char key[WALK_KEY_MAX];
};

struct walk_seen {
    struct slice name;
    unsigned scope;
    unsigned line;
    char group[SCHEMA_GROUP_MAX];
};

struct walk {
    const char *p;
    const char *end;
    unsigned line;
    unsigned scopes;
    size_t depth;
    struct walk_level levels[SCAN_DEPTH_MAX + 1];
    char key[WALK_KEY_MAX]; /* read last */
    unsigned key_line;
    size_t nseen;
    struct walk_seen *seen; /* NULL without memory: no key is found twice */
    size_t nfound;
    bool said_invisible;
    scan_finding_fn *on_finding;
    void *context;
};

/* Reports "PATH: text" of the line, up to MISTAKES_MAX. */
void walk_say(struct walk *w, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Skips white space, comments and, with a report, characters that look like white space. */
void walk_skip(struct walk *w);
/* The group that holds the key: "" for the file, "lists" for any of its groups. */
const char *walk_group(const struct walk *w);
bool walk_is_name_start(char c);
bool walk_is_name(char c);

/* The value at w->p, which is no bracket, of w->key; in mistake_value.c. */
enum walk_state walk_value(struct walk *w);

#endif
