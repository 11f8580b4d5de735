/* Evaluation of tapes for many instances, in batches of four or eight.

   All numbers of a batch lie in one work array with a lane for every instance: constants, inputs, and places of values,
   which are used again after the last use of a value. */

#include <math.h>
#include <string.h>

#include "tape.h"

typedef double V4 __attribute__((vector_size(4 * sizeof(double))));
typedef double V8 __attribute__((vector_size(8 * sizeof(double))));

static const double NOUGHT[8] __attribute__((aligned(64))) = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0};

/* One value by an operation that is not worth a loop of its own. */
static void other(int op, int lanes, double *y, const double *a, const double *b)
{
    int l;
#define EACH(expression) for (l = 0; l < lanes; ++l) y[l] = expression; break
    switch (op) {
    case LT: EACH(a[l] < b[l] ? 1.0 : 0.0);
    case LE: EACH(a[l] <= b[l] ? 1.0 : 0.0);
    case EQ: EACH(a[l] == b[l] ? 1.0 : 0.0);
    case NE: EACH(a[l] != b[l] ? 1.0 : 0.0);
    case NOT: EACH(a[l] == 0.0 ? 1.0 : 0.0);
    case AND: EACH(a[l] != 0.0 && b[l] != 0.0 ? 1.0 : 0.0);
    case OR: EACH(a[l] != 0.0 || b[l] != 0.0 ? 1.0 : 0.0);
    case FABS: EACH(fabs(a[l]));
    case SIGN: EACH(a[l] > 0.0 ? 1.0 : a[l] < 0.0 ? -1.0 : a[l]);
    case FMIN: EACH(a[l] < b[l] ? a[l] : b[l] == b[l] ? b[l] : a[l]);
    case FMAX: EACH(a[l] > b[l] ? a[l] : b[l] == b[l] ? b[l] : a[l]);
    case SQRT: EACH(sqrt(a[l]));
    case SIN: EACH(sin(a[l]));
    case COS: EACH(cos(a[l]));
    case TAN: EACH(tan(a[l]));
    case ASIN: EACH(asin(a[l]));
    case ACOS: EACH(acos(a[l]));
    case ATAN: EACH(atan(a[l]));
    case EXP: EACH(exp(a[l]));
    case LOG: EACH(log(a[l]));
    case SINH: EACH(sinh(a[l]));
    case COSH: EACH(cosh(a[l]));
    case TANH: EACH(tanh(a[l]));
    case ASINH: EACH(asinh(a[l]));
    case ACOSH: EACH(acosh(a[l]));
    case ATANH: EACH(atanh(a[l]));
    case FLOOR: EACH(floor(a[l]));
    case CEIL: EACH(ceil(a[l]));
    case ERF: EACH(erf(a[l]));
    case LOG1P: EACH(log1p(a[l]));
    case EXPM1: EACH(expm1(a[l]));
    case POW: EACH(pow(a[l], b[l]));
    case FMOD: EACH(fmod(a[l], b[l]));
    case REMAINDER: EACH(remainder(a[l], b[l]));
    case COPYSIGN: EACH(copysign(a[l], b[l]));
    case ATAN2: EACH(atan2(a[l], b[l]));
    default: EACH(hypot(a[l], b[l]));
    }
}

#define NAME four
#define T V4
#define INDEX uint16_t
#include "loops.h"

#define NAME eight
#define T V8
#define INDEX uint16_t
#include "loops.h"

#define NAME four_wide
#define T V4
#define INDEX uint32_t
#include "loops.h"

#define NAME eight_wide
#define T V8
#define INDEX uint32_t
#include "loops.h"

/* A function of several instances: their rows of inputs and outputs, one array for each input and output. */
typedef struct {
    const char *tape;
    int64_t instances, inputs, outputs;
    const double *const *in;
    const int64_t *in_size;
    double *const *out;
    const int64_t *out_size;
} Job;

/* Rows of inputs are copied some columns at a time, whose lanes stay in the nearest cache. */
enum { COLUMNS = 8 };

static void take_inputs(const Job *job, int64_t start, int used, int lanes, double *x)
{
    int64_t i, k, c;
    int l;
    for (i = 0; i < job->inputs; ++i) {
        const int64_t size = job->in_size[i];
        for (k = 0; k < size; k += COLUMNS)
            for (l = 0; l < lanes; ++l) { /* unused lanes repeat the first instance */
                const double *row = job->in[i] + (start + (l < used ? l : 0)) * size;
                for (c = k; c < size && c < k + COLUMNS; ++c) x[c * lanes + l] = row[c];
            }
        x += size * lanes;
    }
}

#if defined(__clang__) || __GNUC__ >= 12
#define MIXED(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
typedef int64_t Indices __attribute__((vector_size(4 * sizeof(int64_t))));
#define MIXED(a, b, i, j, k, l) __builtin_shuffle(a, b, (Indices){i, j, k, l})
#endif

/* Transposes four values of four lanes: `rows` rows of four numbers, `size` numbers apart. */
static void give_square(const V4 *a, const V4 *b, const V4 *c, const V4 *d, double *row, int64_t size, int rows)
{
    const V4 ab = MIXED(*a, *b, 0, 4, 2, 6), AB = MIXED(*a, *b, 1, 5, 3, 7);
    const V4 cd = MIXED(*c, *d, 0, 4, 2, 6), CD = MIXED(*c, *d, 1, 5, 3, 7);
    const V4 turned[4] = {MIXED(ab, cd, 0, 1, 4, 5), MIXED(AB, CD, 0, 1, 4, 5), MIXED(ab, cd, 2, 3, 6, 7),
                          MIXED(AB, CD, 2, 3, 6, 7)};
    memcpy(row, &turned[0], sizeof(V4));
    if (rows > 1) memcpy(row + size, &turned[1], sizeof(V4));
    if (rows > 2) memcpy(row + 2 * size, &turned[2], sizeof(V4));
    if (rows > 3) memcpy(row + 3 * size, &turned[3], sizeof(V4));
}

static void give_outputs(const Job *job, int64_t start, int used, int lanes, const int32_t *entry, const double *w)
{
    int64_t j, k;
    int l;
    for (j = 0; j < job->outputs; ++j) {
        const int64_t size = job->out_size[j];
        for (k = 0; k + 4 <= size; k += 4)
            for (l = 0; l < used; l += 4) {
                const double *lane = w + l;
                double *row = job->out[j] + (start + l) * size + k;
#define PLACE(i) (const V4 *)(const void *)(lane + (int64_t)entry[k + i] * lanes)
                give_square(PLACE(0), PLACE(1), PLACE(2), PLACE(3), row, size, used - l);
            }
        for (; k < size; ++k)
            for (l = 0; l < used; ++l) job->out[j][(start + l) * size + k] = w[(int64_t)entry[k] * lanes + l];
        entry += size;
    }
}

static void batch(const Job *job, int64_t start, int lanes, double *w)
{
    const char *tape = job->tape;
    const Head *h = (const Head *)(const void *)tape;
    const double *constant = (const double *)(const void *)(tape + h->constant_at);
    const int32_t *entry = (const int32_t *)(const void *)(tape + h->entry_at);
    const Run *run = (const Run *)(const void *)(tape + h->run_at);
    const void *table = tape + h->table_at;
    const int used = job->instances - start < lanes ? (int)(job->instances - start) : lanes;
    int64_t k;
    int l;
    for (k = 0; k < h->constants; ++k)
        for (l = 0; l < lanes; ++l) w[k * lanes + l] = constant[k];
    take_inputs(job, start, used, lanes, w + h->constants * lanes);
    if (lanes == 4 && h->wide) four_wide(run, h->runs, table, (V4 *)(void *)w);
    else if (lanes == 4) four(run, h->runs, table, (V4 *)(void *)w);
    else if (h->wide) eight_wide(run, h->runs, table, (V8 *)(void *)w);
    else eight(run, h->runs, table, (V8 *)(void *)w);
    give_outputs(job, start, used, lanes, entry, w);
}

/* Evaluates all jobs, batch by batch. Several threads may call this with the same jobs and `next`, which begins at 0, each
   with its own work array: every batch is computed by one of them. */
EXPORT void tape_run(long long jobs, const Job *job, int64_t *next, double *work)
{
    int64_t mine = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED), number = 0, start;
    long long k;
    for (k = 0; k < jobs; ++k)
        for (start = 0; start < job[k].instances; ++number) {
            const int lanes = job[k].instances - start > 4 ? 8 : 4;
            if (number == mine) {
                batch(&job[k], start, lanes, work);
                mine = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
            }
            start += lanes;
        }
}

/* Sums entries into the numbers that they belong to, in their order; weights may be null. As many entries as numbers: every
   number has one. */
EXPORT void tape_place(long long entries, const int32_t *to, const double *weights, const double *entry, long long size,
                       double *result)
{
    long long k;
    if (entries == size && !weights) {
        for (k = 0; k < entries; ++k) result[to[k]] = 0.0 + entry[k]; /* as a sum has it: no negative zero */
        return;
    }
    memset(result, 0, sizeof(double) * (size_t)size);
    if (weights)
        for (k = 0; k < entries; ++k) result[to[k]] += weights[k] * entry[k];
    else
        for (k = 0; k < entries; ++k) result[to[k]] += entry[k];
}
