/*
 * tls - TLS 1.3 with both sides' keys pinned to the ring's manifest.
 *
 * A peer shows exactly one certificate: self-signed, Ed25519, valid now, for servers and clients;
 * its key is a signing key that the manifest names, now, of an active member. No authority, no
 * name, no session that is taken up again, no early data. Who asks for the name TLS_JOIN_NAME may
 * show any key of that form, while an invitation is open: the join route is all it reaches.
 * Depends: base, ring, OpenSSL.   Threads: one.   ADR 0034, threats 2.12.
 */
#ifndef CORE_HUB_EXCHANGE_TLS_H
#define CORE_HUB_EXCHANGE_TLS_H

#include <openssl/ssl.h>

#include "core/hub/exchange/node.h"

#define TLS_JOIN_NAME "join.gillnet"

enum { TLS_CERT_TEXT_MAX = 4096 /* bytes of a certificate's PEM */ };

/* Whom this side accepts. */
struct tls_pins {
    const struct node *node;        /* members of its manifest; NULL: key alone */
    const struct object_id *origin; /* this member alone; NULL: any */
    const uint8_t
        *key; /* the one key that is accepted, of a ring not joined yet; or NULL */
    bool (*may_join)(
        const struct node *); /* server: whether strangers may ask to join; or NULL */
    char why[128];            /* of the last refusal */
};

/* With the certificate and key of dir. pins is borrowed, and asked at every handshake. */
enum err tls_server_new(const char *dir, struct tls_pins *pins, SSL_CTX **ret,
                        struct errinfo *reterr);
/* Makes a client's context (of libcurl) one of ours: certificate and key of dir (NULL: none),
 * pins. */
enum err tls_client_set(SSL_CTX *ctx, const char *dir, struct tls_pins *pins,
                        struct errinfo *reterr);

/* The key of the certificate that the other side showed; false: none. */
bool tls_peer_key(const SSL *ssl, uint8_t ret[OBJECT_KEY_BYTES]);
/* The key of a certificate of a peer's form that a proxy of this server passes on: PEM, all but
 * letters, digits and "-._~" as %XX. false: it is none. */
bool tls_key_of_text(struct slice escaped, uint8_t ret[OBJECT_KEY_BYTES]);
/* Whether the other side asked for TLS_JOIN_NAME. */
bool tls_is_join(const SSL *ssl);

#endif
