#include "milter/negotiate.h"

#include "milter/libmilter.h"

static const unsigned long wanted_actions =
    SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_QUARANTINE;
static const unsigned long wanted_noreply =
    SMFIP_NR_CONN | SMFIP_NR_HELO | SMFIP_NR_MAIL | SMFIP_NR_RCPT | SMFIP_NR_DATA |
    SMFIP_NR_UNKN | SMFIP_NR_HDR | SMFIP_NR_EOH | SMFIP_NR_BODY;

void negotiate(unsigned long offered_actions, unsigned long offered_steps, bool is_inet,
               bool answers_connect, struct negotiation *ret)
{
    *ret = (struct negotiation){.actions = offered_actions & wanted_actions};
    ret->has_symlist = (offered_actions & SMFIF_SETSYMLIST) != 0;
    ret->options.actions = ret->actions;
    if (ret->has_symlist) {
        ret->actions |= SMFIF_SETSYMLIST;
    }
    unsigned long noreply = offered_steps & wanted_noreply;
    unsigned long unneeded = SMFIP_NOUNKNOWN;
    if (is_inet) {
        noreply &= ~(unsigned long)SMFIP_NR_DATA;
    } else {
        unneeded |= SMFIP_NODATA;
    }
    if (answers_connect) {
        noreply &= ~(unsigned long)SMFIP_NR_CONN;
    }
    ret->options.noreply = noreply;
    ret->options.may_skip = (offered_steps & SMFIP_SKIP) != 0;
    ret->steps = noreply | (offered_steps & (unneeded | SMFIP_SKIP));
}
