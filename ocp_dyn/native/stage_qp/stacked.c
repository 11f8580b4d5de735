/* All stages at once, from arrays with a row for every stage: the calls of Python. */
#include "memory.h"

#if defined(__GNUC__)
#define API __attribute__((visibility("default")))
#else
#define API
#endif

static void results(const struct stage_qp_sizes *sizes, const double *memory, const struct stage_qp_result *r,
                    double *z, double *measures)
{
    measures[0] = r->iterations, measures[1] = r->replaced, measures[2] = r->relaxed, measures[3] = r->primal;
    measures[4] = r->dual, measures[5] = r->complementarity, measures[6] = r->unmet;
    for (int k = 0; k < 3; k++) measures[7 + k] = r->scale[k];
    for (int k = 0; k <= sizes->stages; k++) stage_qp_z(sizes, memory, k, z + (long)k * (sizes->nx + sizes->nu));
}

/* Arrays in the order of struct stage_qp_stage, h last; those with N rows: E, e, F, b, h. Returns a status. */
API int stage_qp_stacked(const int *numbers, double *memory, const double *const *arrays, const double *x0,
                         const double *settings, double *z, double *measures)
{
    const struct stage_qp_sizes sizes = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    const struct stage_qp_options o = {(int)settings[0], settings[1] != 0, settings[2], settings[3]};
    struct stage_qp_result r;
    const int nz = sizes.nx + sizes.nu, nx = sizes.nx, m = sizes.rows, ne = sizes.equalities;
    int status = STAGE_QP_SOLVED;
    for (long k = 0; k <= sizes.stages; k++) {
        const struct stage_qp_stage s = {
            arrays[0] + k * nz, arrays[1] + k * nz, arrays[2] + k * m * nz, arrays[3] + k * m, arrays[4] + k * m,
            arrays[5] + k * m, arrays[6] + k * m, arrays[7] + k * m, arrays[8] + k * nz, arrays[9] + k * nz,
            arrays[10] + k * nz, arrays[11] + k * ne * nz, arrays[12] + k * ne,
            arrays[13] ? arrays[13] + k * nx * nz : 0, arrays[14] + k * nx, arrays[15],
            k < sizes.stages ? arrays[16][k] : 0};
        int loaded = stage_qp_load(&sizes, memory, (int)k, &s);
        if (loaded) status = loaded;
    }
    if (status) {
        for (int k = 0; k < 10; k++) measures[k] = 0;
        return status;
    }
    status = stage_qp_solve(&sizes, memory, x0, &o, &r);
    results(&sizes, memory, &r, z, measures);
    return status;
}

/* The answer to another first state, see stage_qp_feedback. */
API int stage_qp_stacked_feedback(const int *numbers, double *memory, const double *x0, const double *settings,
                                  double *z, double *measures)
{
    const struct stage_qp_sizes sizes = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    const struct stage_qp_options o = {(int)settings[0], settings[1] != 0, settings[2], settings[3]};
    struct stage_qp_result r;
    int status = stage_qp_feedback(&sizes, memory, x0, &o, &r);
    if (status < STAGE_QP_NOT_FINITE) stage_qp_follow(&sizes, memory);
    results(&sizes, memory, &r, z, measures);
    return status;
}

/* Gains, violations or multipliers of a stage: what = 0, 1, 2. */
API void stage_qp_stacked_get(const int *numbers, double *memory, int what, int k, double *out)
{
    const struct stage_qp_sizes sizes = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    if (what == 0) stage_qp_gains(&sizes, memory, k, out);
    if (what == 1) stage_qp_violations(&sizes, memory, k, out);
    if (what == 2) stage_qp_multipliers(&sizes, memory, k, out);
}

API void stage_qp_stacked_shift(const int *numbers, double *memory, int steps)
{
    const struct stage_qp_sizes sizes = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    stage_qp_shift(&sizes, memory, steps);
}

/* Numbers of memory for these sizes, prepared if memory is not null; 0 if sizes are out of range. */
API long stage_qp_stacked_begin(const int *numbers, double *memory)
{
    const struct stage_qp_sizes sizes = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    if (memory) stage_qp_init(&sizes, memory);
    return stage_qp_numbers(&sizes);
}
