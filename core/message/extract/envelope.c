/* envelope - features of the SMTP session: client, HELO, sender, recipients. */
#include "core/message/extract/extract_internal.h"
#include "core/message/feature/network.h"
#include "core/message/url/address.h"
#include "core/message/url/host.h"

enum { CLIENT_NET_V4 = 24, CLIENT_NET_V6 = 48 };

void extract_add_mail_from(struct extract *x, struct slice address)
{
    struct address a;
    x->has_mail_from = true;
    if (address_parse(x->scratch, address, &a) == ERR_OK) {
        extract_add_address(x, FEATURE_envelope_from, FEATURE_envelope_domain, a.text,
                            a.domain);
    }
    arena_reset(x->scratch);
}

void extract_client(struct extract *x, const uint8_t addr[16], struct slice name)
{
    if (x->finished) {
        return;
    }
    if (addr != NULL) {
        unsigned length = host_ip_is_v4(addr) ? CLIENT_NET_V4 : CLIENT_NET_V6;
        char text[HOST_IP_TEXT];
        featureset_add(x->set, FEATURE_client_ip, host_ip_text(addr, text));
        featureset_add(x->set, FEATURE_client_net,
                       feature_network_text(x->scratch, addr, length));
    }
    struct host host;
    /* Without a verified name the MTA gives "[192.0.2.1]" or "unknown". */
    if (!slice_has_prefix(name, SLICE_LIT("[")) &&
        !slice_eq_nocase(name, SLICE_LIT("unknown")) &&
        host_parse(x->scratch, name, &host) == ERR_OK && host.kind == HOST_NAME) {
        featureset_add(x->set, FEATURE_client_name, host.text);
    }
    arena_reset(x->scratch);
}

void extract_helo(struct extract *x, struct slice helo)
{
    if (x->finished) {
        return;
    }
    helo = slice_trim(helo);
    if (helo.n > 2 && helo.p[0] == '[' && helo.p[helo.n - 1] == ']') {
        helo = slice_of(helo.p + 1, helo.n - 2);
        if (slice_has_prefix_nocase(helo, SLICE_LIT("IPv6:"))) {
            helo = slice_from(helo, sizeof "IPv6:" - 1);
        }
    }
    uint8_t addr[16];
    char text[HOST_IP_TEXT];
    struct host host;
    if (host_ip_parse(helo, addr)) {
        featureset_add(x->set, FEATURE_helo, host_ip_text(addr, text));
    } else if (host_parse(x->scratch, helo, &host) == ERR_OK) {
        featureset_add(x->set, FEATURE_helo, host.text);
    }
    arena_reset(x->scratch);
}

void extract_mail_from(struct extract *x, struct slice address)
{
    if (!x->finished) {
        extract_add_mail_from(x, address);
    }
}

void extract_rcpt_to(struct extract *x, struct slice address)
{
    struct address a;
    if (x->finished) {
        return;
    }
    if (x->nrecipients >= x->limits.recipients) {
        featureset_set_limit(x->set, LIMIT_FLAG(recipients));
        return;
    }
    x->nrecipients++;
    if (x->recipients == NULL) {
        x->recipients =
            arena_array(x->arena, EXTRACT_RECIPIENTS, sizeof(x->recipients[0]));
    }
    if (x->recipients != NULL && x->nkept < EXTRACT_RECIPIENTS &&
        address_parse(x->scratch, address, &a) == ERR_OK) {
        struct slice copy = arena_copy(x->arena, a.text);
        x->recipients[x->nkept] = copy;
        x->nkept += copy.n > 0;
    }
    arena_reset(x->scratch);
}

size_t extract_recipients(const struct extract *x, const struct slice **ret)
{
    *ret = x->recipients;
    return x->nkept;
}
