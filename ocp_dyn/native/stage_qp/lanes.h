/* Vectors of the machine, and the products of matrices whose columns are padded with zeros to BLOCK numbers.
 *
 * Without the vector extensions of GCC and Clang, or with the macro STAGE_QP_PLAIN, a vector is one number. A product
 * keeps a tile of ROWS rows and WIDE vectors of its result in registers. */
#ifndef STAGE_QP_LANES_H
#define STAGE_QP_LANES_H

#include <math.h>

enum { BLOCK = 8 };

#if defined(__GNUC__) && !defined(STAGE_QP_PLAIN)
#define STAGE_QP_VECTORS
#endif

#if !defined(STAGE_QP_VECTORS)
enum { LANES = 1, ROWS = 4, WIDE = 2 };
#elif defined(__AVX512F__)
enum { LANES = 8, ROWS = 8, WIDE = 3 };
#elif defined(__AVX__)
enum { LANES = 4, ROWS = 4, WIDE = 3 };
#else
enum { LANES = 2, ROWS = 4, WIDE = 2 };
#endif

#if defined(STAGE_QP_VECTORS)
typedef double lane __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#define INLINE static inline __attribute__((always_inline))
#else
typedef double lane;
#define INLINE static inline
#endif

/* Loops over the parts of a tile must be unrolled, or its sums would live in memory. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

INLINE lane load(const double *x) { return *(const lane *)x; }
INLINE void store(double *x, lane value) { *(lane *)x = value; }
/* fmax and fmin of two numbers, without calls; not a number only if a is not. */
INLINE double larger(double a, double b) { return b > a ? b : a; }
INLINE double smaller(double a, double b) { return b < a ? b : a; }

INLINE int padded(int n) { return (n + BLOCK - 1) / BLOCK * BLOCK; }

/* y += a x; n is a multiple of BLOCK. */
INLINE void add_scaled(int n, double a, const double *x, double *y)
{
    for (int j = 0; j < n; j += LANES) store(y + j, load(y + j) + a * load(x + j));
}

/* The sum of BLOCK numbers, in an order that does not depend on the vectors. */
INLINE double total(const lane *sum)
{
    double part[BLOCK];
    UNROLL for (int t = 0; t < BLOCK / LANES; t++) store(part + t * LANES, sum[t]);
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/* Zero if n numbers are finite, and otherwise not a number. */
INLINE double faults(int n, const double *x)
{
    lane sum = load((const double[LANES]){0});
    double part[LANES], all = 0;
    int j = 0;
    for (; j + LANES <= n; j += LANES) sum += 0 * load(x + j);
    for (; j < n; j++) all += 0 * x[j];
    store(part, sum);
    for (j = 0; j < LANES; j++) all += part[j];
    return all;
}

INLINE double dot(int n, const double *x, const double *y)
{
    lane sum[BLOCK / LANES];
    UNROLL for (int t = 0; t < BLOCK / LANES; t++) sum[t] = (lane){0};
    for (int j = 0; j < n; j += BLOCK)
        UNROLL for (int t = 0; t < BLOCK / LANES; t++) sum[t] += load(x + j + t * LANES) * load(y + j + t * LANES);
    return total(sum);
}

/* Kept in the caller's memory of floating-point numbers. */
#if defined(__GNUC__)
typedef unsigned long long mask __attribute__((may_alias));
typedef int whole __attribute__((may_alias));
#else
typedef unsigned long long mask;
typedef int whole;
#endif

/* Which rows of `base` form a product Y = from + sign sum_k left_k' right_k; left and right: where row k begins. */
struct product {
    int inner;
    const whole *left, *right;
    const mask *mask; /* bit b of mask k: block b of row k, the same on both sides, is not zero; null: none are zero */
    double sign;      /* 0: the sum alone */
    const double *from; /* null: Y */
    int ldf;
};

/* Room for as many rows as a product with masks has. */
struct chosen {
    whole *left, *right;
    mask *mask;
};

/* upper: only the upper half of Y, in whole tiles. columns: a multiple of BLOCK; rows are padded likewise. some: two
   rooms, for products with masks. */
void stage_qp_product(const double *base, const struct product *p, int rows, int columns, int upper, double *Y,
                      int ldy, struct chosen *some);

#endif
