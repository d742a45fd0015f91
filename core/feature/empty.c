#include "core/feature/feature.h"
