/* The Riccati recursion of a linear-quadratic problem in stages whose variables obey equality rows; see riccati.py.

   Matrices are stored row by row, every row padded with zeros to whole vectors of LANES numbers. struct stage holds the
   offsets of a stage's matrices, H, F, E, S in `data` and G, U, P, R, L in `factors`, and of its parts of the
   vectors. */
#include <math.h>
#include <string.h>

typedef long long integer;
typedef double lane __attribute__((vector_size(64), aligned(8), may_alias));
enum { LANES = 8 };
#define API __attribute__((visibility("default")))
#define PADDED(n) (((n) + LANES - 1) / LANES * LANES)

struct stage {
    integer nu, nx, next, ne, ns;  /* controls, states, states of the next stage, equality rows, rows with a price */
    integer H, F, E, S;            /* (nu+nx, next, ne, ns rows; nu+nx columns, the controls first) */
    integer G, U, P, R, L;         /* the factors */
    integer z, b, r, s;            /* offsets of the variables, gaps, equality rows and rows with a price */
    integer order, rhs;            /* offsets of the order of controls and of the right-hand sides of rows */
    integer rank, left, rows;      /* pivots; rows that constrain the state alone; all rows */
};

static void add_scaled(integer n, double a, const double *x, double *y) /* y += a x */
{
    for (integer j = 0; j < n; j += LANES) *(lane *)(y + j) += a * *(const lane *)(x + j);
}

static void scale(integer n, double a, double *x) /* x *= a */
{
    for (integer j = 0; j < n; j += LANES) *(lane *)(x + j) *= a;
}

static double dot(integer n, const double *x, const double *y)
{
    lane sum = {0};
    for (integer j = 0; j < n; j += LANES) sum += *(const lane *)(x + j) * *(const lane *)(y + j);
    double total = 0;
    for (integer j = 0; j < LANES; j++) total += sum[j];
    return total;
}

/* Y += A' X, A (inner, rows), X (inner, columns); upper: only the diagonal and the part above it. */
static void add_product(integer inner, integer rows, integer columns, const double *A, integer lda, const double *X,
                        integer ldx, double *Y, integer ldy, int upper)
{
    for (integer i = 0; i < rows; i += 4)
        for (integer j = upper ? i / LANES * LANES : 0; j < columns; j += LANES) {
            lane c0 = {0}, c1 = {0}, c2 = {0}, c3 = {0};
            const double *a = A + i, *x = X + j;
            for (integer k = 0; k < inner; k++, a += lda, x += ldx) {
                lane here = *(const lane *)x;
                c0 += a[0] * here;
                c1 += a[1] * here;
                c2 += a[2] * here;
                c3 += a[3] * here;
            }
            double *y = Y + i * ldy + j;
            *(lane *)y += c0;
            if (i + 1 < rows) *(lane *)(y + ldy) += c1;
            if (i + 2 < rows) *(lane *)(y + 2 * ldy) += c2;
            if (i + 3 < rows) *(lane *)(y + 3 * ldy) += c3;
        }
}

static void swap_rows(integer n, double *x, double *y)
{
    for (integer j = 0; j < n; j++) {
        double kept = x[j];
        x[j] = y[j];
        y[j] = kept;
    }
}

/* One pass of `eliminate`: pivots larger than `threshold` times the length of their row. */
static integer eliminate_above(double threshold, double *W, integer ld, double *size, integer first, integer rows,
                               integer begin, integer end, integer rank, integer *pivots)
{
    for (integer i = first + rank; i < rows; i++) {
        double *row = W + i * ld, *place = W + (first + rank) * ld, largest = threshold * size[i];
        integer pivot = -1;
        for (integer j = begin; j < end; j++)
            if (fabs(row[j]) > largest) largest = fabs(row[pivot = j]);
        if (pivot < 0) continue;
        if (place != row) {
            swap_rows(ld, row, place);
            swap_rows(1, size + i, size + first + rank);
        }
        scale(ld, 1 / place[pivot], place);
        place[pivot] = 1;
        for (integer r = first; r < rows; r++) {
            double *other = W + r * ld, factor = other[pivot];
            if (other == place || factor == 0) continue;
            add_scaled(ld, -factor, place, other);
            other[pivot] = 0;
        }
        pivots[rank++] = pivot;
    }
    return rank;
}

/* Gauss-Jordan elimination of columns begin..end from rows first..rows of W, in the order of the rows, large pivots
   before small ones. Rows with a pivot move up; their number is returned, and `pivots` are their columns. */
static integer eliminate(double *W, integer ld, double *size, integer first, integer rows, integer begin, integer end,
                         const double thresholds[3], integer *pivots)
{
    integer rank = 0;
    for (integer k = 0; k < 3; k++)
        rank = eliminate_above(thresholds[k], W, ld, size, first, rows, begin, end, rank, pivots);
    return rank;
}

/* The rows of a stage: E z = r, and the rows of the next stage's state, L (F z + b) = l. Rows with a pivot become
   u_p = G y + ..., y being the free controls and the state; all other rows constrain the state. `order`: the controls,
   pivots first. */
static void split_rows(struct stage *s, const struct stage *n, const double *data, double *factors, integer *order,
                       double *W, const double *thresholds)
{
    integer w = s->nu + s->nx, ldw = PADDED(w), ldn = PADDED(s->next), left = n ? n->left : 0, e = s->ne + left;
    integer ld = PADDED(w + e);
    double *size = W + (s->ne + s->next) * PADDED(w + s->ne + s->next);
    memset(W, 0, e * ld * sizeof *W);
    for (integer i = 0; i < e; i++) {
        double *row = W + i * ld;
        if (i < s->ne) memcpy(row, data + s->E + i * ldw, w * sizeof *row);
        else
            for (integer j = 0; j < s->next; j++) {
                double l = factors[n->L + (i - s->ne) * ldn + j];
                if (l != 0)
                    for (integer c = 0; c < w; c++) row[c] += l * data[s->F + j * ldw + c];
            }
        size[i] = sqrt(dot(ld, row, row));
        row[w + i] = 1;
    }
    integer pivots[w + 1], rank = eliminate(W, ld, size, 0, e, 0, s->nu, thresholds, order);
    s->rank = rank;
    s->left = eliminate(W, ld, size, rank, e, s->nu, w, thresholds, pivots);
    s->rows = e;
    for (integer j = 0, free = rank; j < s->nu; j++) {
        integer found = 0;
        for (integer p = 0; p < rank; p++) found |= order[p] == j;
        if (!found) order[free++] = j;
    }
    integer f = s->nu - rank, ldy = PADDED(f + s->nx), lde = PADDED(e), ldx = PADDED(s->nx);
    memset(factors + s->G, 0, rank * ldy * sizeof *factors);
    memset(factors + s->L, 0, s->left * ldx * sizeof *factors);
    memset(factors + s->R, 0, e * lde * sizeof *factors);
    for (integer i = 0; i < e; i++) {
        const double *row = W + i * ld;
        memcpy(factors + s->R + i * lde, row + w, e * sizeof *row);
        if (i < rank) {
            for (integer j = 0; j < f; j++) factors[s->G + i * ldy + j] = -row[order[rank + j]];
            for (integer j = 0; j < s->nx; j++) factors[s->G + i * ldy + f + j] = -row[s->nu + j];
        } else if (i < rank + s->left)
            memcpy(factors + s->L + (i - rank) * ldx, row + s->nu, s->nx * sizeof *row);
    }
}

/* Turns a row over z = (u, x) into a row over y = (free u, x). */
static void reduce_row(const struct stage *s, const integer *order, const double *G, const double *a, double *out)
{
    integer f = s->nu - s->rank, ldy = PADDED(f + s->nx);
    for (integer j = 0; j < f; j++) out[j] = a[order[s->rank + j]];
    memcpy(out + f, a + s->nu, s->nx * sizeof *a);
    for (integer j = f + s->nx; j < ldy; j++) out[j] = 0;
    for (integer p = 0; p < s->rank; p++)
        if (a[order[p]] != 0) add_scaled(ldy, a[order[p]], G + p * ldy, out);
}

/* The upper half of M = T' (H + F' P F) T, z = T y, with P of the next stage. */
static void cost_to_go(const struct stage *s, const double *data, const double *G, const double *P,
                       const integer *order, double *work, double *M)
{
    integer w = s->nu + s->nx, ldw = PADDED(w), f = s->nu - s->rank, wy = f + s->nx, ldy = PADDED(wy);
    double *FT = work, *PFT = FT + s->next * ldy, *HT = PFT + s->next * ldy;
    for (integer i = 0; i < s->next; i++) reduce_row(s, order, G, data + s->F + i * ldw, FT + i * ldy);
    for (integer p = 0; p < s->rank; p++) reduce_row(s, order, G, data + s->H + order[p] * ldw, HT + p * ldy);
    for (integer i = 0; i < wy; i++) {
        integer from = i < f ? order[s->rank + i] : s->nu + i - f;
        reduce_row(s, order, G, data + s->H + from * ldw, M + i * ldy);
    }
    add_product(s->rank, wy, wy, G, ldy, HT, ldy, M, ldy, 1);
    if (!s->next) return;
    memset(PFT, 0, s->next * ldy * sizeof *PFT);
    add_product(s->next, s->next, wy, P, PADDED(s->next), FT, ldy, PFT, ldy, 0);
    add_product(s->next, wy, wy, FT, ldy, PFT, ldy, M, ldy, 1);
}

/* The first f pivots of M = U'U, by the upper half of M; the rest of M becomes the Schur complement. 0 if M is not
   positive definite. */
static int partial_cholesky(integer f, integer n, integer ld, double *M)
{
    for (integer k = 0; k < f; k++) {
        double *row = M + k * ld, pivot = row[k];
        if (!(pivot > 0)) return 0;
        scale(ld, 1 / sqrt(pivot), row);
        for (integer i = k + 1; i < n; i++) {
            integer begin = i / LANES * LANES;
            if (row[i] != 0) add_scaled(ld - begin, -row[i], row + begin, M + i * ld + begin);
        }
    }
    return 1;
}

/* data[to] = sign values[from] for the first entries, += for the others */
API void write_entries(integer first, integer n, const int *to, const int *from, double sign, const double *values,
                       double *data)
{
    for (integer i = 0; i < first; i++) data[to[i]] = sign * values[from[i]];
    for (integer i = first; i < n; i++) data[to[i]] += sign * values[from[i]];
}

/* H += S' diag(price) S in every stage. */
API void add_prices(integer stages, const struct stage *all, double *data, const double *price, double *work)
{
    for (const struct stage *s = all; s < all + stages; s++) {
        integer w = s->nu + s->nx, ld = PADDED(w);
        for (integer i = 0; i < s->ns; i++)
            for (integer j = 0; j < ld; j++) work[i * ld + j] = price[s->s + i] * data[s->S + i * ld + j];
        add_product(s->ns, w, w, data + s->S, ld, work, ld, data + s->H, ld, 0);
    }
}

/* Factors all stages, the last first; -1, or the number of a stage whose cost is not convex in its free controls. */
API integer factor(integer stages, struct stage *all, const double *data, double *factors, integer *orders,
               double *work, const double *thresholds)
{
    for (integer k = stages - 1; k >= 0; k--) {
        struct stage *s = all + k, *n = k + 1 < stages ? s + 1 : 0;
        integer *order = orders + s->order;
        split_rows(s, n, data, factors, order, work, thresholds);
        integer f = s->nu - s->rank, wy = f + s->nx, ldy = PADDED(wy), ldx = PADDED(s->nx);
        double *M = work, *P = factors + s->P;
        cost_to_go(s, data, factors + s->G, n ? factors + n->P : 0, order, work + PADDED(wy) * ldy, M);
        if (!partial_cholesky(f, wy, ldy, M)) return k;
        memcpy(factors + s->U, M, f * ldy * sizeof *M);
        memset(P, 0, s->nx * ldx * sizeof *P);
        for (integer i = 0; i < s->nx; i++)
            for (integer j = i; j < s->nx; j++) P[i * ldx + j] = P[j * ldx + i] = M[(f + i) * ldy + f + j];
    }
    return -1;
}

/* One stage of the backward sweep for vectors: from p and l of the next stage to p and l of this stage. */
static double backward(const struct stage *s, const struct stage *n, const double *data, const double *factors,
                       const integer *order, const double *h, const double *b, const double *r, double *p,
                       double *sides, double *offset, double *d, double *work)
{
    integer w = s->nu + s->nx, ldw = PADDED(w), f = s->nu - s->rank, ldy = PADDED(f + s->nx), ldn = PADDED(s->next);
    integer e = s->rows, lde = PADDED(e);
    const double *G = factors + s->G, *U = factors + s->U;
    double *t = work, *grad = t + ldw, *gap = grad + ldw, *following = gap + ldn, *row = following + ldn;
    double *side = sides + s->rhs, *next = n ? sides + n->rhs + n->rank : 0, unmet = 0;
    memset(work, 0, (2 * ldw + 2 * ldn + lde) * sizeof *work);
    memcpy(gap, b, s->next * sizeof *gap);
    for (integer i = 0; i < e; i++)
        row[i] = i < s->ne ? r[i] : next[i - s->ne] - dot(ldn, factors + n->L + (i - s->ne) * ldn, gap);
    for (integer i = 0; i < e; i++) side[i] = dot(lde, factors + s->R + i * lde, row);
    for (integer i = s->rank + s->left; i < e; i++) unmet = fmax(unmet, fabs(side[i]));
    for (integer i = 0; i < s->rank; i++) t[order[i]] = offset[i] = side[i];
    memcpy(grad, h, w * sizeof *h);
    for (integer i = 0; i < s->rank; i++)
        if (side[i] != 0) add_scaled(ldw, side[i], data + s->H + order[i] * ldw, grad);
    for (integer i = 0; i < s->next; i++) following[i] = dot(ldw, data + s->F + i * ldw, t) + b[i];
    for (integer i = 0; i < s->next; i++) {
        double slope = dot(ldn, factors + n->P + i * ldn, following) + p[i];
        add_scaled(ldw, slope, data + s->F + i * ldw, grad);
    }
    double *gy = row; /* the gradient by y */
    memset(gy, 0, ldy * sizeof *gy);
    for (integer j = 0; j < f; j++) gy[j] = grad[order[s->rank + j]];
    memcpy(gy + f, grad + s->nu, s->nx * sizeof *gy);
    for (integer i = 0; i < s->rank; i++) add_scaled(ldy, grad[order[i]], G + i * ldy, gy);
    for (integer i = 0; i < f; i++) { /* U' d = gy; the rest of gy is p */
        d[i] = gy[i] / U[i * ldy + i];
        for (integer j = i + 1; j < f + s->nx; j++) gy[j] -= d[i] * U[i * ldy + j];
    }
    memcpy(p, gy + f, s->nx * sizeof *p);
    return unmet;
}

/* z = (u, x) of a stage from its x, and the x of the next stage. */
static void forward(const struct stage *s, const double *data, const double *factors, const integer *order,
                    const double *b, const double *offset, const double *d, double *z, double *next, double *work)
{
    integer w = s->nu + s->nx, ldw = PADDED(w), f = s->nu - s->rank, ldy = PADDED(f + s->nx);
    const double *U = factors + s->U;
    double *y = work, *padded = y + ldy;
    memset(work, 0, (ldy + ldw) * sizeof *work);
    memcpy(y + f, z + s->nu, s->nx * sizeof *y);
    for (integer i = f - 1; i >= 0; i--) {
        double sum = d[i];
        for (integer j = i + 1; j < f + s->nx; j++) sum += U[i * ldy + j] * y[j];
        y[i] = -sum / U[i * ldy + i];
    }
    for (integer j = 0; j < f; j++) z[order[s->rank + j]] = y[j];
    for (integer i = 0; i < s->rank; i++) z[order[i]] = dot(ldy, factors + s->G + i * ldy, y) + offset[i];
    memcpy(padded, z, w * sizeof *z);
    for (integer i = 0; i < s->next; i++) next[i] = dot(ldw, data + s->F + i * ldw, padded) + b[i];
}

/* Minimizes over all stages for gradients h, gaps b and right-hand sides r; returns the largest residual of rows that
   no control or state can satisfy. */
API double solve(integer stages, const struct stage *all, const double *data, const double *factors,
                 const integer *orders, const double *h, const double *b, const double *r, double *z, double *sides,
                 double *offsets, double *d, double *work)
{
    double unmet = 0, *p = work;
    integer most = 0;
    for (integer k = 0; k < stages; k++) most = all[k].nx > most ? all[k].nx : most;
    work += PADDED(most);
    for (integer k = stages - 1; k >= 0; k--) {
        const struct stage *s = all + k;
        unmet = fmax(unmet, backward(s, k + 1 < stages ? s + 1 : 0, data, factors, orders + s->order, h + s->z,
                                     b + s->b, r + s->r, p, sides, offsets + s->order, d + s->order, work));
    }
    for (integer k = 0; k < stages; k++) {
        const struct stage *s = all + k;
        double *next = s->next ? z + s[1].z + s[1].nu : 0;
        forward(s, data, factors, orders + s->order, b + s->b, offsets + s->order, d + s->order, z + s->z, next, work);
    }
    return unmet;
}
