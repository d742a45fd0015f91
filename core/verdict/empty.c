#include "core/verdict/verdict.h"
