/* fuzz_shared_totals - any bytes as the hub's file of totals: refused with a reason, or each key is
 * answered with numbers. The first bytes are the header and the start of the tags; the rest is laid
 * over the entries again and again. The header is made right in a second try. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/count/shared_totals.h"

#include "tests/fuzz/fuzz.h"

enum {
    SETS = SHARED_TOTALS_SETS_MIN,
    HEADER = 4096,
    ENTRIES = HEADER + SETS * 64,
    BYTES = ENTRIES + SETS * SHARED_TOTALS_WAYS * 256,
    KEY_ID = 7,
    KEYS = 64,
    NOW = 2831572
};

static uint8_t file[BYTES];
static char dir[] = "/tmp/gillnet-fuzz-XXXXXX";
static char peers[64];
static char shared[80];
static char path[96];

static void remove_folder(void)
{
    (void)unlink(path);
    (void)rmdir(shared);
    (void)rmdir(peers);
    (void)rmdir(dir);
}

static void make_folder(void)
{
    FUZZ_CHECK(mkdtemp(dir) != NULL);
    (void)snprintf(peers, sizeof(peers), "%s/peers", dir);
    (void)snprintf(shared, sizeof(shared), "%s/shared", peers);
    (void)snprintf(path, sizeof(path), "%s/totals", shared);
    FUZZ_CHECK(mkdir(peers, 0700) == 0 && mkdir(shared, 0700) == 0);
    FUZZ_CHECK(atexit(remove_folder) == 0);
}

static void write_file(size_t n)
{
    FILE *f = fopen(path, "wb");

    FUZZ_CHECK(f != NULL && fwrite(file, 1, n, f) == n && fclose(f) == 0);
}

static void ask(const struct shared_totals *t, uint64_t key)
{
    struct count_history own = {.now = NOW};
    struct count_history part;
    struct shared_total total;
    uint64_t windows[4];

    if (!shared_totals_read(t, key, &total)) {
        return;
    }
    FUZZ_CHECK(total.key == key);
    count_history_add(&own, (uint64_t)NOW * COUNT_BUCKET_S, 3);
    shared_total_windows(&total, NOW, windows);
    shared_total_part(&total, 1, &own, &own, &part);
    for (unsigned i = 0; i <= COUNT_BUCKETS; i++) {
        FUZZ_CHECK(part.bucket[i] <= (uint64_t)UINT32_MAX);
    }
    count_history_windows(&part, windows);
    FUZZ_CHECK(part.first_s <= (uint64_t)(NOW + 1) * COUNT_BUCKET_S);
}

/* The keys that the bytes name themselves, and some that they do not. */
static void ask_all(const struct shared_totals *t)
{
    for (unsigned i = 0; i < KEYS; i++) {
        uint64_t key = 0;
        memcpy(&key, file + ENTRIES + (size_t)i * 256 + 8, sizeof(key));
        ask(t, key);
        ask(t, i);
    }
    (void)shared_totals_age(t, NOW * UINT64_C(600));
}

static void check_file(void)
{
    struct shared_totals *t = NULL;
    struct errinfo why = {.text = ""};

    if (shared_totals_open(dir, KEY_ID, &t, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return;
    }
    ask_all(t);
    shared_totals_close(&t);
}

/* A right header, and each entry in the set and under the tag that its bytes ask for. */
static void mend(void)
{
    static const char magic[] = "NGSHTOT1";
    const uint32_t words[] = {1, KEY_ID, SETS, 0};

    memcpy(file, magic, 8);
    memcpy(file + 8, words, sizeof(words));
    for (size_t i = 0; i < KEYS; i++) {
        uint8_t *entry = file + ENTRIES + i * 256;
        uint64_t key = i / SHARED_TOTALS_WAYS + (i % SHARED_TOTALS_WAYS << 40);
        uint32_t tag = (uint32_t)(key >> 32) != 0 ? (uint32_t)(key >> 32) : 1;
        memcpy(entry + 8, &key, sizeof(key));
        memcpy(file + HEADER + i * 4, &tag, sizeof(tag));
        entry[0] &= 0xfe;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n = size < HEADER ? size : HEADER;

    if (path[0] == '\0') {
        make_folder();
    }
    memset(file, 0, sizeof(file));
    memcpy(file, data, n);
    for (size_t at = ENTRIES; size > 0 && at + size <= ENTRIES + KEYS * 256;
         at += size) {
        memcpy(file + at, data, size);
    }
    write_file(size % 7 == 0 ? ENTRIES : BYTES);
    check_file();
    mend();
    write_file(BYTES);
    check_file();
    return 0;
}
