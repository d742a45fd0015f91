#include "core/feed/feed.h"
