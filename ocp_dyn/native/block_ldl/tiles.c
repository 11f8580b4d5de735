/* Elimination of the tiles of a front: pairs of primal rows P and dual rows Q, such as accelerations and gaps.

   On the rows P, Q and their neighbors R the matrix is [H B' C_P'; B 0 C_Q'; C_P C_Q K], where B consists of small
   blocks, one for each component, and C_Q is sparse. With Z = B^-1 C_Q' the pairs leave

       K - C_P Z - Z' C_P' + Z' H Z = K - X Z - Z' X',   X = C_P - Z' H / 2,

   and as many negative as positive eigenvalues. Rows without a stable pivot in B are left over: they join the front.
   Entries on the diagonal of dual rows add a correction, see regularized.c. So that it is sound, they must not be
   positive; else all rows of the tiles join the front.
*/
#include "worker.h"

#include <math.h>
#include <string.h>

/* Least size of a pivot in a block, relative to the largest entry of the block. */
static const double LEAST_PIVOT = 1e-6;

static void add_values(double *to, const places *from, const double *values)
{
    for (int k = 0; k < from->count; k++) to[from->at[k].to] += values[from->at[k].source];
}

/* Sets the parts of the matrix on the rows of a front's tiles, with the products of the pairs' entries. */
void block_ldl_assemble_tiles(worker *w, const front *f, parts *raw)
{
    const instance *s = w->s;
    size_t p = f->primal, sizes[] = {p * p, f->near_count * p, f->block_size, f->beyond_size, f->dual}, total = 0;
    double **at[] = {&raw->H, &raw->C, &raw->B, &raw->Q, &raw->E};
    for (int k = 0; k < 5; k++) total += sizes[k];
    if (block_ldl_reserve(&w->raw, &w->room[0], total, sizeof(double))) {
        w->failure = NO_MEMORY;
        return;
    }
    memset(w->raw, 0, total * sizeof(double));
    total = 0;
    for (int k = 0; k < 5; k++) *at[k] = w->raw + total, total += sizes[k];
    const places *lists[] = {&f->H, &f->C, &f->B, &f->Q, &f->E};
    for (int k = 0; k < 5; k++) add_values(*at[k], lists[k], s->scaled);
    for (int k = 0; k < f->pair_count; k++) {
        const pair *q = w->l->pair + f->pairs[k];
        const double *J = s->J + q->first, *d = s->corner + 3 * (size_t)f->pairs[k];
        const unsigned *code = q->code;
        double weight = d[0] / (d[1] * d[1] - d[0] * d[2]);
        for (int i = 0; i < q->count; i++)
            for (int j = 0; j <= i; j++, code++)
                if (*code >> 30) (*code >> 30 == IN_H ? raw->H : raw->C)[*code & 0x3fffffff] += weight * J[i] * J[j];
    }
    for (size_t j = 0; j < p; j++)
        for (size_t i = j + 1; i < p; i++) raw->H[j + i * p] = raw->H[i + j * p];
}

/* Gaussian elimination of a copy A (m x n) with complete pivoting: returns the rank, with the order of rows and
   columns. */
static int rank_of(double *A, int m, int n, int *row, int *column)
{
    double largest = 0;
    int least = m < n ? m : n;
    for (int i = 0; i < m; i++) row[i] = i;
    for (int j = 0; j < n; j++) column[j] = j;
    for (int k = 0; k < least; k++) {
        int r = k, c = k;
        for (int j = k; j < n; j++)
            for (int i = k; i < m; i++)
                if (fabs(A[row[i] + m * column[j]]) > fabs(A[row[r] + m * column[c]])) r = i, c = j;
        double pivot = A[row[r] + m * column[c]];
        if (k == 0) largest = fabs(pivot);
        if (!(fabs(pivot) > LEAST_PIVOT * largest)) return k;
        int i = row[k], j = column[k];
        row[k] = row[r], row[r] = i, column[k] = column[c], column[c] = j;
        for (i = k + 1; i < m; i++) {
            double factor = A[row[i] + m * column[k]] / pivot;
            if (factor == 0) continue;
            for (j = k; j < n; j++) A[row[i] + m * column[j]] -= factor * A[row[k] + m * column[j]];
        }
    }
    return least;
}

/* Replaces A (n x n), whose leading pivots are stable, by its inverse. */
static void invert(double *A, int n)
{
    for (int k = 0; k < n; k++) {
        double pivot = A[k + n * k];
        A[k + n * k] = 1;
        for (int j = 0; j < n; j++) A[k + n * j] /= pivot;
        for (int i = 0; i < n; i++) {
            double factor = A[i + n * k];
            if (i == k || factor == 0) continue;
            A[i + n * k] = 0;
            for (int j = 0; j < n; j++) A[i + n * j] -= factor * A[k + n * j];
        }
    }
}

static int allot(const front *f, tiles *t)
{
    size_t p = f->primal, q = f->dual, c = f->components, near = f->near_count + p + q, touched = p;
    for (size_t k = 0; k < c; k++) touched += f->component[k].touched;
    int failed = 0;
    failed |= block_ldl_reserve(&t->primal, &t->room[0], 4 * (p + q) + near + 2 * c + touched, sizeof(int));
    if (failed) return failed;
    t->dual = t->primal + p, t->left = t->dual + q, t->at = t->left + p + q;
    t->ranks = t->at + near, t->touched = t->ranks + c, t->touch = t->touched + c;
    failed |= block_ldl_reserve(&t->H, &t->room[1], p * p, sizeof(double));
    failed |= block_ldl_reserve(&t->C, &t->room[2], near * p, sizeof(double));
    failed |= block_ldl_reserve(&t->inverse, &t->room[3], f->block_size, sizeof(double));
    failed |= block_ldl_reserve(&t->Z, &t->room[4], f->beyond_size + p * p, sizeof(double));
    failed |= block_ldl_reserve(&t->w, &t->room[5], 6 * p + near, sizeof(double));
    t->t = t->w + p, t->R = t->t + p, t->e = t->R + p, t->y = t->e + 2 * p;
    return failed;
}

/* Chooses the pairs of every component, and lists the rows that are left over: primal rows i, dual rows primal + i. */
static void choose(const front *f, const parts *raw, tiles *t, int sound, double *copy, int *row, int *column)
{
    t->rank = t->leftover = 0;
    for (int c = 0; c < f->components; c++) {
        const component *k = f->component + c;
        memcpy(copy, raw->B + k->block, (size_t)k->rows * k->columns * sizeof(double));
        int rank = rank_of(copy, k->rows, k->columns, row, column);
        rank = t->ranks[c] = sound ? rank : 0;
        for (int i = 0; i < rank; i++) t->dual[t->rank + i] = k->row + row[i];
        for (int j = 0; j < rank; j++) t->primal[t->rank + j] = k->column + column[j];
        for (int i = rank; i < k->rows; i++) t->left[t->leftover++] = f->primal + k->row + row[i];
        for (int j = rank; j < k->columns; j++) t->left[t->leftover++] = k->column + column[j];
        t->rank += rank;
    }
}

/* Inverse blocks and Z of all components. */
static void make_Z(const front *f, const parts *raw, tiles *t)
{
    double *inverse = t->inverse, *Z = t->Z;
    int *touch = t->touch;
    for (int c = 0, first = 0; c < f->components; c++) {
        const component *k = f->component + c;
        int r = t->ranks[c], *primal = t->primal + first, *dual = t->dual + first, touched = 0;
        for (int j = 0; j < r; j++)
            for (int i = 0; i < r; i++)
                inverse[i + r * j] = raw->B[k->block + dual[i] - k->row + (size_t)k->rows * (primal[j] - k->column)];
        invert(inverse, r);
        for (int n = 0; n < (r ? k->touched : 0); n++, touched++) {
            const double *q = raw->Q + k->beyond + (size_t)k->rows * n;
            touch[touched] = k->near[n];
            for (int i = 0; i < r; i++) {
                Z[i + r * touched] = 0;
                for (int j = 0; j < r; j++) Z[i + r * touched] += inverse[i + r * j] * q[dual[j] - k->row];
            }
        }
        for (int n = 0; n < (r ? t->leftover : 0); n++) { /* primal rows of this component that are left over */
            int p = t->left[n] - k->column;
            if (t->left[n] >= f->primal || p < 0 || p >= k->columns) continue;
            const double *q = raw->B + k->block + (size_t)k->rows * p;
            touch[touched] = f->near_count + n;
            for (int i = 0; i < r; i++) {
                Z[i + r * touched] = 0;
                for (int j = 0; j < r; j++) Z[i + r * touched] += inverse[i + r * j] * q[dual[j] - k->row];
            }
            touched++;
        }
        t->touched[c] = touched;
        first += r, inverse += r * r, Z += (size_t)r * touched, touch += touched;
    }
}

/* The component of a dual row. */
static const component *home_of(const front *f, int dual)
{
    const component *k = f->component;
    while (dual >= k->row + k->rows) k++;
    return k;
}

/* The entry of the matrix on two rows of tiles; dual rows are counted after primal ones. */
static double between(const front *f, const parts *raw, int i, int j)
{
    int p = f->primal, primal = i < j ? i : j, other = i < j ? j : i;
    if (other < p) return raw->H[primal + (size_t)p * other];
    if (primal >= p) return primal == other ? raw->E[primal - p] : 0;
    const component *k = home_of(f, other - p);
    int column = primal - k->column;
    return column < 0 || column >= k->columns ? 0 : raw->B[k->block + other - p - k->row + (size_t)k->rows * column];
}

/* Chooses the pairs that are eliminated, and collects their matrices; returns a `failure`. */
int block_ldl_choose_tiles(worker *w, const front *f, const parts *raw, tiles *t)
{
    size_t most = f->block_size + 1, p = f->primal;
    if (allot(f, t) || block_ldl_reserve(&w->scratch, &w->room[2], most, sizeof(double)) ||
        block_ldl_reserve(&w->order, &w->room[3], p + f->dual + 1, sizeof(int)))
        return NO_MEMORY;
    int sound = 1;
    t->regular = 1;
    for (int i = 0; i < f->dual; i++) sound &= raw->E[i] <= 0, t->regular &= raw->E[i] == 0;
    choose(f, raw, t, sound, w->scratch, w->order, w->order + f->dual);
    for (int i = 0; i < t->rank; i++) t->R[i] = sqrt(-raw->E[t->dual[i]]);
    t->neighbors = f->near_count + t->leftover;
    make_Z(f, raw, t);
    for (int j = 0; j < t->rank; j++) {
        for (int i = 0; i < t->rank; i++) t->H[i + (size_t)t->rank * j] = raw->H[t->primal[i] + p * t->primal[j]];
        double *C = t->C + (size_t)t->neighbors * j;
        memcpy(C, raw->C + (size_t)f->near_count * t->primal[j], f->near_count * sizeof(double));
        for (int k = 0; k < t->leftover; k++) C[f->near_count + k] = between(f, raw, t->left[k], t->primal[j]);
    }
    return NO_FAILURE;
}

/* Adds the rows that are left over to the front. */
static void add_leftover(const front *f, const parts *raw, const tiles *t, double *F, long ld)
{
    for (int k = 0; k < t->leftover; k++) {
        int row = t->left[k], to = f->own + k, p = f->primal;
        for (int j = 0; j <= k; j++) F[to + ld * (f->own + j)] += between(f, raw, row, t->left[j]);
        const component *c = row < p ? NULL : home_of(f, row - p);
        for (int n = 0; n < (c ? c->touched : f->near_count); n++) {
            int at = t->at[c ? c->near[n] : n];
            double value = c ? raw->Q[c->beyond + row - p - c->row + (size_t)c->rows * n]
                             : raw->C[n + (size_t)f->near_count * row];
            F[at > to ? at + ld * to : to + ld * at] += value;
        }
    }
}

enum { GROUP = 8 };

/* Subtracts `count` columns of G = X Z, those of the neighbors `column`, and the same rows of its transpose from the
   front, whose rows `at` the neighbors are. Entries that lie close together in memory follow each other. */
static void subtract(const tiles *t, int count, const int *column, const double *g, double *F, long ld)
{
    int n = t->neighbors;
    for (int i = 0; i < n; i++) {
        long r = t->at[i];
        for (int k = 0; k < count; k++) {
            long c = t->at[column[k]];
            F[r > c ? r + ld * c : c + ld * r] -= g[i + n * k];
        }
    }
    for (int k = 0; k < count; k++) F[t->at[column[k]] * (ld + 1)] -= g[column[k] + n * k];
}

/* g = column j of X Z, of whose entries Z has those from `begin` to `end` in column j. */
static void product(int n, const double *X, int begin, int end, const int *row, const double *value, double *g)
{
    memset(g, 0, n * sizeof(double));
    for (int k = begin; k < end; k++) {
        const double *x = X + (size_t)n * row[k], z = value[k];
        for (int i = 0; i < n; i++) g[i] += z * x[i];
    }
}

/* Eliminates the chosen pairs: updates the front, in which boundary rows are moved by `shift`. */
void block_ldl_eliminate_tiles(worker *w, const front *f, const parts *raw, tiles *t, int shift, double *F, long ld)
{
    int n = t->neighbors, r = t->rank;
    for (int k = 0; k < f->near_count; k++) t->at[k] = f->near[k] < f->own ? f->near[k] : f->near[k] + shift;
    for (int k = 0; k < t->leftover; k++) t->at[f->near_count + k] = f->own + k;
    add_leftover(f, raw, t, F, ld);
    if (!r) return;
    size_t total = 0;
    for (int c = 0; c < f->components; c++) total += (size_t)t->ranks[c] * t->touched[c];
    if (block_ldl_reserve(&w->scratch, &w->room[2], (size_t)n * (r + GROUP) + total, sizeof(double)) ||
        block_ldl_reserve(&w->order, &w->room[3], 2 * (size_t)n + 2 + total, sizeof(int))) {
        w->failure = NO_MEMORY;
        return;
    }
    double *X = w->scratch, *g = X + (size_t)n * r, *value = g + GROUP * n;
    int *begin = w->order, *next = begin + n + 1, *column = next + n + 1;
    memcpy(X, t->C, (size_t)n * r * sizeof(double));
    memset(begin, 0, (2 * (size_t)n + 2) * sizeof(int));
    const double *Z = t->Z;
    const int *touch = t->touch;
    for (int c = 0, first = 0; c < f->components; c++) { /* X, and the numbers of entries of the columns of Z */
        int rank = t->ranks[c];
        for (int p = 0; p < r && rank; p++)
            for (int k = 0; k < t->touched[c]; k++)
                for (int i = 0; i < rank; i++)
                    X[touch[k] + (size_t)n * p] -= 0.5 * Z[i + rank * k] * t->H[first + i + (size_t)r * p];
        for (int k = 0; k < t->touched[c]; k++) begin[touch[k] + 1] += rank;
        Z += (size_t)rank * t->touched[c], touch += t->touched[c], first += rank;
    }
    for (int j = 0; j < n; j++) begin[j + 1] += begin[j], next[j] = begin[j];
    Z = t->Z, touch = t->touch;
    for (int c = 0, first = 0; c < f->components; c++) { /* Z by columns */
        int rank = t->ranks[c];
        for (int k = 0; k < t->touched[c]; k++)
            for (int i = 0; i < rank; i++) {
                int at = next[touch[k]]++;
                column[at] = first + i, value[at] = Z[i + rank * k];
            }
        Z += (size_t)rank * t->touched[c], touch += t->touched[c], first += rank;
    }
    for (int j = 0; j < n;) {
        int group[GROUP], count = 0;
        for (; j < n && count < GROUP; j++) {
            if (begin[j] == begin[j + 1]) continue;
            product(n, X, begin[j], begin[j + 1], column, value, g + n * count);
            group[count++] = j;
        }
        subtract(t, count, group, g, F, ld);
    }
    if (!t->regular) block_ldl_regularize(w, f, t, X, F, ld);
}
