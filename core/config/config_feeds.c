/* config_feeds - inheritance and agreement of the groups of `feeds`. */

#include "core/config/config_internal.h"
#include "core/config/config_value.h"

enum { LIST_NAME_BYTES = 32 };

static void refuse_feed(const struct config *c, size_t at, const char *key,
                        const char *why, struct config_errors *errors)
{
    struct config_source where = c->origin->group[SCHEMA_FEEDS][at].named;

    config_errors_add(errors, ERR_SYNTAX, c->origin->files[where.file], where.line,
                      "feeds.%s.%s: %s", c->feeds[at].name, key, why);
}

/* "auto" is the feed's own name. */
static void name_list(struct config *c, size_t at, struct config_errors *errors)
{
    struct config_feed *f = &c->feeds[at];

    if (strcmp(f->list, "auto") == 0) {
        char *name = strdup(f->name);

        if (name == NULL) {
            config_errors_add(errors, ERR_NOMEM, "", 0, "out of memory");
            return;
        }
        free(f->list);
        f->list = name;
    }
    if (strlen(f->list) > LIST_NAME_BYTES || *f->list == '-' || *f->list == '_') {
        refuse_feed(c, at, "into", "a list's name begins with a letter or digit",
                    errors);
    }
}

static void check_feed(const struct config *c, size_t at,
                       const struct config_types *types, struct config_errors *errors)
{
    const struct config_feed *f = &c->feeds[at];

    if (f->enabled && *f->url == '\0') {
        refuse_feed(c, at, "url",
                    "say where the feed is, such as \"https://feeds.example/urls.txt\"",
                    errors);
    }
    if (types != NULL && *f->type != '\0' && !types->is_sought(slice_str(f->type))) {
        refuse_feed(c, at, "type",
                    "is no feature type that is looked up in lists; `gillnet extract "
                    "--types` shows them",
                    errors);
    }
    if (types != NULL && types->is_format != NULL &&
        !types->is_format(slice_str(f->format))) {
        refuse_feed(c, at, "format",
                    "there is no such format; gillnet-feeds(7) names them", errors);
    }
    if (strcmp(f->column, "0") == 0) {
        refuse_feed(c, at, "column", "columns count from 1", errors);
    }
    if (*f->password_file != '\0' && *f->user == '\0') {
        refuse_feed(c, at, "user",
                    "a password_file needs the user whose password it is", errors);
    }
    if (f->grow > 0 && f->grow < 1) {
        refuse_feed(c, at, "grow", "write 1.0 or more, or 0.0 for no bound", errors);
    }
    if (config_list_find(c, slice_str(f->list))->period_s != 0) {
        refuse_feed(
            c, at, "into",
            "its list has `period`: what a feed lists goes when the feed says so, not "
            "by age; remove `period` there",
            errors);
    }
    for (size_t i = 0; i < at; i++) {
        if (strcmp(c->feeds[i].list, f->list) == 0) {
            refuse_feed(
                c, at, "into",
                "another feed has this list; a list holds one feed, so that what "
                "leaves the feed can leave the list",
                errors);
        }
    }
}

void config_finish_feeds(struct config *c, const struct config_types *types,
                         struct config_errors *errors)
{
    for (size_t i = 0; i < c->nfeeds && errors->n == 0; i++) {
        name_list(c, i, errors);
    }
    for (size_t i = 0; i < c->nfeeds && errors->n == 0; i++) {
        check_feed(c, i, types, errors);
    }
}
