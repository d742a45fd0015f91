/* print_features - features, limits and such of a message for people. */
#include "core/cli/print_features.h"

#include "core/cli/text.h"

static void print_place(const struct feature *f)
{
    if (f->place == NULL) {
        return;
    }
    (void)fputs("  (", stdout);
    text_print(stdout, f->place->part, EVIDENCE_SHOWN);
    if (f->place->part.n > 0 && f->place->header.n > 0) {
        (void)putchar(' ');
    }
    text_print(stdout, f->place->header, EVIDENCE_SHOWN);
    printf(" at %" PRIu32 ")", f->offset);
}

void evidence_print_features(const struct featureset *features, bool with_places)
{
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        printf("  %s ", feature_type_name(f->type));
        text_print(stdout, f->text, EVIDENCE_SHOWN);
        if (with_places) {
            print_place(f);
        }
        (void)putchar('\n');
    }
}

void evidence_print_limits(unsigned limits)
{
    for (unsigned i = 0; i < LIMIT_FLAG_COUNT; i++) {
        if ((limits & (1u << i)) != 0) {
            printf("  limit %s\n", limit_name(i));
        }
    }
}
