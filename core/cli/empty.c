#include "core/cli/cli.h"
