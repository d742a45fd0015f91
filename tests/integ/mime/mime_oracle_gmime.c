/* mime_oracle_gmime FILE... - the leaf parts of messages as GMime sees them; see leafsum.h. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wcast-qual"
#include <gmime/gmime.h>
#pragma GCC diagnostic pop
#include <stdio.h>

#include "core/base/base.h"

#include "tests/integ/mime/leafsum.h"

static void print_leaf(GMimeObject *object)
{
    GMimePart *part = (GMimePart *)object;
    GMimeDataWrapper *content = g_mime_part_get_content(part);
    GMimeStream *memory = g_mime_stream_mem_new();
    struct leafsum sum;
    leafsum_begin(&sum);
    if (content != NULL) {
        g_mime_data_wrapper_write_to_stream(content, memory);
        const GByteArray *bytes =
            g_mime_stream_mem_get_byte_array((GMimeStreamMem *)memory);
        leafsum_add(&sum, slice_of((const char *)bytes->data, bytes->len));
    }
    GMimeContentType *type = g_mime_object_get_content_type(object);
    char *text = g_mime_content_type_get_mime_type(type);
    char *lower = g_ascii_strdown(text, -1);
    leafsum_print(&sum, slice_str(lower), slice_str(g_mime_part_get_filename(part)));
    g_free(lower);
    g_free(text);
    g_object_unref(memory);
}

static int print_parts(const char *path)
{
    GMimeStream *stream = g_mime_stream_file_open(path, "r", NULL);
    if (stream == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    printf("FILE %s\n", path);
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
    if (message != NULL) {
        GMimePartIter *iter = g_mime_part_iter_new((GMimeObject *)message);
        while (g_mime_part_iter_is_valid(iter)) {
            GMimeObject *object = g_mime_part_iter_get_current(iter);
            if (GMIME_IS_PART(object)) {
                print_leaf(object);
            }
            if (!g_mime_part_iter_next(iter)) {
                break;
            }
        }
        g_mime_part_iter_free(iter);
        g_object_unref(message);
    }
    g_object_unref(parser);
    g_object_unref(stream);
    return 0;
}

int main(int argc, char **argv)
{
    if (base_init() != ERR_OK) {
        return 2;
    }
    g_mime_init();
    int bad = 0;
    for (int i = 1; i < argc; i++) {
        bad |= print_parts(argv[i]);
        fflush(stdout);
    }
    g_mime_shutdown();
    return bad;
}
