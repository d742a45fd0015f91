#include "core/hub/api/own_session.h"

#include <openssl/crypto.h>
#include <pthread.h>

#include "core/base/checksum.h"
#include "core/base/hash256.h"
#include "core/base/random.h"

enum { TOKEN_BYTES = (OWN_TOKEN_SIZE - 1) / 2, US_PER_S = 1000000 };

struct own_session {
    char hash[SHA256_HEX + 1]; /* "": none */
    char recipient[OWN_RECIPIENT_SIZE];
    uint64_t until_us;
    unsigned changes;
};

struct own_sessions {
    pthread_mutex_t mutex; /* guards v */
    struct own_session v[OWN_SESSIONS];
};

struct own_sessions *own_sessions_new(void)
{
    struct own_sessions *s = calloc(1, sizeof(*s));

    if (s != NULL && pthread_mutex_init(&s->mutex, NULL) != 0) {
        free(s);
        return NULL;
    }
    return s;
}

void own_sessions_free(struct own_sessions **s)
{
    if (*s != NULL) {
        (void)pthread_mutex_destroy(&(*s)->mutex);
        free(*s);
        *s = NULL;
    }
}

static bool hash_token(const char *use, struct slice token, char ret[SHA256_HEX + 1])
{
    struct sha256 sum;

    if (sha256_init(&sum) != ERR_OK) {
        return false;
    }
    sha256_add(&sum, slice_str(use));
    sha256_add(&sum, token);
    sha256_final_hex(&sum, ret);
    return true;
}

/* With the mutex. All are compared, so that the time does not depend on the token. */
static struct own_session *find_session(struct own_sessions *s, struct slice token)
{
    char hash[SHA256_HEX + 1];
    struct own_session *found = NULL;

    if (!hash_token("session ", token, hash)) {
        return NULL;
    }
    for (size_t i = 0; i < OWN_SESSIONS; i++) {
        if (CRYPTO_memcmp(hash, s->v[i].hash, SHA256_HEX) == 0) {
            found = &s->v[i];
        }
    }
    return found;
}

bool own_session_open(struct own_sessions *s, const char *recipient, uint64_t now_us,
                      char rettoken[OWN_TOKEN_SIZE])
{
    uint8_t secret[TOKEN_BYTES];
    char hash[SHA256_HEX + 1];
    struct own_session *place = &s->v[0];

    random_bytes(secret, sizeof(secret));
    hex_print(secret, sizeof(secret), rettoken);
    explicit_bzero(secret, sizeof(secret));
    if (strlen(recipient) >= OWN_RECIPIENT_SIZE ||
        !hash_token("session ", slice_str(rettoken), hash)) {
        return false;
    }
    (void)pthread_mutex_lock(&s->mutex);
    for (size_t i = 1; i < OWN_SESSIONS; i++) {
        place = s->v[i].until_us < place->until_us ? &s->v[i] : place;
    }
    *place =
        (struct own_session){.until_us = now_us + (uint64_t)OWN_SESSION_S * US_PER_S};
    memcpy(place->hash, hash, sizeof(hash));
    memcpy(place->recipient, recipient, strlen(recipient) + 1);
    (void)pthread_mutex_unlock(&s->mutex);
    return true;
}

bool own_session_find(struct own_sessions *s, struct slice token, uint64_t now_us,
                      char retrecipient[OWN_RECIPIENT_SIZE])
{
    (void)pthread_mutex_lock(&s->mutex);
    const struct own_session *found = find_session(s, token);
    const bool is_open = found != NULL && found->until_us > now_us;

    if (is_open) {
        memcpy(retrecipient, found->recipient, OWN_RECIPIENT_SIZE);
    }
    (void)pthread_mutex_unlock(&s->mutex);
    return is_open;
}

bool own_session_take_change(struct own_sessions *s, struct slice token)
{
    (void)pthread_mutex_lock(&s->mutex);
    struct own_session *found = find_session(s, token);
    const bool may = found != NULL && found->changes < OWN_CHANGES;

    if (may) {
        found->changes++;
    }
    (void)pthread_mutex_unlock(&s->mutex);
    return may;
}

void own_session_close(struct own_sessions *s, struct slice token)
{
    (void)pthread_mutex_lock(&s->mutex);
    struct own_session *found = find_session(s, token);

    if (found != NULL) {
        *found = (struct own_session){.until_us = 0};
    }
    (void)pthread_mutex_unlock(&s->mutex);
}

bool own_session_key(struct slice token, char ret[OWN_TOKEN_SIZE])
{
    return hash_token("form ", token, ret);
}
