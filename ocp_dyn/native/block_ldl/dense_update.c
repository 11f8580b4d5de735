/* Products of dense matrices: packed slivers, and tiles of the product that stay in registers. */
#include "dense.h"
#include "lanes.h"

#include <string.h>

enum { DEPTH = 256 }; /* columns of a packed sliver: 3 vectors x 256 fill the first cache */

/* Sliver copies of whole vectors. */
INLINE void pack_vectors(int tall, long k, const double *A, long lda, const int *order, double *sliver)
{
    for (long p = 0; p < k; p++, sliver += tall * LANES) {
        const double *a = A + (order ? order[p] : p) * lda;
        UNROLL for (int t = 0; t < tall; t++) store(sliver + t * LANES, load(a + t * LANES));
    }
}

void pack_sliver(long rows, long height, long k, const double *A, long lda, const int *order, double *sliver)
{
    if (rows >= height && height % LANES == 0 && height <= 3 * LANES) {
        if (height == LANES) pack_vectors(1, k, A, lda, order, sliver);
        if (height == 2 * LANES) pack_vectors(2, k, A, lda, order, sliver);
        if (height == 3 * LANES) pack_vectors(3, k, A, lda, order, sliver);
        return;
    }
    for (long p = 0; p < k; p++, sliver += height) {
        const double *a = A + (order ? order[p] : p) * lda;
        for (long i = 0; i < height; i++) sliver[i] = i < rows ? a[i] : 0;
    }
}

void pack_right(long rows, long k, const double *A, long lda, double *packed)
{
    for (long i = 0; i < rows; i += WIDE, packed += WIDE * k)
        pack_sliver(smaller(rows - i, WIDE), WIDE, k, A + i, lda, 0, packed);
}

/* c -= a b', summed over k columns of two slivers: the innermost loop of everything. */
INLINE void subtract_products(lane c[WIDE][TALL], int tall, long k, const double *a, long stride, const double *b)
{
    for (long p = 0; p < k; p++, a += stride, b += WIDE) {
        lane x[TALL];
        UNROLL for (int t = 0; t < tall; t++) x[t] = load(a + t * LANES);
        UNROLL for (int j = 0; j < WIDE; j++)
            UNROLL for (int t = 0; t < tall; t++) c[j][t] -= x[t] * b[j];
    }
}

/* A whole tile of C. */
INLINE void multiply_tile(int tall, long k, const double *a, long stride, const double *b, double *C, long ldc)
{
    lane c[WIDE][TALL];
    UNROLL for (int j = 0; j < WIDE; j++)
        UNROLL for (int t = 0; t < tall; t++) c[j][t] = load(C + j * ldc + t * LANES);
    subtract_products(c, tall, k, a, stride, b);
    UNROLL for (int j = 0; j < WIDE; j++)
        UNROLL for (int t = 0; t < tall; t++) store(C + j * ldc + t * LANES, c[j][t]);
}

static void multiply_any(long tall, long k, const double *a, long stride, const double *b, double *C, long ldc)
{
    if (tall == 1) multiply_tile(1, k, a, stride, b, C, ldc);
    if (tall == 2) multiply_tile(2, k, a, stride, b, C, ldc);
    if (tall == 3) multiply_tile(TALL, k, a, stride, b, C, ldc);
}

/* A tile at the edge of C, of which only some rows and columns exist: it is made beside C. */
static void multiply_edge(long rows, long columns, long tall, long k, const double *a, long stride, const double *b,
                          double *C, long ldc)
{
    enum { HEIGHT = TALL * LANES };
    double whole[WIDE * HEIGHT] __attribute__((aligned(64))) = {0};
    for (long j = 0; j < columns; j++) memcpy(whole + j * HEIGHT, C + j * ldc, (size_t)rows * sizeof *C);
    multiply_any(tall, k, a, stride, b, whole, HEIGHT);
    for (long j = 0; j < columns; j++) memcpy(C + j * ldc, whole + j * HEIGHT, (size_t)rows * sizeof *C);
}

void multiply_sliver(long height, long rows, long columns, long k, const double *a, const double *b, long kb,
                     double *C, long ldc, long diagonal)
{
    long end = diagonal < 0 ? columns : smaller(columns, diagonal + rows);
    for (long j = 0; j < end; j += WIDE) {
        long above = diagonal < 0 || j < diagonal ? 0 : (j - diagonal) / LANES * LANES; /* rows above the diagonal */
        long tall = (height - above) / LANES, here = rows - above;
        const double *left = a + above, *right = b + j * kb;
        double *c = C + above + j * ldc;
        if (here >= tall * LANES && columns - j >= WIDE)
            multiply_any(tall, k, left, height, right, c, ldc);
        else
            multiply_edge(here, smaller(columns - j, WIDE), tall, k, left, height, right, c, ldc);
    }
}

/* The sums of a tile, then the substitution with the WIDE x WIDE triangle of L, whose values follow those of the
   columns before. */
INLINE void solve_tile(int tall, long first, long e, const double *l, double *W)
{
    long stride = tall * LANES, k = smaller(first, e);
    double *here = W + first * stride;
    const double *triangle = l + first * WIDE;
    lane c[WIDE][TALL];
    UNROLL for (int j = 0; j < WIDE; j++)
        UNROLL for (int t = 0; t < tall; t++) c[j][t] = load(here + j * stride + t * LANES);
    subtract_products(c, tall, k, W, stride, l);
    UNROLL for (int j = 0; j < WIDE - 1; j++)
        UNROLL for (int i = 1; i < WIDE; i++)
            UNROLL for (int t = 0; t < tall; t++)
                if (i > j) c[i][t] -= c[j][t] * triangle[j * WIDE + i];
    UNROLL for (int j = 0; j < WIDE; j++)
        UNROLL for (int t = 0; t < tall; t++) store(here + j * stride + t * LANES, c[j][t]);
}

void solve_sliver(long height, long first, long e, const double *l, double *W)
{
    if (height == LANES) solve_tile(1, first, e, l, W);
    if (height == 2 * LANES) solve_tile(2, first, e, l, W);
    if (height == 3 * LANES) solve_tile(TALL, first, e, l, W);
}

long dense_update_work(long m, long n, long k)
{
    (void)m;
    return packed_right(n, smaller(k, DEPTH)) + rounded_up(TALL * LANES * smaller(k, DEPTH), 8);
}

void dense_update(long m, long n, long k, const double *A, long lda, const double *B, long ldb, double *C, long ldc,
                  int lower, double *work)
{
    double *left = work, *right = work + rounded_up(TALL * LANES * smaller(k, DEPTH), 8);
    for (long p = 0; p < k; p += DEPTH) {
        long depth = smaller(k - p, DEPTH);
        pack_right(n, depth, B + p * ldb, ldb, right);
        for (long i = 0; i < m;) {
            long height = vectors_of(m - i) * LANES, rows = smaller(m - i, height);
            pack_sliver(rows, height, depth, A + i + p * lda, lda, 0, left);
            multiply_sliver(height, rows, n, depth, left, right, depth, C + i, ldc, lower ? i : -1);
            i += height;
        }
    }
}
