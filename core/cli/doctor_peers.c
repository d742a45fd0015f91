/* doctor_peers - the ring and the publishers that are followed: the hub runs, members and publishers answer. */
#include <dirent.h>
#include <jansson.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/cli/daemon.h"
#include "core/cli/doctor.h"
#include "core/ring/trust/manifest.h"

enum { US_PER_MS = 1000, DAY_MS = 86400000, WARN_DAYS = 14, WHY_MAX = 200 };

bool doctor_has_peers_list(const struct doctor *d, const char *name)
{
    char path[FILE_PATH_MAX];
    const char *state_dir = d->cli->config->state_dir;
    const struct dirent *entry = NULL;
    bool has = false;
    DIR *origins =
        file_path(path, "%s/peers/lists", state_dir) == ERR_OK ? opendir(path) : NULL;

    while (origins != NULL && !has) {
        /* cppcheck-suppress readdirCalled ; the stream is ours alone */
        entry = readdir(origins); /* NOLINT(concurrency-mt-unsafe) */
        if (entry == NULL) {
            break;
        }
        has = file_path(path, "%s/peers/lists/%s/lists/%s/CURRENT", state_dir,
                        entry->d_name, name) == ERR_OK &&
              access(path, F_OK) == 0;
    }
    if (origins != NULL) {
        (void)closedir(origins);
    }
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

/* ---- what the hub says ---- */

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));

    return text != NULL ? text : "";
}

/* For people's terminals. */
static void print_why(const json_t *row, char ret[WHY_MAX])
{
    (void)snprintf(ret, WHY_MAX, "%s", text_of(row, "last_failure"));
    for (char *p = ret; *p != '\0'; p++) {
        if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f) {
            *p = '?';
        }
    }
}

static void check_member(struct doctor *d, const json_t *row, unsigned *nmembers)
{
    char why[WHY_MAX];

    if (strcmp(text_of(row, "state"), "active") != 0 ||
        json_is_true(json_object_get(row, "self"))) {
        return;
    }
    ++*nmembers;
    print_why(row, why);
    if (json_is_true(json_object_get(row, "is_set_aside"))) {
        doctor_say(d, DOCTOR_WARN, "ring", "see WHAT TO DO in gillnet-peers(7)",
                   "%.64s is set aside: it signed two histories", text_of(row, "name"));
    } else if (json_is_true(json_object_get(row, "is_stale"))) {
        doctor_say(d, DOCTOR_WARN, "ring",
                   "is its hub running and reachable? gillnet peer status there",
                   "nothing was heard of %.64s for three minutes%s%s",
                   text_of(row, "name"), why[0] != '\0' ? ": " : "", why);
    }
}

static void check_followed(struct doctor *d, const json_t *row)
{
    char why[WHY_MAX];

    if (strcmp(text_of(row, "state"), "well") != 0) {
        print_why(row, why);
        doctor_say(d, DOCTOR_WARN, "subscription", "gillnet peer status says more",
                   "%.64s: %.64s%s%s", text_of(row, "subscription"),
                   text_of(row, "state"), why[0] != '\0' ? ": " : "", why);
    }
}

static void check_answer(struct doctor *d, struct slice answer)
{
    struct slice first = slice_cut(&answer, '\n');
    unsigned nmembers = 0;
    unsigned nfollowed = 0;

    if (!slice_has_prefix(first, SLICE_LIT("ok"))) {
        doctor_say(d, DOCTOR_FAIL, "hub", "see its log", "%.*s", SLICE_ARGS(first));
        return;
    }
    while (answer.n > 0) {
        struct slice line = slice_cut(&answer, '\n');
        json_t *row = json_loadb(line.p, line.n, 0, NULL);

        if (json_object_get(row, "subscription") != NULL) {
            nfollowed++;
            check_followed(d, row);
        } else if (json_object_get(row, "name") != NULL) {
            check_member(d, row, &nmembers);
        }
        json_decref(row);
    }
    doctor_say(d, DOCTOR_OK, "hub", "",
               "runs; %u other members, %u publishers followed", nmembers, nfollowed);
}

void doctor_peers(struct doctor *d)
{
    const struct config *c = d->cli->config;
    struct manifest m = {.version = 0};
    struct errinfo why = {.code = ERR_OK};
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 32];
    char dir[FILE_PATH_MAX];
    struct buf answer;

    if (file_path(dir, "%s/peers", c->state_dir) != ERR_OK) {
        return;
    }
    enum err e = manifest_load(dir, &m, &why);
    if (e == ERR_NOT_FOUND && c->nsubscriptions == 0) {
        return; /* neither a ring nor anybody to follow */
    }
    if (e == ERR_OK) {
        check_manifest(d, &m);
        check_kind(d, &m);
        manifest_fini(&m);
    } else if (e != ERR_NOT_FOUND) {
        doctor_say(d, DOCTOR_FAIL, "ring", "", "%s",
                   errinfo_format(&why, text, sizeof(text)));
    }
    buf_init(&answer, CONTROL_ANSWER_MAX);
    e = control_ask(c->hub.control_socket, "status", &answer, &why);
    if (e == ERR_OK) {
        check_answer(d, buf_slice(&answer));
    } else {
        doctor_say(d, DOCTOR_FAIL, "hub",
                   "start it: systemctl start gillnet-hub; mail is filtered without it",
                   "%s",
                   e == ERR_NOT_FOUND ? "does not run"
                                      : errinfo_format(&why, text, sizeof(text)));
    }
    buf_fini(&answer);
}
