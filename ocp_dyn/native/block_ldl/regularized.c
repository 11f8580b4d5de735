/* Tiles whose dual rows have entries -E on the diagonal, E >= 0, as IPOPT sets them where rows are dependent.

   With M = [H B'; B -E], G = B^-1 (small blocks), Z = G C_Q' and T = G' H G, the pairs leave

       K - C_P Z - Z' C_P' + Z' H Z - V' Q V,   V = G' (C_P' - H Z),   Q = R Y^-1 R,   Y = I + R T R,   R = E^1/2,

   which is the result without E and a symmetric correction. M has as many negative eigenvalues as pairs, and as many
   more as Y has. */
#include "dense.h"
#include "worker.h"

#include <math.h>
#include <string.h>

/* y = G x or, transposed, y = G' x, with the blocks G of all components. */
void block_ldl_inverse_times(const front *f, const tiles *t, int transposed, const double *x, double *y)
{
    const double *G = t->inverse;
    for (int c = 0, first = 0; c < f->components; c++) {
        int r = t->ranks[c];
        for (int i = 0; i < r; i++) {
            y[first + i] = 0;
            for (int j = 0; j < r; j++) y[first + i] += G[transposed ? j + r * i : i + r * j] * x[first + j];
        }
        first += r, G += r * r;
    }
}

/* T = G' H G (r x r); column: work space. */
static void make_T(const front *f, const tiles *t, double *T, double *column)
{
    int r = t->rank;
    for (int j = 0; j < r; j++) block_ldl_inverse_times(f, t, 1, t->H + (size_t)r * j, T + (size_t)r * j);
    for (int i = 0; i < r; i++) { /* the rows of G' H times G */
        for (int j = 0; j < r; j++) column[j] = T[i + (size_t)r * j];
        block_ldl_inverse_times(f, t, 1, column, column + r);
        for (int j = 0; j < r; j++) T[i + (size_t)r * j] = column[r + j];
    }
}

/* Q = R Y^-1 R; returns the number of negative eigenvalues of Y, or -1 if it is singular. F: (ld x r), aligned. */
static int make_Q(const tiles *t, const double *T, double *F, long ld, int *order, double *D, double *column,
                  double *work)
{
    int r = t->rank;
    long negative = 0;
    for (int j = 0; j < r; j++)
        for (int i = j; i < r; i++) F[i + ld * j] = (i == j) + t->R[i] * T[i + (size_t)r * j] * t->R[j];
    if (dense_front(r, 0, F, ld, 1e-8, 1e-30, order, D, &negative, work) < r) return -1;
    for (int j = 0; j < r; j++) {
        for (int i = 0; i < r; i++) column[i] = order[i] == j ? t->R[j] : 0;
        dense_forward(r, r, F, ld, column);
        dense_diagonal(r, D, column);
        dense_backward(r, r, F, ld, column);
        for (int i = 0; i < r; i++) t->Q[order[i] + (size_t)r * j] = column[i] * t->R[order[i]];
    }
    return (int)negative;
}

/* V' = (C_P - Z' H) G (neighbors x r), from X = C_P - Z' H / 2. */
static void make_V(const front *f, const tiles *t, const double *X, double *V)
{
    size_t n = t->neighbors;
    for (size_t k = 0; k < n * t->rank; k++) V[n * t->rank + k] = 2 * X[k] - t->C[k];
    const double *G = t->inverse, *U = V + n * t->rank;
    for (int c = 0, first = 0; c < f->components; c++) {
        int r = t->ranks[c];
        for (int j = 0; j < r; j++) {
            double *v = V + n * (first + j);
            memset(v, 0, n * sizeof(double));
            for (int k = 0; k < r; k++)
                for (size_t i = 0; i < n; i++) v[i] += U[n * (first + k) + i] * G[k + r * j];
        }
        first += r, G += r * r;
    }
}

/* Subtracts V' Q V from the front, in whose rows the neighbors have the places `at`. X: C_P - Z' H / 2. */
void block_ldl_regularize(worker *w, const front *f, tiles *t, const double *X, double *F, long ld)
{
    size_t n = t->neighbors, r = t->rank, rows = (r + 7) / 8 * 8, square = (n + 7) / 8 * 8 * n;
    size_t work = dense_work(r, 0), updates[] = {dense_update_work(n, n, r), dense_update_work(n, r, r)};
    for (int k = 0; k < 2; k++) work = work > updates[k] ? work : updates[k];
    size_t sizes[] = {work, rows * r, square, 2 * n * r, n * r, r * r, 2 * r, 2 * r + 8}, total = 0;
    double *part[8];
    if (block_ldl_reserve(&t->Q, &t->room[6], r * r, sizeof(double))) w->failure = NO_MEMORY;
    for (int k = 0; k < 8; k++) total += (sizes[k] + 7) / 8 * 8;
    if (block_ldl_reserve(&w->more, &w->room[4], total + r, sizeof(double))) w->failure = NO_MEMORY;
    if (w->failure) return;
    part[0] = w->more;
    for (int k = 1; k < 8; k++) part[k] = part[k - 1] + (sizes[k - 1] + 7) / 8 * 8;
    double *Y = part[1], *S = part[2], *V = part[3], *VQ = part[4], *T = part[5], *column = part[6], *D = part[7];
    make_T(f, t, T, column);
    int negative = make_Q(t, T, Y, rows, (int *)(part[7] + 2 * r + 8), D, column, part[0]);
    if (negative < 0) {
        w->failure = SINGULAR;
        return;
    }
    w->negative += negative;
    make_V(f, t, X, V);
    long lds = (n + 7) / 8 * 8;
    memset(VQ, 0, n * r * sizeof(double));
    memset(S, 0, square * sizeof(double));
    dense_update(n, r, r, V, n, t->Q, r, VQ, n, 0, part[0]); /* -V' Q */
    dense_update(n, n, r, VQ, n, V, n, S, lds, 1, part[0]);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            long a = t->at[i], b = t->at[j];
            F[a > b ? a + ld * b : b + ld * a] -= S[i + lds * j];
        }
}
