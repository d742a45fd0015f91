#include "core/filter/bloom.h"
