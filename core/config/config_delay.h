/*
 * config_delay - settings of embargo, of emergency mode and of the model.
 *
 * Threads: constant.   Owns: nothing; the strings belong to struct config.
 */
#ifndef CORE_CONFIG_CONFIG_DELAY_H
#define CORE_CONFIG_CONFIG_DELAY_H

#include "core/base/std.h"

/* First contacts that are answered 451 once. */
struct config_embargo {
    double threshold; /* thresholds.embargo; HUGE_VAL: off */
    uint64_t time_s;
    uint64_t keep_s;  /* that a message which did not come back is remembered */
    uint64_t known_s; /* likewise, a sender whose message did */
    char *text;       /* as reject_text */
};

/* Many more URL checks than usual. */
struct config_emergency {
    bool enabled;
    bool unverified;   /* hits that cannot be confirmed count */
    double enter;      /* URL checks a second; 0: from the mean */
    unsigned escalate; /* confirmed URLs below a domain; 0: none is escalated */
    uint64_t escalate_window_s;
    uint64_t escalate_for_s;
    double escalate_weight;
};

/* What was learnt from people (core/learn). */
struct config_model {
    bool enabled;
    double false_positives; /* share of ham that the model may mark */
    double cap;             /* of the score of MODEL */
    double cap_language;
    double cap_notice;
    bool learn_outgoing; /* learn without a report from ... */
    bool learn_known;
    bool learn_newsletters;
    bool learn_listed;
    bool urls;                  /* URLs that no list knows are judged by their text */
    double url_false_positives; /* share of ham URLs that may be called malicious */
    double url_score;           /* of ML_DETECTED_MALICIOUS */
    uint64_t url_keep_s;        /* that such a URL is an entry for the list ml */
    char *prior;                /* file; empty: none */
};

#endif
