/* fuzz_read_file - any bytes as what a reader answers, in a message with a picture and a PDF file. */
#include "core/base/base.h"
#include "core/message/extract/extract.h"
#include "core/reader/wire/ask.h"

#include "tests/fuzz/fuzz.h"

static struct slice answer;

static enum reader_outcome ask(void *context, const struct reader_job *job,
                               uint64_t within_us, record_fn *on_record,
                               void *record_context)
{
    struct slice rest = answer;
    struct record r;

    (void)context, (void)job, (void)within_us;
    while (record_next(&rest, &r) == RECORD_OK) {
        if (!on_record(record_context, &r)) {
            return READER_READ;
        }
    }
    return rest.n == 0 ? READER_READ : READER_DIED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char message[] =
        "From: a@b.example\r\nMIME-Version: 1.0\r\n"
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nThe password: tulip42\r\n"
        "--b\r\nContent-Type: image/png; name=q.png\r\nContent-Transfer-Encoding: base64\r\n"
        "\r\niVBORw0KGgoAAAAN\r\n--b\r\nContent-Type: image/png\r\n"
        "Content-Transfer-Encoding: base64\r\n\r\niVBORw0KGgoAAAAN\r\n"
        "--b\r\nContent-Type: application/pdf; name=a.pdf\r\n"
        "Content-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjQKZW5k\r\n--b--\r\n";
    static const struct reader_ask offer = {.ask = ask};
    const struct extract_limits limits = {.mail = {.message_bytes = 1 << 20,
                                                   .decoded_bytes = 1 << 20,
                                                   .headers = 100,
                                                   .header_bytes = 64 << 10,
                                                   .header_field = 8 << 10,
                                                   .parts = 100,
                                                   .depth = 8},
                                          .urls = 50,
                                          .recipients = 10,
                                          .reader = &offer,
                                          .reader_us = 1000000};
    struct arena *arena = arena_new(FUZZ_ARENA);

    if (base_init() != ERR_OK || arena == NULL) {
        return 0;
    }
    answer = slice_of(data, size);
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    FUZZ_CHECK(x != NULL);
    extract_raw(x, slice_of(message, sizeof(message) - 1));
    const struct featureset *set = extract_finish(x);
    for (size_t i = 0; i < featureset_count(set); i++) {
        const struct feature *f = featureset_at(set, i);
        FUZZ_CHECK(f->text.n > 0);
        FUZZ_CHECK(f->place == NULL || f->place->within.n <= 1024);
    }
    arena_free(&arena);
    return 0;
}
