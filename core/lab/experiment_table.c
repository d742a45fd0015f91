/* experiment_table - the figures of Tables 3-10: mean and standard deviation for k = 4, 6, 8. */
#include "core/lab/experiment.h"

struct row {
    uint8_t experiment;
    uint8_t variant;
    uint32_t m;
    double mean[EXPERIMENT_K_COUNT];
    double std[EXPERIMENT_K_COUNT];
};

static const struct row rows[] = {
    {1,
     COUNTING_INTUITIVE,
     80000,
     {0.0239, 0.02154, 0.02548},
     {0.001556, 0.001485, 0.001559}},
    {1,
     COUNTING_INTUITIVE,
     160000,
     {0.002372, 0.0009446, 0.0005686},
     {0.0005013, 0.0002961, 0.0002375}},
    {1,
     COUNTING_INTUITIVE,
     320000,
     {0.000186, 2.57e-05, 4.5e-06},
     {0.0001381, 5.089e-05, 2.073e-05}},
    {1,
     COUNTING_REFINED,
     80000,
     {0.00584, 0.004167, 0.004316},
     {0.0007786, 0.0006633, 0.000643}},
    {1,
     COUNTING_REFINED,
     160000,
     {0.0005107, 0.0001591, 7.72e-05},
     {0.0002323, 0.000125, 8.637e-05}},
    {1,
     COUNTING_REFINED,
     320000,
     {3.45e-05, 3.1e-06, 3e-07},
     {5.692e-05, 1.733e-05, 5.469e-06}},
    {2,
     COUNTING_REFINED,
     80000,
     {0.005612, 0.004069, 0.004213},
     {0.0007312, 0.0006433, 0.0006214}},
    {2,
     COUNTING_REFINED,
     160000,
     {0.0005068, 0.0001587, 7.71e-05},
     {0.0002295, 0.0001243, 8.629e-05}},
    {2,
     COUNTING_REFINED,
     320000,
     {3.45e-05, 3.1e-06, 3e-07},
     {5.692e-05, 1.733e-05, 5.469e-06}},
    {3,
     COUNTING_REFINED,
     80000,
     {0.01875, 0.01538, 0.01707},
     {0.001392, 0.001266, 0.001292}},
    {3,
     COUNTING_REFINED,
     160000,
     {0.001789, 0.0006278, 0.0003482},
     {0.0004265, 0.0002378, 0.0001871}},
    {3,
     COUNTING_REFINED,
     320000,
     {0.000135, 1.63e-05, 2.7e-06},
     {0.000116, 4.08e-05, 1.621e-05}},
    {4,
     COUNTING_INTUITIVE,
     80000,
     {0.02019, 0.01723, 0.01964},
     {0.001734, 0.001554, 0.001608}},
    {4,
     COUNTING_INTUITIVE,
     160000,
     {0.001955, 0.0007178, 0.0004059},
     {0.0005295, 0.000299, 0.000244}},
    {4,
     COUNTING_INTUITIVE,
     320000,
     {0.000153, 1.733e-05, 2.662e-06},
     {0.0001426, 4.976e-05, 1.838e-05}},
    {4,
     COUNTING_REFINED,
     80000,
     {0.005381, 0.003231, 0.002929},
     {0.0007781, 0.0005685, 0.0005193}},
    {4,
     COUNTING_REFINED,
     160000,
     {0.0004491, 0.0001096, 4.738e-05},
     {0.000214, 9.725e-05, 6.371e-05}},
    {4,
     COUNTING_REFINED,
     320000,
     {3.179e-05, 1.611e-06, 1.501e-07},
     {5.712e-05, 1.268e-05, 3.049e-06}},
    {5,
     COUNTING_REFINED,
     80000,
     {0.005982, 0.003952, 0.00381},
     {0.0008812, 0.0007073, 0.0006532}},
    {5,
     COUNTING_REFINED,
     160000,
     {0.0005211, 0.0001446, 6.395e-05},
     {0.0002511, 0.0001266, 8.661e-05}},
    {5,
     COUNTING_REFINED,
     320000,
     {3.622e-05, 2.853e-06, 2.402e-07},
     {6.495e-05, 1.851e-05, 4.379e-06}},
    {6,
     COUNTING_INTUITIVE,
     80000,
     {0.02394, 0.02155, 0.02546},
     {0.001643, 0.001563, 0.001635}},
    {6,
     COUNTING_INTUITIVE,
     160000,
     {0.002374, 0.0009459, 0.0005655},
     {0.0005269, 0.0003145, 0.0002521}},
    {6,
     COUNTING_INTUITIVE,
     320000,
     {0.0001862, 2.608e-05, 4.178e-06},
     {0.0001452, 5.405e-05, 2.013e-05}},
    {6,
     COUNTING_REFINED,
     80000,
     {0.01086, 0.007966, 0.008282},
     {0.001036, 0.0008512, 0.00085}},
    {6,
     COUNTING_REFINED,
     160000,
     {0.0009937, 0.0002917, 0.0001536},
     {0.0003134, 0.0001565, 0.0001151}},
    {6,
     COUNTING_REFINED,
     320000,
     {7.208e-05, 7.613e-06, 9.843e-07},
     {8.158e-05, 2.494e-05, 8.584e-06}},
    {7,
     COUNTING_INTUITIVE,
     80000,
     {0.02392, 0.02155, 0.02549},
     {0.001576, 0.001524, 0.00159}},
    {7,
     COUNTING_INTUITIVE,
     160000,
     {0.002373, 0.0009452, 0.0005683},
     {0.0005169, 0.0003002, 0.0002418}},
    {7,
     COUNTING_INTUITIVE,
     320000,
     {0.0001866, 2.555e-05, 4.735e-06},
     {0.0001405, 5.17e-05, 2.216e-05}},
    {7,
     COUNTING_REFINED,
     80000,
     {0.01365, 0.01038, 0.01109},
     {0.001174, 0.001007, 0.001045}},
    {7,
     COUNTING_REFINED,
     160000,
     {0.001254, 0.0004058, 0.0002067},
     {0.0003553, 0.0001913, 0.0001361}},
    {7,
     COUNTING_REFINED,
     320000,
     {9.578e-05, 1.007e-05, 1.72e-06},
     {9.939e-05, 3.038e-05, 1.285e-05}},
    {8,
     COUNTING_INTUITIVE,
     80000,
     {0.02205, 0.01946, 0.02261},
     {0.00174, 0.001621, 0.001741}},
    {8,
     COUNTING_INTUITIVE,
     160000,
     {0.002155, 0.0008327, 0.000481},
     {0.0005596, 0.0003309, 0.0002587}},
    {8,
     COUNTING_INTUITIVE,
     240000,
     {0.0004903, 0.0001057, 3.133e-05},
     {0.0002565, 0.0001217, 6.818e-05}},
    {8,
     COUNTING_INTUITIVE,
     320000,
     {0.0001704, 2.136e-05, 3.146e-06},
     {0.000158, 5.376e-05, 2.048e-05}},
    {8,
     COUNTING_INTUITIVE,
     640000,
     {1.104e-05, 5.302e-07, 0.0},
     {4.113e-05, 8.76e-06, 0.0}},
    {8,
     COUNTING_REFINED,
     80000,
     {0.005866, 0.003586, 0.003353},
     {0.0008001, 0.0005756, 0.0005255}},
    {8,
     COUNTING_REFINED,
     160000,
     {0.0005153, 0.0001207, 5.434e-05},
     {0.0002283, 0.000105, 6.651e-05}},
    {8,
     COUNTING_REFINED,
     240000,
     {0.0001094, 1.439e-05, 2.302e-06},
     {0.0001038, 3.496e-05, 1.283e-05}},
    {8,
     COUNTING_REFINED,
     320000,
     {3.975e-05, 3.332e-06, 3.635e-07},
     {6.504e-05, 1.639e-05, 4.467e-06}},
    {8,
     COUNTING_REFINED,
     640000,
     {2.585e-06, 6.564e-08, 0.0},
     {1.483e-05, 1.305e-06, 0.0}},
};

enum { TABLE_OF_FIRST = 3 };

const unsigned experiment_ks[EXPERIMENT_K_COUNT] = {4, 6, 8};

/* The intuitive column stands once for experiments that differ in the order alone. */
static unsigned experiment_of_column(unsigned number, enum counting_variant variant)
{
    if (variant == COUNTING_REFINED) {
        return number;
    }
    if (number == 2 || number == 3) {
        return 1;
    }
    return number == 5 ? 4 : number;
}

bool experiment_published(unsigned number, enum counting_variant variant, uint32_t m,
                          unsigned k, struct experiment_published *ret)
{
    unsigned there = experiment_of_column(number, variant);

    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct row *r = &rows[i];
        for (unsigned at = 0; at < EXPERIMENT_K_COUNT; at++) {
            if (r->experiment == there && r->variant == variant && r->m == m &&
                experiment_ks[at] == k) {
                *ret = (struct experiment_published){.table = there - EXPERIMENT_FIRST +
                                                              TABLE_OF_FIRST,
                                                     .mean = r->mean[at],
                                                     .std = r->std[at]};
                return true;
            }
        }
    }
    return false;
}

size_t experiment_sizes(unsigned number, uint32_t ret[EXPERIMENT_SIZES_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (rows[i].experiment == number && rows[i].variant == COUNTING_REFINED) {
            ret[n++] = rows[i].m;
        }
    }
    return n;
}
