/*
 * replay_main - runs a fuzz target over files, or over every file of folders, without libFuzzer.
 *
 * Each file goes in as an exact heap copy, so that the sanitizers see reads past its end; then
 * also cut to half, so that every seed is tried as a truncated one too.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

enum { PATH_MAX_BYTES = 4096, FILE_MAX_BYTES = 64 << 20 };

static unsigned files;

static int complain(const char *path)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    (void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 1;
}

static int run(const char *path, const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n > 0 ? n : 1);

    if (copy == NULL) {
        return complain(path);
    }
    if (n > 0) {
        memcpy(copy, bytes, n);
    }
    (void)LLVMFuzzerTestOneInput(copy, n);
    free(copy);
    return 0;
}

static int replay_file(const char *path, size_t size)
{
    FILE *in = fopen(path, "rbe");
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    int failed = 0;

    if (in == NULL || bytes == NULL || fread(bytes, 1, size, in) != size) {
        failed = complain(path);
    } else {
        failed = run(path, bytes, size) + run(path, bytes, size / 2);
        files++;
    }
    free(bytes);
    if (in != NULL) {
        (void)fclose(in);
    }
    return failed;
}

static int replay_folder(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry = NULL;
    int failed = 0;

    if (dir == NULL) {
        return complain(path);
    }
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    while ((entry = readdir(dir)) != NULL) {
        char name[PATH_MAX_BYTES];
        struct stat st;

        if (entry->d_name[0] == '.') {
            continue;
        }
        if (snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >=
            (int)sizeof(name)) {
            errno = ENAMETOOLONG;
            failed += complain(path);
        } else if (stat(name, &st) != 0) {
            failed += complain(name);
        } else if (S_ISREG(st.st_mode) && st.st_size <= FILE_MAX_BYTES) {
            failed += replay_file(name, (size_t)st.st_size);
        } else {
            /* folders inside folders are given by name */
        }
    }
    (void)closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    int i = 0;

    for (i = 1; i < argc; i++) {
        struct stat st;

        if (stat(argv[i], &st) != 0) {
            failed += complain(argv[i]);
        } else if (S_ISDIR(st.st_mode)) {
            failed += replay_folder(argv[i]);
        } else {
            failed += replay_file(argv[i], (size_t)st.st_size);
        }
    }
    if (files == 0) {
        (void)fprintf(stderr, "usage: %s FILE|FOLDER... (no file was read)\n", argv[0]);
        return 2;
    }
    (void)printf("%u files, %d failures\n", files, failed);
    return failed == 0 ? 0 : 1;
}
