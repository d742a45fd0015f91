/*
 * config_sender - keys about senders and recipients: our logins, known senders, traps.
 *
 * Included by config.h, not for others.
 */
#ifndef CORE_CONFIG_CONFIG_SENDER_H
#define CORE_CONFIG_CONFIG_SENDER_H

#include "core/config/config_hub.h"

enum account_action { ACCOUNT_WARN, ACCOUNT_HOLD, ACCOUNT_DEFER };

/* Limits of each login. */
struct config_account {
    unsigned recipients; /* strangers a day, at most */
    enum account_action action;
};

/* Scores of known senders; 0 or less. */
struct config_identity {
    double correspondent_score;
    double answer_score;
};

/* Reports that come by mail. */
struct config_report_mail {
    struct config_strings traps; /* USER@DOMAIN or @DOMAIN */
    struct config_strings spam;  /* addresses */
    struct config_strings ham;
    struct config_strings senders; /* domains with feedback loops */
};

#endif
