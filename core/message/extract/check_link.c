/* check_link - where the links and forms of a message lead, beside who says that he wrote it. */
#include "core/message/extract/check.h"
#include "core/message/trait/look.h"
#include "core/message/url/host.h"

/* Documents name these as the names of their forms; they are no links. */
static bool is_of_schema(struct slice domain)
{
    static const char *const domains[] = {"w3.org", "microsoft.com",
                                          "openxmlformats.org", "purl.org"};
    return name_index(domain, domains, LENGTH(domains)) >= 0;
}

static bool has_own_link(const struct facts *facts)
{
    return facts->has_html ? facts->has_own_link_in_html : facts->has_own_link_in_plain;
}

/* How many domains and addresses the links lead to; 0 if one of them is the sender's, or there is
 * no sender. */
static size_t count_elsewhere(const struct facts *facts)
{
    size_t n = facts_count(facts, FEATURE_url_ip);
    bool has_domain = facts_count(facts, FEATURE_url_domain) > 0;
    if (facts_count(facts, FEATURE_from_domain) == 0) {
        return 0;
    }
    for (size_t i = 0; has_domain && i < featureset_count(facts->set); i++) {
        const struct feature *f = featureset_at(facts->set, i);
        if (f->type == FEATURE_url_domain && !is_of_schema(f->text)) {
            if (!facts_is_of_sender(facts->set, f->text)) {
                n++;
            } else if (has_own_link(facts)) {
                return 0;
            } else {
                /* it is nowhere to be seen */
            }
        }
    }
    return n;
}

bool check_links_elsewhere(const struct facts *facts)
{
    return count_elsewhere(facts) > 0;
}

bool check_links_one_elsewhere(const struct facts *facts)
{
    return count_elsewhere(facts) == 1;
}

bool check_links_of_replies(const struct facts *facts)
{
    const struct feature *reply = facts_first(facts, FEATURE_reply_to_domain);
    bool has_domain = facts_count(facts, FEATURE_url_domain) > 0;
    for (size_t i = 0; has_domain && i < featureset_count(facts->set); i++) {
        const struct feature *f = featureset_at(facts->set, i);
        if (f->type == FEATURE_url_domain && !is_of_schema(f->text) &&
            (reply == NULL || !look_is_same_owner(reply->text, f->text))) {
            return false;
        }
    }
    return has_domain && reply != NULL;
}

bool check_form_elsewhere(const struct facts *facts)
{
    bool has_form = facts_count(facts, FEATURE_form_host) > 0;
    for (size_t i = 0; has_form && i < featureset_count(facts->set); i++) {
        const struct feature *f = featureset_at(facts->set, i);
        if (f->type == FEATURE_form_host) {
            struct slice domain = host_registrable(f->text);
            if (domain.n == 0 || !facts_is_of_sender(facts->set, domain)) {
                return true;
            }
        }
    }
    return false;
}
