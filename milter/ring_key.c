#include "milter/ring_key.h"

#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/base/log.h"
#include "core/telemetry/stats.h"

#define FAULT "digest-key"
#define ADVICE                                                                         \
    "messages are still counted under the former one, which other servers do not use " \
    "any more; restart gillnetd"

static struct {
    char file[FILE_PATH_MAX]; /* empty: it is not looked at */
    char state_dir[FILE_PATH_MAX];
    uint32_t id; /* that gillnetd began with */
    struct stat sign;
    bool differs; /* as last said */
} ring;

void ring_key_set(const char *state_dir, uint32_t id)
{
    if (state_dir == NULL ||
        file_path(ring.file, "%s/keys/digest.key", state_dir) != ERR_OK ||
        file_path(ring.state_dir, "%s", state_dir) != ERR_OK) {
        ring.file[0] = '\0'; /* such a path has no keys either */
    }
    ring.id = id;
    ring.sign = (struct stat){0};
    ring.differs = false;
}

/* Whether the file is another one than at the last look. */
static bool has_changed(void)
{
    struct stat st = {0};
    struct stat *last = &ring.sign;
    if (ring.file[0] == '\0' || stat(ring.file, &st) != 0) {
        return false;
    }
    bool is_same = st.st_ino == last->st_ino && st.st_size == last->st_size &&
                   st.st_mtim.tv_sec == last->st_mtim.tv_sec &&
                   st.st_mtim.tv_nsec == last->st_mtim.tv_nsec;
    *last = st;
    return !is_same;
}

void ring_key_look(void)
{
    struct keyring keys;
    if (!has_changed() || keyring_load(ring.state_dir, &keys, NULL) != ERR_OK) {
        return;
    }
    bool differs = keys.ring[0].id != ring.id;
    explicit_bzero(&keys, sizeof(keys));
    if (differs && !ring.differs) {
        log_warn(
            "event=digest_key restart_needed=\"%s\": the ring has another key; " ADVICE,
            ring.file);
        stats_fault(FAULT, "the ring has another key: " ADVICE);
    } else if (!differs && ring.differs) {
        stats_fault(FAULT, NULL);
    }
    ring.differs = differs;
}

bool ring_key_differs(void)
{
    return ring.differs;
}
