/*
 * config_sender - keys about senders: our logins, and those whom we know.
 *
 * Included by config.h, not for others.
 */
#ifndef CORE_CONFIG_CONFIG_SENDER_H
#define CORE_CONFIG_CONFIG_SENDER_H

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

#endif
