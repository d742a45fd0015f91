/* configured - opens, sets, and opens again if the list was rewritten. */
#include "core/list/configured.h"

#include "core/base/log.h"
#include "core/list/files.h"

bool list_is_formed(const struct config *config, struct slice name)
{
    char dir[FILE_PATH_MAX];
    struct list_current c;
    return list_dir_path(dir, config->state_dir, name, NULL) != ERR_OK ||
           current_read(dir, LIST_CURRENT, &c, NULL) != ERR_OK ||
           (c.form == LIST_FORM &&
            c.url_match == (uint32_t)config_list_find(config, name)->url_match);
}

static enum err open_once(const struct list_opening *o, struct slice name, bool create,
                          struct list_writer **ret, struct errinfo *reterr)
{
    const struct config_list *list = config_list_find(o->config, name);
    const struct filter_wish wish = {.layout = (unsigned)list->filter_layout,
                                     .error = list->filter_error,
                                     .has_front = list->filter_memory == FILTER_MAP,
                                     .is_shared = list->filter_memory == FILTER_STORE};
    enum err e = list_writer_open_waiting(o->config->state_dir, name, o->keys, create,
                                          &o->wait, ret, reterr);
    if (e == ERR_OK) {
        list_writer_set_keep_text(*ret, list->keep_text);
        list_writer_set_filter(*ret, &wish);
    }
    return e;
}

static void log_reformed(struct slice name, enum url_match match,
                         const struct list_rekeyed *r)
{
    log_info("event=list_reformed list=%.*s url_match=%s listed=%" PRIu64
             " revoked=%" PRIu64 " without_text=%" PRIu64 "%s",
             SLICE_ARGS(name), list_url_match_name((enum list_url_match)match),
             r->listed, r->revoked, r->without_text,
             r->without_text > 0
                 ? " text=\"entries without text stay as they were: their URLs are "
                   "found as they were written alone; import them again\""
                 : "");
}

enum err list_writer_open_configured(const struct list_opening *o, struct slice name,
                                     struct list_writer **ret, struct errinfo *reterr)
{
    const struct list_reforming how = {
        .state_dir = o->config->state_dir,
        .url_match = (enum url_match)config_list_find(o->config, name)->url_match,
        .stop = o->wait.stop,
        .progress = o->progress,
        .context = o->context};
    struct list_rekeyed done;
    bool is_remade = false;
    enum err e = open_once(o, name, o->create, ret, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = list_reform(*ret, &how, &is_remade, &done, reterr);
    if (is_remade) {
        log_reformed(name, how.url_match, &done);
    } else if (e == ERR_OK) {
        e = list_shorten_log(*ret, &how, &is_remade, &done, reterr);
        if (is_remade) {
            log_info("event=list_log_shortened list=%.*s listed=%" PRIu64
                     " revoked=%" PRIu64,
                     SLICE_ARGS(name), done.listed, done.revoked);
        }
    }
    if (e != ERR_OK || is_remade) {
        list_writer_close(ret);
    }
    return is_remade ? open_once(o, name, false, ret, reterr) : e;
}
