#include "core/mail/mail.h"
