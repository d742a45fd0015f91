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
    bool
        has_via; /* "ann@shop.com via List": a mailing list or a relay says whose mail it sends */
    struct traits *ret;
};

static void claims_address(struct claim *c, struct slice text)
{
    struct address a;
    if (!c->has_via && address_parse(c->scratch, text, &a) == ERR_OK) {
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
    struct claim c = {.scratch = scratch,
                      .own = host_registrable(domain),
                      .has_via = slice_find_slice(name, SLICE_LIT(" via ")) < name.n ||
                                 slice_find_slice(name, SLICE_LIT("[via ")) < name.n,
                      .ret = ret};
    if (slice_find(name, '.') < name.n) { /* each address and host has one */
        find_in_text(name, FIND_IN_PROSE, on_claim, &c);
    }
    bool is_ascii = charset_is_ascii(name);
    traits_note(ret, TRAIT_name_encoded,
                is_ascii && slice_find_slice(raw, SLICE_LIT("=?")) < raw.n);
    traits_note(ret, TRAIT_name_folded, !is_ascii && subject_is_folded(name));
}

struct slice sender_name_broken(struct slice field)
{
    bool is_quoted = false;
    bool is_list = false;
    size_t angle = 0;
    for (size_t i = 0; i < field.n; i++) {
        char c = field.p[i];
        is_quoted = is_quoted != (c == '"');
        is_list = is_list || (!is_quoted && (c == ',' || c == ';'));
        angle = c == '<' && !is_quoted ? i : angle;
    }
    return is_list ? slice_trim(slice_head(field, angle)) : SLICE_NONE;
}
