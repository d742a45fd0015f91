/* mime_parts FILE... - the leaf parts of messages as core/message/mail sees them; see leafsum.h. */
#include <stdio.h>

#include "core/base/base.h"
#include "core/message/mail/mail.h"

#include "tests/integ/mime/leafsum.h"

enum { CHUNK = 65535, CAP = 512 * 1024 * 1024 };

static void on_header(void *context, const struct mail_part *part, struct slice name,
                      struct slice value)
{
    (void)context, (void)part, (void)name, (void)value;
}

static void on_begin(void *context, const struct mail_part *part)
{
    if (!part->is_container && !part->is_extra) {
        leafsum_begin(context);
    }
}

static void on_data(void *context, const struct mail_part *part, struct slice bytes)
{
    if (!part->is_extra) {
        leafsum_add(context, bytes);
    }
}

static void on_end(void *context, const struct mail_part *part)
{
    if (!part->is_container && !part->is_extra) {
        leafsum_print(context, part->type, part->filename);
    }
}

static void on_body(void *context, struct slice bytes)
{
    (void)context, (void)bytes;
}

static const struct mail_events events = {.header = on_header,
                                          .part_begin = on_begin,
                                          .part_data = on_data,
                                          .part_end = on_end,
                                          .body = on_body};

static int print_parts(const char *path)
{
    static char chunk[CHUNK];
    static const struct mail_limits limits = {.message_bytes = 1 << 30,
                                              .decoded_bytes = 1 << 30,
                                              .headers = 10000,
                                              .header_bytes = 1 << 24,
                                              .header_field = 1 << 20,
                                              .parts = 10000,
                                              .depth = 100};
    struct leafsum sum = {0};
    struct arena *arena = arena_new(CAP);
    struct mail *m = arena != NULL ? mail_new(arena, &limits, &events, &sum) : NULL;
    FILE *f = fopen(path, "rb");
    if (m == NULL || f == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        arena_free(&arena);
        return 1;
    }
    printf("FILE %s\n", path);
    size_t n = 0;
    while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0) {
        mail_raw(m, slice_of(chunk, n));
    }
    mail_end(m);
    fclose(f);
    arena_free(&arena);
    return 0;
}

int main(int argc, char **argv)
{
    if (base_init() != ERR_OK) {
        return 2;
    }
    int bad = 0;
    for (int i = 1; i < argc; i++) {
        bad |= print_parts(argv[i]);
    }
    return bad;
}
