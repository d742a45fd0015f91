#include "core/hub/status/status_headline.h"

void status_headline(struct status_board *b, const char *state_dir, uint64_t now_s,
                     struct headline *ret)
{
    json_t *alerts = status_board_get(b, STATUS_BOARD_ALERTS);
    json_t *feeds = status_board_get(b, STATUS_BOARD_FEEDS);

    headline_read(state_dir, now_s, ret);
    headline_add_alerts(ret, alerts);
    headline_add_feeds(ret, feeds);
    json_decref(alerts);
    json_decref(feeds);
}
