#include "core/message/trait/sender_name.h"

#include "core/message/text/charset.h"
#include "core/message/trait/look.h"
#include "core/message/trait/subject_trait.h"
#include "core/message/url/address.h"
#include "core/message/url/find.h"
#include "core/message/url/url.h"

struct claim {
    struct arena *scratch;
    struct slice own; /* registrable domain of the address */
    struct traits *ret;
};

static void claims_address(struct claim *c, struct slice text)
{
    struct address a;
    if (address_parse(c->scratch, text, &a) == ERR_OK) {
        struct slice domain = host_registrable(a.domain);
        traits_note(c->ret, TRAIT_name_address_elsewhere,
                    domain.n > 0 && !slice_eq(domain, c->own));
    }
}

/* "Shop.co.uk" may write from shop.com. */
static void claims_host(struct claim *c, struct slice text)
{
    struct url url;
    if (url_parse(c->scratch, text, &url) == ERR_OK && url.host.kind == HOST_NAME &&
        host_has_listed_suffix(url.host.text)) {
        struct slice domain = host_registrable(url.host.text);
        traits_note(c->ret, TRAIT_name_host_elsewhere,
                    domain.n > 0 && !look_is_same_owner(domain, c->own));
    }
}

static void on_claim(void *context, const struct find *find)
{
    struct claim *c = context;
    if (find->kind == FIND_ADDRESS) {
        claims_address(c, find->text);
    } else if (find->kind == FIND_URL) {
        claims_host(c, find->text);
    } else {
        /* a word with a dot */
    }
}

void sender_name_traits(struct arena *scratch, struct slice raw, struct slice name,
                        struct slice domain, struct traits *ret)
{
    struct claim c = {.scratch = scratch, .own = host_registrable(domain), .ret = ret};
    if (slice_find(name, '.') < name.n) { /* no address and no host is without */
        find_in_text(name, FIND_IN_PROSE, on_claim, &c);
    }
    bool is_ascii = charset_is_ascii(name);
    traits_note(ret, TRAIT_name_encoded,
                is_ascii && slice_find_slice(raw, SLICE_LIT("=?")) < raw.n);
    traits_note(ret, TRAIT_name_folded, !is_ascii && subject_is_folded(name));
}
