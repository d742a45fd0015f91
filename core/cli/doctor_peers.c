/* doctor_peers - the ring and the publishers: the hub runs, members and publishers answer. */
#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/cli/doctor.h"
#include "core/cli/print.h"
#include "core/cli/services.h"
#include "core/ring/trust/manifest.h"

enum { US_PER_MS = 1000, DAY_MS = 86400000, WARN_DAYS = 14, WHY_MAX = 200 };

bool doctor_has_peers_list(const struct doctor *d, const char *name)
{
    const char *state_dir = d->cli->config->state_dir;
    char origins[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    bool has = false;

    if (path_make(origins, NULL, "%s/peers/lists", state_dir) != ERR_OK) {
        return false;
    }
    struct dir_walk w = dir_walk_begin(origins, DIR_OPTIONAL);
    while (!has && dir_walk_next(&w)) {
        has = path_make(path, NULL, "%s/%s/lists/%s/CURRENT", origins, w.name, name) ==
                  ERR_OK &&
              access(path, F_OK) == 0;
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return has;
}

/* ---- the ring ---- */

/* A federation that is too small for its own quorum shares counts that nobody ever uses. */
static void check_kind(struct doctor *d, const struct manifest *m)
{
    unsigned nactive = 0;

    for (unsigned i = 0; i < m->nmembers; i++) {
        nactive += m->members[i].state == MEMBER_ACTIVE;
    }
    if (m->kind == RING_OWN) {
        doctor_say(d, DOCTOR_OK, "ring", "",
                   "kind own, %u active members: their counts add up", nactive);
    } else if (nactive > 1 && nactive - 1 < m->quorum) {
        doctor_say(d, DOCTOR_WARN, "ring",
                   "one owner's servers: gillnet peer set --ring --kind own; else "
                   "invite more, or gillnet peer set --ring --quorum N",
                   "kind federation, %u active members: the quorum of %u other members "
                   "can never be met, so their counts are not used",
                   nactive, m->quorum);
    } else {
        doctor_say(d, DOCTOR_OK, "ring", "",
                   "kind federation, %u active members, cap %" PRIu64 ", quorum %u",
                   nactive, m->default_cap, m->quorum);
    }
}

static void check_manifest(struct doctor *d, const struct manifest *m)
{
    uint64_t now_ms = clock_wall_us() / US_PER_MS;

    if (m->expires_ms < now_ms + (uint64_t)WARN_DAYS * DAY_MS) {
        doctor_say(d, DOCTOR_WARN, "ring",
                   "gillnet peer renew, where an administrator's key is", "%s",
                   m->expires_ms <= now_ms ? "its manifest has expired: nobody can join"
                                           : "its manifest expires soon");
    }
}

/* ---- the hub's answer ---- */

/* For people's terminals. */
static void print_why(const json_t *row, char ret[WHY_MAX])
{
    (void)snprintf(ret, WHY_MAX, "%s", json_text_of(row, "last_failure"));
    for (char *p = ret; *p != '\0'; p++) {
        if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f) {
            *p = '?';
        }
    }
}

static void check_member(struct doctor *d, const json_t *row, unsigned *nmembers)
{
    char why[WHY_MAX];

    if (strcmp(json_text_of(row, "state"), "active") != 0 ||
        json_is_true(json_object_get(row, "self"))) {
        return;
    }
    ++*nmembers;
    print_why(row, why);
    if (json_is_true(json_object_get(row, "is_distrusted"))) {
        doctor_say(d, DOCTOR_WARN, "ring", "see WHAT TO DO in gillnet-peers(7)",
                   "%.64s is distrusted: it signed two histories",
                   json_text_of(row, "name"));
    } else if (json_is_true(json_object_get(row, "is_stale"))) {
        doctor_say(d, DOCTOR_WARN, "ring",
                   "is its hub running and reachable? gillnet peer status there",
                   "%.64s has not answered for three minutes%s%s",
                   json_text_of(row, "name"), why[0] != '\0' ? ": " : "", why);
    }
}

static void check_followed(struct doctor *d, const json_t *row)
{
    char why[WHY_MAX];

    if (strcmp(json_text_of(row, "state"), "well") != 0) {
        print_why(row, why);
        doctor_say(d, DOCTOR_WARN, "subscription", "gillnet peer status says more",
                   "%.64s: %.64s%s%s", json_text_of(row, "subscription"),
                   json_text_of(row, "state"), why[0] != '\0' ? ": " : "", why);
    }
}

static void check_answer(struct doctor *d, const char *first, json_t *rows)
{
    json_t *row = NULL;
    size_t i = 0;
    unsigned nmembers = 0;
    unsigned nfollowed = 0;

    if (strncmp(first, "ok", 2) != 0) {
        doctor_say(d, DOCTOR_FAIL, "hub", "see its log", "%s", first);
        return;
    }
    json_array_foreach(rows, i, row)
    {
        if (json_object_get(row, "subscription") != NULL) {
            nfollowed++;
            check_followed(d, row);
        } else if (json_object_get(row, "name") != NULL) {
            check_member(d, row, &nmembers);
        }
    }
    doctor_say(d, DOCTOR_OK, "hub", "",
               "runs; %u other members, %u publishers followed", nmembers, nfollowed);
}

void doctor_peers(struct doctor *d)
{
    const struct config *c = d->cli->config;
    struct manifest m = {.version = 0};
    struct errinfo why = {.code = ERR_OK};
    char dir[FILE_PATH_MAX];
    char first[CONTROL_FIRST_MAX];
    json_t *rows = NULL;

    if (path_make(dir, NULL, "%s/peers", c->state_dir) != ERR_OK) {
        return;
    }
    enum err e = manifest_load(dir, &m, &why);
    if (e == ERR_NOT_FOUND && c->nsubscriptions == 0) {
        return; /* neither a ring nor a publisher */
    }
    if (e == ERR_OK) {
        check_manifest(d, &m);
        check_kind(d, &m);
        manifest_fini(&m);
    } else if (e != ERR_NOT_FOUND) {
        doctor_say_why(d, DOCTOR_FAIL, "ring", "", &why);
    }
    e = control_ask_rows(c->hub.control_socket, "status", first, &rows, &why);
    if (e == ERR_OK) {
        check_answer(d, first, rows);
    } else {
        if (e == ERR_NOT_FOUND) {
            (void)errinfo_set(&why, e, "", 0, "does not run");
        }
        doctor_say_why(
            d, DOCTOR_FAIL, "hub",
            "start it: systemctl start gillnet-hub; mail is filtered without it", &why);
    }
    json_decref(rows);
}
