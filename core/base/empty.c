#include "core/base/arena.h"
