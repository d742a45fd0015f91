#include "core/span/span.h"

int main(void)
{
    return span_common(1, 5, 3, 9) == 2 && span_common(8, 9, 3, 4) == 0 &&
                   span_common(3, 9, 1, 5) == 2 && span_digits(7) == 1 &&
                   span_digits(123) == 3
               ? 0
               : 1;
}
