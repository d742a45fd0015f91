#include "core/text/address.h"
