/*
 * traffic - the model of a site's mail for benches; `gillnet simulate` has it too, so it lives in
 * core/filter.
 */
#ifndef TESTS_BENCH_TRAFFIC_H
#define TESTS_BENCH_TRAFFIC_H

#include "core/filter/traffic.h" /* IWYU pragma: export */

#endif
