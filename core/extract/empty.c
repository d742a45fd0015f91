#include "core/extract/extract.h"
