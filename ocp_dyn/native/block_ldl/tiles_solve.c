/* Solves with the tiles of a front: [H B' C_P'; B 0 C_Q'; C_P C_Q K] [x_P; x_Q; x_R] = [b_P; b_Q; b_R]. */
#include "worker.h"

/* y = A x, or y = A' x, with A (m x n). */
static void multiply(int m, int n, const double *A, const double *x, double *y)
{
    for (int i = 0; i < m; i++) y[i] = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) y[i] += A[i + (size_t)m * j] * x[j];
}

static void multiply_transposed(int m, int n, const double *A, const double *x, double *y)
{
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < m; i++) sum += A[i + (size_t)m * j] * x[i];
        y[j] = sum;
    }
}

/* w = B^-1 b_Q. */
static void leading(const front *f, const tiles *t, const double *b)
{
    const double *inverse = t->inverse;
    for (int c = 0, first = 0; c < f->components; c++) {
        int r = t->ranks[c];
        for (int i = 0; i < r; i++) t->t[i] = b[f->tile_rows[f->primal + t->dual[first + i]]];
        multiply(r, r, inverse, t->t, t->w + first);
        first += r, inverse += r * r;
    }
}

/* Adds what E adds: with g = G Q G' y, w becomes w + g, and y = b_P - H w becomes y - H g. */
static void add_regular(const front *f, const tiles *t, double *w, double *y)
{
    int r = t->rank;
    double *g = t->e, *u = t->e + r;
    if (t->regular) return;
    block_ldl_inverse_times(f, t, 1, y, g);
    multiply(r, r, t->Q, g, u);
    block_ldl_inverse_times(f, t, 0, u, g);
    multiply(r, r, t->H, g, u);
    for (int i = 0; i < r; i++) w[i] += g[i], y[i] -= u[i];
}

/* Subtracts from the front's right-hand side v what the eliminated pairs add to it:
   v -= C_P w + Z' y, w = B^-1 b_Q, y = b_P - H w. */
void block_ldl_tiles_forward(const front *f, const tiles *t, const double *b, double *v)
{
    if (!t || !t->rank) return;
    int r = t->rank;
    leading(f, t, b);
    multiply(r, r, t->H, t->w, t->t);
    for (int i = 0; i < r; i++) t->t[i] = b[f->tile_rows[t->primal[i]]] - t->t[i];
    add_regular(f, t, t->w, t->t);
    multiply(t->neighbors, r, t->C, t->w, t->y);
    for (int i = 0; i < t->neighbors; i++) v[t->at[i]] -= t->y[i];
    const double *Z = t->Z;
    const int *touch = t->touch;
    for (int c = 0, first = 0; c < f->components; c++) {
        int rank = t->ranks[c], touched = t->touched[c];
        multiply_transposed(rank, touched, Z, t->t + first, t->y);
        for (int k = 0; k < touched; k++) v[t->at[touch[k]]] -= t->y[k];
        first += rank, Z += (size_t)rank * touched, touch += touched;
    }
}

/* Sets x_P = B^-1 b_Q - Z x_R and x_Q = B'^-1 (b_P - C_P' x_R - H x_P) in x, which holds b_P and b_Q; v: x on the
   front's rows. */
void block_ldl_tiles_backward(const front *f, const tiles *t, double *x, const double *v)
{
    if (!t || !t->rank) return;
    int r = t->rank;
    leading(f, t, x);
    const double *Z = t->Z;
    const int *touch = t->touch;
    for (int c = 0, first = 0; c < f->components; c++) {
        int rank = t->ranks[c];
        for (int k = 0; k < t->touched[c]; k++)
            for (int i = 0; i < rank; i++) t->w[first + i] -= Z[i + rank * k] * v[t->at[touch[k]]];
        first += rank, Z += (size_t)rank * t->touched[c], touch += t->touched[c];
    }
    for (int i = 0; i < t->neighbors; i++) t->y[i] = v[t->at[i]];
    multiply_transposed(t->neighbors, r, t->C, t->y, t->t);
    multiply(r, r, t->H, t->w, t->y);
    for (int i = 0; i < r; i++) t->t[i] = x[f->tile_rows[t->primal[i]]] - t->t[i] - t->y[i];
    add_regular(f, t, t->w, t->t);
    const double *inverse = t->inverse;
    for (int c = 0, first = 0; c < f->components; c++) {
        int rank = t->ranks[c];
        multiply_transposed(rank, rank, inverse, t->t + first, t->y);
        for (int i = 0; i < rank; i++) x[f->tile_rows[f->primal + t->dual[first + i]]] = t->y[i];
        first += rank, inverse += rank * rank;
    }
    for (int i = 0; i < r; i++) x[f->tile_rows[t->primal[i]]] = t->w[i];
}
