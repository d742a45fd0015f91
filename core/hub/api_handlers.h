/*
 * api_handlers - what answers each route of api_route.def.
 */
#ifndef CORE_HUB_API_HANDLERS_H
#define CORE_HUB_API_HANDLERS_H

#include "core/hub/api_own.h"

#define API_ROUTE(path, method, role, rank, body, kind, type, handler) \
    void handler(struct api_call *call);
#include "core/hub/api_route.def"
#undef API_ROUTE

#endif
