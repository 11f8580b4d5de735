/* Dense kernels of the factorization: P A P' = L D L' of symmetric indefinite fronts, and the products and solves with
   their parts.

   Matrices are stored column by column; `ld` is the distance of two columns, in numbers. A front is a symmetric matrix
   of n + m rows: n rows of its own, which are eliminated here as far as they have good pivots, and m boundary rows,
   which also belong to the parent. Only its lower triangle is read; what stands above the diagonal may be overwritten.
   L has ones on its diagonal, which are not stored: the diagonal of the stored columns may hold anything. D has blocks
   of one row, or of two rows (j, j+1), for which L[j+1, j] is zero.

   No function has state of its own: several threads may call them at once, each with its own matrices. The results
   depend on the numbers only, not on addresses. */
#ifndef DENSE_H
#define DENSE_H

/* Size of the work space, in numbers, of dense_front for n own rows and m boundary rows. */
long dense_work(long n, long m);

/* Size of the work space, in numbers, of dense_update. */
long dense_update_work(long m, long n, long k);

/* C -= A B' with A (m, k), B (n, k), C (m, n).

   lower: 0, or 1 if row i and column i of C belong to the same unknown: then only the entries with i >= j are right on
   return, the others of C may or may not be changed. work: 64-byte aligned. */
void dense_update(long m, long n, long k, const double *A, long lda, const double *B, long ldb, double *C, long ldc,
                  int lower, double *work);

/* Eliminates the own rows of the front F (n + m rows) in place; returns e, the number of rows that were eliminated, or
   -1 if F has entries that are not finite (F is then spoiled).

   ld: a multiple of 8, at least n + m; F and work: 64-byte aligned; F has ld (n + m) numbers, and the padding of its
   columns may be overwritten.
   threshold: a pivot is accepted only if no entry of its columns of L, boundary rows included, is larger than
   1 / threshold; 0 < threshold <= 0.3. tiny: pivots must be larger than this.
   On return:
   order (n): order[i] is the former index of row i; the boundary rows keep their places;
   F[:, 0:e]: columns of L; rows e to n-1 are the own rows that were not eliminated (delayed to the parent);
   F[e:, e:]: the Schur complement, lower triangle;
   D (2 n): D[2j] is the diagonal of D; D[2j+1] is the entry below it in a pivot of the two rows (j, j+1), else zero;
   zeros follow for the rows that were not eliminated;
   *negative: the number of negative eigenvalues of D. */
long dense_front(long n, long m, double *F, long ld, double threshold, double tiny, int *order, double *D,
                 long *negative, double *work);

/* Solves with one front; L (rows, e) as dense_front leaves it in F (or copied; only the part below the diagonal is
   read), x (rows) the part of the right-hand side that belongs to the front's rows in their new order.

   dense_forward:  x[0:e] = L11^-1 x[0:e], then x[e:] -= L21 x[0:e];
   dense_diagonal: x[0:e] = D^-1 x[0:e];
   dense_backward: x[0:e] = L11'^-1 (x[0:e] - L21' x[e:]).

   ld and alignment are free; columns that begin at multiples of 64 bytes are read faster. */
void dense_forward(long rows, long e, const double *L, long ld, double *x);
void dense_diagonal(long e, const double *D, double *x);
void dense_backward(long rows, long e, const double *L, long ld, double *x);

#endif
