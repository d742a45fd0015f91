/*
 * config_hub - the part of struct config that gillnet-hub uses: peers, feeds, API, alerts; see
 * config.h.
 *
 * Threads: as config.h.   Owns: every string in it.
 */
#ifndef CORE_CONFIG_CONFIG_HUB_H
#define CORE_CONFIG_CONFIG_HUB_H

#include "core/base/slice.h"

struct config_strings {
    size_t n;
    char **v;
};

struct config_journal {
    uint64_t keep_s; /* 0: no journal */
    uint64_t size;   /* bytes of all files */
    bool addresses;  /* of sender and recipients are kept */
    bool subjects;
    unsigned messages; /* the newest, that the hub can search; 0: none */
};

struct config_reports {
    uint64_t keep_s; /* age at which a report leaves the log */
    double
        spam_score; /* of what the administrator reports as spam; of others a share */
    double ham_score;
};

/* The MTA that holds mail for gillnet. */
enum quarantine_mta { QUARANTINE_AUTO, QUARANTINE_POSTFIX, QUARANTINE_SENDMAIL };
/* Which held messages a recipient may release by a link: none, those with no other recipient, or
 * all. */
enum quarantine_users {
    QUARANTINE_USERS_OFF,
    QUARANTINE_USERS_OWN,
    QUARANTINE_USERS_ANY
};
struct config_reader {
    char *socket; /* of gillnet-reader */
    bool ocr;     /* text in pictures is read */
};

struct config_quarantine {
    enum quarantine_mta mta;
    char *programs; /* folder of the MTA's programs */
    char
        *mta_config; /* folder of main.cf, or the file sendmail.cf; "": the MTA's own */
    char *socket;    /* of gillnet-queue */
    char *url;       /* before "/q/TOKEN"; "": no links */
    uint64_t link_expires_s;
    enum quarantine_users user_release;
    char *from;                    /* address of the digest's sender, or "" */
    char *template;                /* path, or "": the built-in text */
    struct config_strings domains; /* of recipients who get a digest; empty: all */
};

/* The companion service. */
struct config_hub {
    char *listen;         /* "auto", "off", "HOST:PORT" or "[IPV6]:PORT" */
    char *control_socket; /* path, never "": default STATE/peers/hub.ctl */
    struct config_strings
        connect;          /* members to call; empty: all that have an address */
    uint64_t bytes_per_s; /* of answers to one peer */
};
/* The store that the servers of one owner share: core/hub/shared. */
enum { STORE_PREFIX_MAX = 32, STORE_SERVERS_MAX = 32 };
enum store_kind { STORE_OFF, STORE_REDIS };
enum store_mode { STORE_SINGLE, STORE_SENTINEL, STORE_CLUSTER };
struct config_store {
    enum store_kind kind;
    enum store_mode mode;
    struct config_strings servers; /* HOST:PORT, [IPV6]:PORT or unix:/PATH */
    char *master;                  /* the name that the Sentinels know */
    char *user;                    /* "": the server's default user */
    char *password_file;           /* path, or "": no login */
    char *sentinel_user;
    char *sentinel_password_file;
    bool tls;
    char *tls_ca;   /* path, or "": the system's */
    char *tls_name; /* that all certificates must have; "": the host as addressed */
    char *tls_cert; /* path, or "": none is shown */
    char *tls_key;
    char *prefix;         /* of all keys there */
    uint64_t spool;       /* bytes of counts that wait for the store */
    uint64_t deadline_us; /* for the filter lines of a message */
    uint64_t fresh_s;     /* age up to which the store's counts may do harm */
};
/* Limits on the influence of peers; they never exceed those of the ring's manifest. */
struct config_peers {
    unsigned cap;          /* of one peer's counts in a verdict; 0: the manifest's */
    unsigned quorum;       /* peers that must have counted it; 0: the manifest's */
    unsigned quorum_lists; /* peers that must list it for more than a header */
    struct config_strings weights; /* "NAME=NUMBER"; see config_peer_weight */
};

/* A list of the world that is fetched by itself. */
struct config_feed {
    char *name; /* [a-z0-9_-]{1,32} */
    bool enabled;
    char *url;  /* http://, https://, file:///PATH */
    char *list; /* once loaded never "auto" */
    char *format;
    char *column;
    char *type; /* name of a feature type, or "" */
    uint64_t interval_s;
    char *user;
    char *password_file; /* path, or "" */
    struct config_strings headers;
    char *headers_file; /* path, or "" */
    char *proxy;
    char *ca_file; /* path, or "" */
    bool may_be_private;
    uint64_t bytes;    /* of one download */
    uint64_t expanded; /* after decompression */
    uint64_t timeout_s;
    unsigned entries;
    unsigned entries_min;
    double shrink; /* least share of the last good version; 0: any */
    double grow;   /* most times the last good version; 0: any */
    double bad;    /* most share of lines that cannot be read */
    double ham;    /* most share of good mail that one entry may hit */
    uint64_t keep_s;
    uint64_t silent_after_s; /* 0: never */
    unsigned versions;
};

/* Rights of a client of the HTTP API; each role has those of the roles before it too. */
enum api_role { API_NONE, API_READ, API_REPORT, API_MESSAGES, API_ADMIN, API_ROLES };
/* "none", "read", "report", "messages", "admin" */
const char *api_role_name(enum api_role r);
/* False: no such role. */
bool api_role_by_name(struct slice name, enum api_role *ret);
enum { API_USER_NAME_MAX = 64 }; /* bytes of a name in api.proxy_users */

/* The HTTP API, metrics and the status page. */
struct config_api {
    struct config_strings listen; /* "HOST:PORT", "[IPV6]:PORT" or "unix:/PATH" */
    char *tokens_file;            /* path */
    enum api_role local_role;     /* of loopback and Unix sockets without a token */
    char *certificate;            /* PEM file of the chain, or "" */
    char *key;                    /* PEM file, or "" */
    struct config_strings names;  /* by which browsers may call it, besides addresses */
    struct config_strings proxies;     /* "unix:LOGIN" or an address (api_proxy.h) */
    struct config_strings proxy_users; /* "NAME=ROLE" */
    uint64_t body_bytes;               /* of a request but scan */
    unsigned values;                   /* of one check */
    unsigned requests_per_s;           /* of one address that is not local */
    unsigned connections;
    char *allow_list; /* where POST /v1/allow puts its values */
};

struct config_limits {
    uint64_t message_bytes; /* bytes of attachments that are examined */
    uint64_t decoded_bytes; /* of text, and as many of attachments */
    uint64_t memory;        /* arena cap per message */
    unsigned headers;       /* header fields per message */
    uint64_t header_bytes;  /* all header fields together */
    uint64_t header_field;  /* one header field */
    unsigned parts;
    unsigned mime_depth;
    unsigned urls;             /* distinct URLs that are kept, counted and shown */
    unsigned recipients;       /* envelope recipients remembered */
    unsigned features;         /* kept, counted and shown */
    unsigned addresses;        /* of one header field, likewise */
    uint64_t attachment_bytes; /* of an attachment that is looked into */
    unsigned archive_entries;  /* of all archives of a message */
    uint64_t archive_bytes;    /* unpacked */
    unsigned archive_ratio;    /* of unpacked bytes to packed ones */
    unsigned archive_depth;    /* archives in archives */
    /* Fixed: bounds of arrays in other rooms, here to be shown. */
    unsigned url_bytes;
    unsigned boundary;
    unsigned readings;
    unsigned html_attributes;
    unsigned html_depth;
    unsigned html_base;
    unsigned unwrap;
    double score;            /* of a limit that honest mail never meets */
    uint64_t cpu_us;         /* CPU time of extraction for one message */
    uint64_t reader_us;      /* for all files of one message; 0: not asked */
    unsigned sessions;       /* connections at once; 0: half of the file descriptors */
    uint64_t session_idle_s; /* libmilter's timeout */
    unsigned confirm_cache;  /* answers of the index kept for each list */
};

/* When the built-in alerts fire. */
struct config_alerts {
    double false_positives; /* share of filter hits' error, see the page */
    uint64_t latency_us;    /* p99 of a message's end */
    double errors;          /* share of messages that met an error in gillnet */
    double memory;          /* share of the memory that may be used */
    double limits;          /* share of messages that may meet one limit */
    uint64_t interval_s;
};

/* A publisher whose lists are followed. */
struct config_subscription {
    char *name; /* [a-z0-9_-]{1,32}; peers.weights knows it by this name */
    struct config_strings urls;
    char *key;                   /* 64 hexadecimal digits */
    struct config_strings lists; /* "THEIRS" or "THEIRS=OURS" */
    uint64_t interval_s;
    unsigned entries; /* most of one list */
    double change;    /* share of a list that one update may change; 0: any */
};

/* How filters that are built lay out their bits; the numbers are those of enum bloom_layout. */
enum filter_layout {
    FILTER_ONE_LINE = 1,
    FILTER_TWO_LINES = 2,
    FILTER_CLASSIC = 3,
    FILTER_PARTITIONED = 4
};
/* The layout of that name; false when there is none. */
bool filter_layout_by_name(struct slice name, enum filter_layout *ret);

/* How the URLs of a list match; the numbers are those of enum url_match. */
enum list_url_match { LIST_URL_EXACT, LIST_URL_NORMAL, LIST_URL_FOLDED };
const char *list_url_match_name(enum list_url_match m); /* "exact", ... */

/* "THEIRS" or "THEIRS=OURS" of a subscription's lists. False: not of that form. */
bool config_subscription_map(const char *text, struct slice *rettheirs,
                             struct slice *retours);

#endif
