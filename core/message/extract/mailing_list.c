#include "core/message/extract/mailing_list.h"

#include "core/base/digest.h"
#include "core/message/url/host.h"

void mailing_list_id(struct mailing_list *l, struct slice id)
{
    if (id.n > 0 && !l->has_id) {
        l->has_id = true;
        l->hash = hash_local(id);
    }
}

void mailing_list_address(struct mailing_list *l, struct slice value)
{
    if (l->hash == 0) {
        l->hash = hash_local(slice_trim(value));
    }
}

void mailing_list_precedence(struct mailing_list *l, struct slice value)
{
    value = slice_trim(value);
    l->is_bulk = slice_eq_nocase(value, SLICE_LIT("bulk")) ||
                 slice_eq_nocase(value, SLICE_LIT("list"));
}

uint64_t mailing_list_key(const struct mailing_list *l, const struct featureset *set)
{
    uint64_t name = l->hash;
    if (name == 0 && !l->is_bulk) {
        return 0;
    }
    const struct feature *from = featureset_first(set, FEATURE_from);
    const struct feature *client = featureset_first(set, FEATURE_client_name);
    const struct feature *net = featureset_first(set, FEATURE_client_net);
    struct slice where = net != NULL ? net->text : SLICE_NONE;
    if (name == 0 && from != NULL) {
        name = hash_local(from->text);
    }
    if (client != NULL) {
        where = host_registrable(client->text);
    }
    return name != 0 ? name ^ (hash_local(where) >> 1) : 0;
}
