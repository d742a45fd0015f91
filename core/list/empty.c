#include "core/list/list.h"
