/*
 * records - what the readers find in a file, as lines of JSON: {"kind", "detail", "place", "value"}.
 *
 *   records [--password TEXT]... [--next FILE]... [--limit NAME=NUMBER]... FILE
 *
 * Values of files are hexadecimal where they are no UTF-8 text: {"hex"}. No sandbox: tests that
 * want one ask gillnet-reader. Exit status: 0, 1 a file cannot be read, 64 usage.
 */
#include <getopt.h>
#include <jansson.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/reader/pool/dispatch.h"

enum { TEXTS_MOST = 16, FILE_MOST = 256 << 20 };

static struct buf records;

static bool on_records(void *context, struct slice bytes)
{
    (void)context;
    buf_add(&records, bytes);
    return !buf_failed(&records);
}

static struct slice read_all(const char *path)
{
    static struct buf files[TEXTS_MOST + 1];
    static size_t nfiles;
    struct errinfo why;
    struct buf *b = &files[nfiles++];

    buf_init(b, FILE_MOST);
    if (file_read(path, b, &why) != ERR_OK) {
        (void)fprintf(stderr, "records: %s\n", why.text);
        exit(1);
    }
    return buf_slice(b);
}

static void print(const struct record *r)
{
    static const char *const kinds[RECORD_KINDS] = {
        [RECORD_END] = "end",           [RECORD_TEXT] = "text",
        [RECORD_LINK] = "link",         [RECORD_SCRIPT] = "script",
        [RECORD_CODE] = "code",         [RECORD_LOOK] = "look",
        [RECORD_FACT] = "fact",         [RECORD_NAME] = "name",
        [RECORD_FILE_BEGIN] = "begin",  [RECORD_FILE_DATA] = "data",
        [RECORD_FILE_END] = "file_end", [RECORD_READY] = "ready",
    };
    json_t *row = json_object();
    json_t *value = json_stringn(r->value.p != NULL ? r->value.p : "", r->value.n);

    (void)json_object_set_new(row, "kind", json_string(kinds[r->kind]));
    (void)json_object_set_new(row, "detail", json_integer(r->detail));
    (void)json_object_set_new(row, "place", json_stringn(r->place.p, r->place.n));
    if (value != NULL) {
        (void)json_object_set_new(row, "value", value);
    } else {
        struct buf text;
        buf_init(&text, 4 * RECORD_VALUE_MAX);
        for (size_t i = 0; i < r->value.n; i++) {
            buf_printf(&text, "%02x", (unsigned char)r->value.p[i]);
        }
        (void)json_object_set_new(row, "hex", json_stringn(text.p, text.n));
        buf_fini(&text);
    }
    (void)json_dumpf(row, stdout, JSON_COMPACT);
    (void)putchar('\n');
    json_decref(row);
}

static void set_limit(struct reader_limits *limits, const char *text)
{
    const char *equal = strchr(text, '=');
    const unsigned long long n = equal != NULL ? strtoull(equal + 1, NULL, 10) : 0;

    if (strncmp(text, "entries=", 8) == 0) {
        limits->entries = (uint32_t)n;
    } else if (strncmp(text, "bytes=", 6) == 0) {
        limits->bytes = n;
    } else if (strncmp(text, "ratio=", 6) == 0) {
        limits->ratio = (uint32_t)n;
    } else if (strncmp(text, "pages=", 6) == 0) {
        limits->pages = (uint32_t)n;
    } else if (strncmp(text, "pixels=", 7) == 0) {
        limits->pixels = n;
    } else if (strcmp(text, "ocr=1") == 0) {
        limits->with_ocr = true;
    } else {
        (void)fprintf(stderr, "records: no limit %s\n", text);
        exit(64);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"password", required_argument, NULL, 'p'},
                                            {"next", required_argument, NULL, 'n'},
                                            {"limit", required_argument, NULL, 'l'},
                                            {NULL, 0, NULL, 0}};
    static struct slice password[TEXTS_MOST];
    static struct slice next[TEXTS_MOST];
    struct reader_job job = {
        .password = password,
        .next = next,
        .limits = {10000, 64 << 20, 200, 10, 64 << 20, false},
    };
    int c;

    if (base_init() != ERR_OK) {
        return 1;
    }
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'p' && job.npasswords < TEXTS_MOST) {
            password[job.npasswords++] = slice_str(optarg);
        } else if (c == 'n' && job.nnext < TEXTS_MOST) {
            next[job.nnext++] = read_all(optarg);
        } else if (c == 'l') {
            set_limit(&job.limits, optarg);
        } else {
            return 64;
        }
    }
    if (optind + 1 != argc) {
        (void)fputs(
            "usage: records [--password TEXT] [--next FILE] [--limit NAME=NUMBER] FILE\n",
            stderr);
        return 64;
    }
    job.bytes = read_all(argv[optind]);
    job.name = slice_str(argv[optind]);
    buf_init(&records, FILE_MOST);
    struct found *f = found_new(&job, on_records, NULL);
    if (f == NULL) {
        return 1;
    }
    reader_read(&job, f);
    found_free(&f);
    struct slice rest = buf_slice(&records);
    struct record r;
    while (record_next(&rest, &r) == RECORD_OK) {
        print(&r);
    }
    return rest.n == 0 ? 0 : 1;
}
