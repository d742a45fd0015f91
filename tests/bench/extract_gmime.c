#include "tests/bench/extract_stages.h"

#ifdef BENCH_GMIME
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wpedantic"
#    pragma GCC diagnostic ignored "-Wcast-qual"
#    include <gmime/gmime.h>
#    pragma GCC diagnostic pop

static void decode_parts(GMimeMessage *message)
{
    GMimePartIter *iter = g_mime_part_iter_new((GMimeObject *)message);
    GMimeStream *nowhere = g_mime_stream_null_new();

    while (g_mime_part_iter_is_valid(iter)) {
        GMimeObject *object = g_mime_part_iter_get_current(iter);

        if (GMIME_IS_PART(object)) {
            GMimeDataWrapper *content = g_mime_part_get_content((GMimePart *)object);

            if (content != NULL) {
                (void)g_mime_data_wrapper_write_to_stream(content, nowhere);
            }
        }
        if (!g_mime_part_iter_next(iter)) {
            break;
        }
    }
    g_object_unref(nowhere);
    g_mime_part_iter_free(iter);
}

static void read_message(GMimeStream *stream)
{
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);

    if (message != NULL) {
        decode_parts(message);
        g_object_unref(message);
    }
    g_object_unref(parser);
}

uint64_t gmime_run(struct slice message, unsigned rounds)
{
    static bool is_ready;
    uint64_t least = UINT64_MAX;

    if (!is_ready) {
        g_mime_init();
        is_ready = true;
    }
    for (unsigned i = 0; i < rounds; i++) {
        GMimeStream *stream = g_mime_stream_mem_new_with_buffer(message.p, message.n);
        uint64_t from = bench_now_ns();
        uint64_t took = 0;

        read_message(stream);
        took = bench_now_ns() - from;
        least = took < least ? took : least;
        g_object_unref(stream);
    }
    return least;
}
#else
uint64_t gmime_run(struct slice message, unsigned rounds)
{
    (void)message, (void)rounds;
    return 0;
}
#endif
