#include "core/config/config.h"
