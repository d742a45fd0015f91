/* feeds_show - how each feed stands, as rows of JSON. */
#include "core/feed/show.h"
#include "core/hub/fetch/feeds_internal.h"

static const char *now_name(enum feed_now now)
{
    switch (now) {
    case FEED_WAITING:
        return "waiting";
    case FEED_FETCHING:
        return "fetching";
    case FEED_CHECKING:
        return "checking";
    case FEED_IMPORTING:
        return "importing";
    case FEED_OK:
        return "ok";
    case FEED_REFUSED:
        return "refused";
    case FEED_FAILING:
        return "failing";
    case FEED_OFF:
        break;
    }
    return "off";
}

static void put_number(json_t *to, const char *name, uint64_t v)
{
    (void)json_object_set_new(to, name, json_integer((json_int_t)v));
}

/* Something good came of it, and nothing is known against it. */
static bool is_well(const struct feed_row *row)
{
    return row->stage.good_s > 0 && row->failures == 0 && row->trouble[0] == '\0';
}

static json_t *feed_row_json(const struct config_feed *feed, const struct feed_row *row)
{
    char shown[FEED_SHOWN_MAX];
    json_t *to = json_pack("{s:s, s:s, s:s, s:b, s:s}", "name", feed->name, "list",
                           feed->list, "url", feed_shown(shown, feed->url), "enabled",
                           feed->enabled ? 1 : 0, "state", now_name(row->now));

    if (to == NULL) {
        return NULL;
    }
    feed_state_json(to, &row->stage);
    put_number(to, "added", row->entered);
    put_number(to, "removed", row->left);
    put_number(to, "excluded", row->left_out);
    put_number(to, "asked_s", row->asked_s);
    put_number(to, "next_s", row->next_s);
    put_number(to, "interval_s", feed->interval_s);
    put_number(to, "failures", row->failures);
    put_number(to, "download_bytes", row->bytes);
    put_number(to, "fetch_ms", row->fetch_ms);
    put_number(to, "check_ms", row->check_ms);
    put_number(to, "import_ms", row->import_ms);
    put_number(to, "rounds", row->rounds);
    (void)json_object_set_new(to, "well",
                              feed->enabled ? json_boolean(is_well(row)) : json_null());
    (void)json_object_set_new(to, "refused",
                              row->refused != NULL ? json_deep_copy(row->refused)
                                                   : json_object());
    (void)json_object_set_new(to, "trouble",
                              row->trouble[0] != '\0' ? json_string(row->trouble)
                                                      : json_null());
    return to;
}

void feeds_show(struct feeds *f)
{
    static const struct feed_row off = {.now = FEED_OFF};
    static const struct feed_row waiting = {.now = FEED_WAITING};
    json_t *rows = json_array();

    (void)pthread_mutex_lock(&f->mutex);
    for (size_t i = 0; i < f->config->nfeeds; i++) {
        const struct config_feed *feed = &f->config->feeds[i];
        const struct feed_row *row = feed->enabled ? &waiting : &off;

        for (size_t k = 0; feed->enabled && k < f->n; k++) {
            row = slice_eq(slice_str(f->v[k]->name), slice_str(feed->name))
                      ? &f->v[k]->row
                      : row;
        }
        (void)json_array_append_new(rows, feed_row_json(feed, row));
    }
    /* under the mutex, so that an older state never replaces a newer one */
    status_board_put(f->board, STATUS_BOARD_FEEDS, rows);
    (void)pthread_mutex_unlock(&f->mutex);
}
