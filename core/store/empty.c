#include "core/store/index.h"
