#include "tests/integ/mime/leafsum.h"

#include <stdio.h>

void leafsum_begin(struct leafsum *l)
{
    *l = (struct leafsum){0};
    (void)sha256_init(&l->sum);
}

static void put(struct leafsum *l, char c)
{
    l->out[l->nout++] = c;
    l->bytes++;
    if (l->nout == LEAFSUM_OUT) {
        sha256_add(&l->sum, slice_of(l->out, l->nout));
        l->nout = 0;
    }
}

void leafsum_add(struct leafsum *l, struct slice bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        char c = bytes.p[i];
        bool is_second = c == '\n' && l->last_was_cr;
        l->last_was_cr = c == '\r';
        if (c == ' ' || c == '\t') {
            l->blanks[l->nblanks++ % LEAFSUM_OUT] = c;
        } else if (c == '\n' || c == '\r') {
            l->nblanks = 0;
            if (!is_second) {
                put(l, '\n');
            }
        } else {
            for (uint64_t k = 0; k < l->nblanks; k++) {
                put(l, l->blanks[k % LEAFSUM_OUT]);
            }
            l->nblanks = 0;
            put(l, c);
        }
    }
}

static void print_encoded(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c > ' ' && c < 0x7f && c != '%') {
            putchar(c);
        } else {
            printf("%%%02x", c);
        }
    }
}

void leafsum_print(struct leafsum *l, struct slice type, struct slice filename)
{
    char hex[SHA256_HEX + 1];
    sha256_add(&l->sum, slice_of(l->out, l->nout));
    sha256_final_hex(&l->sum, hex);
    printf("PART ");
    print_encoded(type);
    printf(" %llu %s ", (unsigned long long)l->bytes, hex);
    if (filename.n == 0) {
        printf("-");
    }
    print_encoded(filename);
    printf("\n");
}
