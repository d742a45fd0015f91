#include "core/learn/prior.h"

#include <math.h>

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/base/le.h"
#include "core/base/prefix.h"

enum {
    HEAD_BYTES = 40,
    WINDOW_BYTES = 8 + 4 * MODEL_TAIL,
    WINDOWS_BYTES = VECTOR_KINDS * WINDOW_BYTES,
    MAGIC_BYTES = 8,
    ENTRY_MAX = 4, /* bytes of one weight */
    BYTE_MAX = 127,
    /* places in the head */
    AT_VERSION = 8,
    AT_TERMS = 12,
    AT_UNIT = 16,
    AT_COUNT = 24,
    AT_SUM = 32
};

static const char magic[MAGIC_BYTES + 1] = "GNPRIOR1";

static float get_float(const char *p)
{
    uint32_t bits = (uint32_t)le_get(p, sizeof(bits));
    float v = 0;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static void put_float(char *p, float v)
{
    uint32_t bits = 0;
    memcpy(&bits, &v, sizeof(bits));
    le_put(p, bits, sizeof(bits));
}

static void read_window(const char *p, struct model_window *ret)
{
    ret->n = (uint32_t)le_get(p, 4);
    ret->kept = (uint32_t)le_get(p + 4, 4);
    ret->kept = ret->kept < MODEL_TAIL ? ret->kept : MODEL_TAIL;
    for (uint32_t i = 0; i < ret->kept; i++) {
        ret->tail[i] = get_float(p + 8 + (size_t)4 * i);
    }
}

static void write_window(char *p, const struct model_window *w)
{
    le_put(p, w->n, 4);
    le_put(p + 4, w->kept, 4);
    for (uint32_t i = 0; i < w->kept; i++) {
        put_float(p + 8 + (size_t)4 * i, w->tail[i]);
    }
}

/* Reads the weights; false: the bytes do not fit. */
static bool read_weights(struct slice s, uint64_t count, int8_t *prior)
{
    uint64_t hash = 0;
    size_t at = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t step = 0;
        unsigned shift = 0;
        do {
            if (at >= s.n || shift > 14) {
                return false;
            }
            step |= (uint64_t)((unsigned char)s.p[at] & 0x7f) << shift;
            shift += 7;
        } while (((unsigned char)s.p[at++] & 0x80) != 0);
        hash += step;
        if (hash >= FTRL_WEIGHTS || at >= s.n) {
            return false;
        }
        prior[hash] = (int8_t)s.p[at++];
    }
    return at == s.n;
}

enum err prior_path(char dst[FILE_PATH_MAX], const char *path, struct errinfo *reterr)
{
    if (*path == '/') {
        return path_make(dst, reterr, "%s", path);
    }
    enum err e = prefix_path(dst, path);
    return e == ERR_OK ? e : errinfo_set(reterr, e, path, 0, "the path is too long");
}

enum err prior_read(const char *path, struct model_data *m, struct errinfo *reterr)
{
    struct buf bytes;
    buf_init(&bytes, PRIOR_BYTES);
    enum err e = file_read(path, &bytes, reterr);
    struct slice s = buf_slice(&bytes);
    if (e == ERR_OK &&
        (s.n < HEAD_BYTES + WINDOWS_BYTES || memcmp(s.p, magic, MAGIC_BYTES) != 0 ||
         le_get(s.p + AT_SUM, 8) != checksum64(slice_from(s, HEAD_BYTES)))) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0, "this is no prior of a model");
    }
    if (e == ERR_OK && (le_get(s.p + AT_VERSION, 4) != PRIOR_VERSION ||
                        le_get(s.p + AT_TERMS, 4) != VECTOR_VERSION)) {
        e = errinfo_set(reterr, ERR_VERSION, path, 0, "made for another version");
    }
    memset(m->prior, 0, sizeof(m->prior));
    if (e == ERR_OK && !read_weights(slice_from(s, HEAD_BYTES + WINDOWS_BYTES),
                                     le_get(s.p + AT_COUNT, 8), m->prior)) {
        memset(m->prior, 0, sizeof(m->prior));
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0, "weights are damaged");
    }
    if (e == ERR_OK) {
        m->prior_unit = get_float(s.p + AT_UNIT);
        for (unsigned k = 0; k < VECTOR_KINDS; k++) {
            read_window(s.p + HEAD_BYTES + (size_t)k * WINDOW_BYTES,
                        &m->head.kind[k].prior);
        }
    }
    buf_fini(&bytes);
    return e;
}

/* The least absolute weight, in MODEL_UNITs, with which the file is not too long. */
static int least_weight(const struct model_data *m)
{
    enum { MOST = 1 << 15 };
    size_t room = (PRIOR_BYTES - HEAD_BYTES - WINDOWS_BYTES) / 3;
    size_t *count = calloc(MOST + 1, sizeof(*count));
    int least = MOST;
    if (count == NULL) {
        return MOST;
    }
    for (size_t i = 0; i < FTRL_WEIGHTS; i++) {
        count[abs(m->weight[i])]++;
    }
    for (size_t sum = 0; least > 1; least--) {
        sum += count[least - 1];
        if (sum > room) {
            break;
        }
    }
    free(count);
    return least;
}

static void add_weight(struct buf *to, size_t step, int weight)
{
    for (; step >= 0x80; step >>= 7) {
        buf_add_u8(to, (uint8_t)(step | 0x80));
    }
    buf_add_u8(to, (uint8_t)step);
    buf_add_u8(to, (uint8_t)(int8_t)weight);
}

/* Weights as bytes; the largest is BYTE_MAX. */
static uint64_t add_weights(const struct model_data *m, float unit, struct buf *to)
{
    int least = least_weight(m);
    uint64_t n = 0;
    size_t last = 0;
    for (size_t i = 0; i < FTRL_WEIGHTS; i++) {
        int weight = (int)lroundf((float)m->weight[i] / MODEL_UNIT / unit);
        if (weight != 0 && abs(m->weight[i]) >= least) {
            add_weight(to, i - last, weight);
            last = i;
            n++;
        }
    }
    return n;
}

enum err prior_write(const char *path, const struct model_data *m,
                     struct errinfo *reterr)
{
    char head[HEAD_BYTES] = {0};
    char windows[WINDOWS_BYTES] = {0};
    struct buf body;
    struct buf weights;
    struct buf all;
    int most = 1;
    for (size_t i = 0; i < FTRL_WEIGHTS; i++) {
        most = abs(m->weight[i]) > most ? abs(m->weight[i]) : most;
    }
    float unit = (float)most / MODEL_UNIT / BYTE_MAX;
    buf_init(&weights, PRIOR_BYTES);
    buf_init(&body, PRIOR_BYTES);
    buf_init(&all, PRIOR_BYTES);
    for (unsigned k = 0; k < VECTOR_KINDS; k++) {
        write_window(windows + (size_t)k * WINDOW_BYTES, &m->head.kind[k].window);
    }
    memcpy(head, magic, MAGIC_BYTES);
    le_put(head + AT_VERSION, PRIOR_VERSION, 4);
    le_put(head + AT_TERMS, VECTOR_VERSION, 4);
    put_float(head + AT_UNIT, unit);
    le_put(head + AT_COUNT, add_weights(m, unit, &weights), 8);
    buf_add(&body, slice_of(windows, sizeof(windows)));
    buf_add(&body, buf_slice(&weights));
    le_put(head + AT_SUM, checksum64(buf_slice(&body)), 8);
    buf_add(&all, slice_of(head, sizeof(head)));
    buf_add(&all, buf_slice(&body));
    enum err e = buf_failed(&all) || buf_failed(&body) || buf_failed(&weights)
                     ? errinfo_nomem(reterr, path)
                     : file_write_atomic(path, buf_slice(&all), 0644, reterr);
    buf_fini(&weights);
    buf_fini(&body);
    buf_fini(&all);
    return e;
}
