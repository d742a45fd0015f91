#include "core/reader/pool/sandbox.h"

#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HAS_SANITIZER = 1 };
#else
enum { HAS_SANITIZER = 0 };
#endif

enum {
    CLONE_NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                       CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
};

/* System calls of both kinds of processes: none of them names a file, a process or an address. */
static const int of_both[] = {
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(close),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(brk),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getrandom),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(getrlimit),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
};

/* Of the one that accepts connections; the filter of its children comes on top. */
static const int of_pool[] = {
    SCMP_SYS(accept4), SCMP_SYS(fork),      SCMP_SYS(wait4),       SCMP_SYS(waitid),
    SCMP_SYS(kill),    SCMP_SYS(prctl),     SCMP_SYS(seccomp),     SCMP_SYS(prlimit64),
    SCMP_SYS(dup2),    SCMP_SYS(setrlimit), SCMP_SYS(getpeername), SCMP_SYS(fcntl),
};

static bool allow(scmp_filter_ctx filter, const int *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) != 0) {
            return false;
        }
    }
    return true;
}

/* Memory that is no code; a signal to itself, as abort sends it. */
static bool allow_partly(scmp_filter_ctx filter, enum sandbox sandbox)
{
    const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    const struct scmp_arg_cmp own = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0);
    const struct scmp_arg_cmp a_process =
        SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_VM | CLONE_THREAD | CLONE_NAMESPACES, 0);
    bool is_done =
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code) == 0 &&
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code) == 0;

    if (sandbox == SANDBOX_POOL) {
        /* of each child, whose number nobody knows yet */
        return is_done &&
               seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 0) == 0 &&
               seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                a_process) == 0;
    }
    return is_done &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, own) == 0;
}

static enum err filter_calls(enum sandbox sandbox, struct errinfo *reterr)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    bool is_done = filter != NULL && allow(filter, of_both, LENGTH(of_both)) &&
                   allow_partly(filter, sandbox) &&
                   (sandbox != SANDBOX_POOL || allow(filter, of_pool, LENGTH(of_pool)));

    is_done = is_done && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return is_done
               ? ERR_OK
               : errinfo_set(reterr, ERR_UNSUPPORTED, "seccomp", 0,
                             "the system calls cannot be filtered; the kernel needs "
                             "CONFIG_SECCOMP_FILTER");
}

/* A set of rights without a rule that gives one. A kernel without Landlock has the filter alone. */
static void leave_file_system(void)
{
    /* of the first version of the interface; later ones add what needs an open file anyway */
    const struct landlock_ruleset_attr all = {
        .handled_access_fs =
            LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
            LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
            LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
            LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
            LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
            LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
            LANDLOCK_ACCESS_FS_MAKE_SYM};
    const long fd = syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0U);

    if (fd >= 0) {
        (void)syscall(SYS_landlock_restrict_self, (int)fd, 0U);
        (void)close((int)fd);
    }
}

/* `gillnet check` may be root's. */
static void drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}, {0}};

    (void)syscall(SYS_capset, &head, none);
}

enum err sandbox_enter(enum sandbox sandbox, struct errinfo *reterr)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0 ||
        prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) != 0) {
        return errinfo_errno(reterr, "prctl", "rights cannot be given up");
    }
    if (sandbox == SANDBOX_POOL) {
        leave_file_system();
        drop_capabilities();
    }
    return filter_calls(sandbox, reterr);
}

bool sandbox_has_sanitizer(void)
{
    return HAS_SANITIZER == 1;
}

static bool bound(int what, uint64_t most)
{
    const struct rlimit limit = {.rlim_cur = most, .rlim_max = most};

    return setrlimit((__rlimit_resource_t)what, &limit) == 0;
}

enum err sandbox_bound(uint64_t memory, uint32_t cpu_s, struct errinfo *reterr)
{
    const bool is_done = (HAS_SANITIZER || bound(RLIMIT_DATA, memory)) &&
                         bound(RLIMIT_CPU, cpu_s) && bound(RLIMIT_CORE, 0) &&
                         bound(RLIMIT_FSIZE, 0);

    return is_done
               ? ERR_OK
               : errinfo_errno(reterr, "setrlimit", "the process cannot be bounded");
}
