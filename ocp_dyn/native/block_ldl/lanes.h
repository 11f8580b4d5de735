/* Vectors of the machine, packed matrices, and the parts of the dense kernels that several files share.

   A packed matrix of k columns is cut into slivers of a few rows; a sliver holds its rows column by column without
   gaps, so that the innermost loop of a product reads memory straight ahead. Left factors have slivers of at most
   TALL vectors of LANES rows, right factors of WIDE rows; the missing rows of the last sliver are zeros. TALL x WIDE
   vectors are the sums that a tile of the product keeps in registers: nearly all registers that the machine has. */
#ifndef LANES_H
#define LANES_H

#if defined(__AVX512F__)
enum { LANES = 8, TALL = 3, WIDE = 8 };
#elif defined(__AVX__)
enum { LANES = 4, TALL = 3, WIDE = 4 };
#elif defined(__aarch64__)
enum { LANES = 2, TALL = 3, WIDE = 4 };
#else
enum { LANES = 2, TALL = 2, WIDE = 4 };
#endif

typedef double lane __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef long long bits __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* Loops over the parts of a tile must be unrolled, or its sums would live in memory. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#define INLINE static inline __attribute__((always_inline))
#define HIDDEN __attribute__((visibility("hidden")))

INLINE lane load(const double *x) { return *(const lane *)x; }
INLINE void store(double *x, lane value) { *(lane *)x = value; }

INLINE long rounded_up(long n, long step) { return (n + step - 1) / step * step; }
INLINE long smaller(long a, long b) { return a < b ? a : b; }

/* Number of vectors in the sliver that begins where `rows` rows are left: TALL, but the last two share their rows
   evenly, because slivers of one vector are slow. */
INLINE int vectors_of(long rows)
{
    long left = (rows + LANES - 1) / LANES;
    return (int)(left >= 2 * TALL || left == TALL ? TALL : left > TALL ? (left + 1) / 2 : left);
}

/* Sizes of packed matrices, in numbers. */
INLINE long packed_left(long rows, long k) { return rounded_up(rows, LANES) * k; }
INLINE long packed_right(long rows, long k) { return rounded_up(rows, WIDE) * k; }

/* Copies `rows` rows of k columns of A to a sliver of `height` rows. order: the columns' numbers, NULL for 0 to k-1. */
HIDDEN void pack_sliver(long rows, long height, long k, const double *A, long lda, const int *order, double *sliver);

/* Packs A (rows, k) as a right factor. */
HIDDEN void pack_right(long rows, long k, const double *A, long lda, double *packed);

/* C -= A B' for one sliver of A of `height` rows, of which `rows` exist, and packed B (columns, k), whose slivers are
   kb columns apart. diagonal: the sliver's first row is row number `diagonal` of C, and only the lower triangle is
   wanted; -1 for all columns. C begins at the sliver's first row. */
HIDDEN void multiply_sliver(long height, long rows, long columns, long k, const double *a, const double *b, long kb,
                            double *C, long ldc, long diagonal);

/* X L' = W for columns `first` to first+WIDE-1 of a sliver W of `height` rows, in place: the columns before are
   solved. l: rows first, ... of L, packed as a right factor, of which the first `e` columns count. */
HIDDEN void solve_sliver(long height, long first, long e, const double *l, double *W);

/* State of an elimination of the rows `next` to n-1 of a matrix A of `rows` rows, lower triangle, in place. */
struct elimination {
    double *A;        /* 64-byte aligned, as its columns: ld is a multiple of 8 */
    long ld, n, rows; /* rows n to rows-1 are no candidates for pivots, but must be bounded, too */
    long next;        /* rows before this one are eliminated */
    double bound;     /* of the entries of L */
    double tiny;
    int checked;      /* whether the bound is checked row by row: needed if rows > n or bound < 3 */
    int *order;
    double *D;
    double *growth;   /* (rows) sum of the sizes of all that was subtracted from each diagonal entry; zero at first */
    double *work;     /* elimination_work(rows) numbers, 64-byte aligned */
};

HIDDEN long elimination_work(long rows);

/* Eliminates as many rows as have good pivots; `next` is then their number, and the rest of A is the Schur
   complement. */
HIDDEN void eliminate(struct elimination *f);

/* Adds to `growth` what the pivot at k, of `size` rows, subtracts from the rows after it; l, m: its columns of L. */
HIDDEN void add_growth(const struct elimination *f, long k, int size, const double *l, const double *m);

#endif
