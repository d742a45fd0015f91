/*
 * escape - a reader that a hostile file has taken over, as far as it gets.
 *
 * Enters the sandbox as gillnet-reader does and then tries each way out. One line for each:
 * "refused NAME" or "ESCAPED NAME". Exit status: 0 all refused, 1 something was not.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "core/base/std.h"
#include "core/reader/pool/sandbox.h"

enum { MEMORY = 256 << 20, CPU_S = 5 };

static pid_t parent;
static int other; /* a descriptor that was open before */

static bool try_open(void)
{
    return open("/etc/passwd", O_RDONLY) >= 0;
}

static bool try_openat2(void)
{
    const uint64_t how[3] = {O_RDONLY, 0, 0};
    return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", how, sizeof(how)) >= 0;
}

static bool try_create(void)
{
    return creat("/tmp/gillnet-escaped", 0600) >= 0;
}

static bool try_unlink(void)
{
    return unlink("/tmp/gillnet-escape-target") == 0;
}

static bool try_rename(void)
{
    return rename("/tmp/gillnet-escape-target", "/tmp/gillnet-escaped") == 0;
}

static bool try_chmod(void)
{
    return chmod("/tmp/gillnet-escape-target", 0777) == 0;
}

static bool try_stat(void)
{
    struct stat st;
    return stat("/etc/passwd", &st) == 0;
}

static bool try_memfd(void)
{
    return memfd_create("x", 0) >= 0;
}

static bool try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static bool try_connect(void)
{
    const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
    errno = 0;
    return connect(other, (const struct sockaddr *)&to, sizeof(to)) == 0 ||
           errno != EPERM;
}

static bool try_sendmsg(void)
{
    struct msghdr m = {.msg_name = NULL};
    errno = 0;
    return sendmsg(other, &m, 0) >= 0 || errno != EPERM;
}

static bool try_fork(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    return pid > 0;
}

static bool try_clone3(void)
{
    uint64_t args[11] = {0};
    const long pid = syscall(SYS_clone3, args, sizeof(args));
    if (pid == 0) {
        _exit(0);
    }
    return pid > 0;
}

static bool try_thread(void)
{
    return syscall(SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, NULL) >= 0;
}

static bool try_exec(void)
{
    char *const argv[] = {NULL};
    return execve("/bin/true", argv, argv) == 0;
}

static bool try_ptrace(void)
{
    return ptrace(PTRACE_ATTACH, parent, NULL, NULL) == 0 ||
           ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool try_kill(void)
{
    return kill(parent, 0) == 0 || syscall(SYS_tgkill, parent, parent, 0) == 0;
}

static bool try_read_memory(void)
{
    return syscall(SYS_process_vm_readv, parent, NULL, 0UL, NULL, 0UL, 0UL) >= 0;
}

static bool try_pidfd(void)
{
    return syscall(SYS_pidfd_open, parent, 0) >= 0;
}

static bool try_code(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED;
}

static bool try_protect(void)
{
    void *p =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool try_namespace(void)
{
    return unshare(CLONE_NEWUSER) == 0;
}

static bool try_ring(void)
{
    char params[120] = {0};
    return syscall(SYS_io_uring_setup, 1, params) >= 0;
}

static bool try_bpf(void)
{
    return syscall(SYS_bpf, 0, NULL, 0) >= 0;
}

static bool try_more_memory(void)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    return setrlimit(RLIMIT_DATA, &all) == 0;
}

static bool try_memory(void)
{
    /* a sanitizer takes more than any bound */
    return !sandbox_has_sanitizer() &&
           mmap(NULL, (size_t)MEMORY * 2, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static bool try_control(void)
{
    return syscall(SYS_ioctl, other, 0x5412, "x") == 0; /* TIOCSTI */
}

#define WAY(name)         \
    {                     \
#        name, try_##name \
    }
static const struct {
    const char *name;
    bool (*attempt)(void);
} ways[] = {
    WAY(open),    WAY(openat2),   WAY(create),      WAY(unlink), WAY(rename),
    WAY(chmod),   WAY(stat),      WAY(memfd),       WAY(socket), WAY(connect),
    WAY(sendmsg), WAY(fork),      WAY(clone3),      WAY(thread), WAY(exec),
    WAY(ptrace),  WAY(kill),      WAY(read_memory), WAY(pidfd),  WAY(code),
    WAY(protect), WAY(namespace), WAY(ring),        WAY(bpf),    WAY(more_memory),
    WAY(memory),  WAY(control),
};

/* In a process of its own: with pool first, as it is in gillnet-reader. */
static int escape(void)
{
    struct errinfo why;
    int escaped = 0;

    if (sandbox_enter(SANDBOX_POOL, &why) != ERR_OK ||
        sandbox_bound(MEMORY, CPU_S, &why) != ERR_OK ||
        sandbox_enter(SANDBOX_FILE, &why) != ERR_OK) {
        (void)printf("no sandbox: %s\n", why.text);
        return 1;
    }
    for (size_t i = 0; i < LENGTH(ways); i++) {
        const bool is_out = ways[i].attempt();
        escaped += is_out ? 1 : 0;
        (void)printf("%s %s\n", is_out ? "ESCAPED" : "refused", ways[i].name);
    }
    return escaped;
}

int main(void)
{
    const int fd = creat("/tmp/gillnet-escape-target", 0600);
    int pair[2];
    int status = 0;

    parent = getpid();
    if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 2;
    }
    (void)close(fd);
    other = pair[0];
    (void)fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        const int escaped = escape();
        (void)fflush(stdout);
        _exit(escaped > 0 ? 1 : 0);
    }
    (void)waitpid(pid, &status, 0);
    (void)unlink("/tmp/gillnet-escape-target");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
