/* Solves with the factor of one front; described in dense.h. Both sweeps read every number of L once, GROUP columns at
   a time, so that x is read once per group: the speed is that of the memory that holds L. */
#include "dense.h"
#include "lanes.h"

enum { GROUP = 8 };

/* x -= L y for rows `begin` to rows-1 and `count` columns. */
INLINE void subtract_columns(int count, long begin, long rows, const double *L, long ld, const double *y, double *x)
{
    long i = begin;
    for (; i + LANES <= rows; i += LANES) {
        lane sum = load(x + i);
        UNROLL for (int j = 0; j < count; j++) sum -= load(L + i + j * ld) * y[j];
        store(x + i, sum);
    }
    for (; i < rows; i++)
        UNROLL for (int j = 0; j < count; j++) x[i] -= L[i + j * ld] * y[j];
}

/* y -= L' x for rows `begin` to rows-1 and `count` columns. */
INLINE void subtract_dots(int count, long begin, long rows, const double *L, long ld, const double *x, double *y)
{
    lane sum[GROUP] = {{0}};
    long i = begin;
    for (; i + LANES <= rows; i += LANES) {
        lane here = load(x + i);
        UNROLL for (int j = 0; j < count; j++) sum[j] += load(L + i + j * ld) * here;
    }
    for (int j = 0; j < count; j++) {
        double total = 0;
        for (int t = 0; t < LANES; t++) total += sum[j][t];
        for (long k = i; k < rows; k++) total += L[k + j * ld] * x[k];
        y[j] -= total;
    }
}

INLINE void forward_group(int count, long rows, const double *L, long ld, double *x)
{
    for (int j = 0; j < count; j++)
        for (int i = j + 1; i < count; i++) x[i] -= L[i + j * ld] * x[j];
    subtract_columns(count, count, rows, L, ld, x, x);
}

INLINE void backward_group(int count, long rows, const double *L, long ld, double *x)
{
    subtract_dots(count, count, rows, L, ld, x, x);
    for (int j = count - 1; j >= 0; j--)
        for (int i = j + 1; i < count; i++) x[j] -= L[i + j * ld] * x[i];
}

void dense_forward(long rows, long e, const double *L, long ld, double *x)
{
    long j = 0;
    for (; j + GROUP <= e; j += GROUP) forward_group(GROUP, rows - j, L + j + j * ld, ld, x + j);
    for (; j < e; j++) forward_group(1, rows - j, L + j + j * ld, ld, x + j);
}

void dense_backward(long rows, long e, const double *L, long ld, double *x)
{
    long j = e;
    for (; j % GROUP; j--) backward_group(1, rows - j + 1, L + (j - 1) * (ld + 1), ld, x + j - 1);
    for (; j > 0; j -= GROUP) backward_group(GROUP, rows - j + GROUP, L + (j - GROUP) * (ld + 1), ld, x + j - GROUP);
}

void dense_diagonal(long e, const double *D, double *x)
{
    for (long j = 0; j < e; j++) {
        double d = D[2 * j], off = D[2 * j + 1];
        if (off == 0) {
            x[j] /= d;
            continue;
        }
        double a = d / off, c = D[2 * j + 2] / off, t = 1 / ((a * c - 1) * off), u = x[j], v = x[j + 1];
        x[j] = (c * u - v) * t;
        x[++j] = (a * v - u) * t;
    }
}
