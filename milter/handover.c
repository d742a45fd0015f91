#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include "milter/socket.h"

/* "mta-DEVICE-INODE", both in hexadecimal digits. */
static const char name_format[] = "mta-%" PRIx64 "-%" PRIx64;
enum { NAME_MAX_BYTES = 48 };

bool handover_keep(int fd, const struct unix_place *place)
{
    char text[NAME_MAX_BYTES + 32];
    char name[NAME_MAX_BYTES];

    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread yet */
    if (getenv("FDSTORE") == NULL) {
        return false;
    }
    snprintf(name, sizeof(name), name_format, (uint64_t)place->device,
             (uint64_t)place->inode);
    snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s", name);
    return sd_pid_notify_with_fds(0, 0, text, &fd, 1) > 0;
}

/* fd listens, was bound beside path, and the file of that name is still at path. */
static bool is_at(int fd, const char *name, const char *path, struct unix_place *ret)
{
    uint64_t device;
    uint64_t inode;
    char end;
    struct stat st;
    struct sockaddr_un un = {.sun_family = AF_UNSPEC};
    socklen_t n = sizeof(un);

    /* NOLINTNEXTLINE(cert-err34-c): two numbers of another gillnetd; an overflow names no file */
    if (sscanf(name, "mta-%" SCNx64 "-%" SCNx64 "%c", &device, &inode, &end) != 2 ||
        sd_is_socket(fd, AF_UNIX, SOCK_STREAM, 1) <= 0 ||
        getsockname(fd, (struct sockaddr *)&un, &n) != 0 ||
        strncmp(un.sun_path, path, strlen(path)) != 0 || lstat(path, &st) != 0 ||
        (uint64_t)st.st_dev != device || (uint64_t)st.st_ino != inode) {
        return false;
    }
    snprintf(ret->path, sizeof(ret->path), "%s", path);
    ret->device = st.st_dev;
    ret->inode = st.st_ino;
    ret->is_placed = true;
    return true;
}

int handover_take(const char *path, struct unix_place *ret)
{
    char **names = NULL;
    int n = sd_listen_fds_with_names(1, &names);
    int taken = -1;

    for (int i = 0; i < n; i++) {
        int fd = SD_LISTEN_FDS_START + i;
        if (taken < 0 && is_at(fd, names[i], path, ret)) {
            taken = fd;
        } else if (strncmp(names[i], "mta-", 4) == 0) {
            close(fd);
            sd_notifyf(0, "FDSTOREREMOVE=1\nFDNAME=%s", names[i]);
        }
    }
    for (int i = 0; i < n; i++) {
        free(names[i]);
    }
    free(names);
    return taken;
}
