/* The elimination of the equality rows of all stages, which does not depend on the costs. */
#include "memory.h"

#include <string.h>

/* A pivot must be larger than a threshold times the length of its row. Rows with small pivots are eliminated in later
   passes, because an early elimination would weaken rows with large ones. A row whose pivots are all below the last
   threshold is treated as if the controls did not act on it, and constrains the state: its pivot would enter the cost
   to go by 1 / pivot^2. */
static const double THRESHOLDS[] = {0.1, 1e-3, 1e-7};

static void swap(int n, double *x, double *y)
{
    for (int j = 0; j < n; j++) {
        double kept = x[j];
        x[j] = y[j];
        y[j] = kept;
    }
}

/* Gauss-Jordan elimination of columns begin..end from rows first..rows of W, in the order of the rows. Rows with a
   pivot move up; their number is returned, and `pivots` are their columns. */
static int eliminate(double *W, int ld, double *size, int first, int rows, int begin, int end, whole *pivots)
{
    int rank = 0;
    for (int pass = 0; pass < 3; pass++)
        for (int i = first + rank; i < rows; i++) {
            double *row = W + (long)i * ld, *place = W + (long)(first + rank) * ld;
            double largest = THRESHOLDS[pass] * size[i];
            int pivot = -1;
            for (int j = begin; j < end; j++)
                if (fabs(row[j]) > largest) largest = fabs(row[pivot = j]);
            if (pivot < 0) continue;
            if (place != row) {
                swap(ld, row, place);
                swap(1, size + i, size + first + rank);
            }
            double scale = 1 / place[pivot];
            for (int j = 0; j < ld; j++) place[j] *= scale;
            place[pivot] = 1;
            for (int r = first; r < rows; r++) {
                double *other = W + (long)r * ld, factor = other[pivot];
                if (other == place || factor == 0) continue;
                add_scaled(ld, -factor, place, other);
                other[pivot] = 0;
            }
            pivots[rank++] = pivot;
        }
    return rank;
}

/* row += l' F, and the side -= l' b, for a row l that the next state must obey. */
static void add_inherited(const struct plan *v, const struct stage *s, const double *l, double *row)
{
    const double h = *s->h, a = h * h / 2;
    int n = v->n;
    row[v->width] -= dot(v->x, l, s->b);
    if (v->dense)
        for (int j = 0; j < v->nx; j++) add_scaled(v->width, l[j], s->F + (long)j * v->width, row);
    for (int j = 0; j < n; j++) {
        row[j] += a * l[j] + h * l[n + j];
        row[v->u + j] += l[j];
        row[v->u + n + j] += h * l[j] + l[n + j];
    }
}

/* Rows E z = -e and the rows of the next state, solved for controls: u_p = G y + offset, y being the free controls and
   the state; rows that no control acts on become L x = l; the rest is redundant. */
static double eliminate_stage(const struct plan *v, struct stage *s, const struct stage *next, struct work *t)
{
    int inherited = next ? next->count[LEFT] : 0, rows = v->ne + inherited, ld = v->width + BLOCK;
    double unmet = 0;
    memset(t->W, 0, (size_t)rows * (size_t)ld * sizeof *t->W);
    for (int i = 0; i < rows; i++) {
        double *row = t->W + (long)i * ld;
        if (i < v->ne) {
            memcpy(row, s->E + (long)i * v->width, (size_t)v->width * sizeof *row);
            row[v->width] = -s->e[i];
        } else {
            row[v->width] = next->l[i - v->ne];
            add_inherited(v, s, next->L + (long)(i - v->ne) * v->x, row);
        }
        t->size[i] = sqrt(dot(v->width, row, row));
    }
    int rank = eliminate(t->W, ld, t->size, 0, rows, 0, v->nu, s->order);
    int left = eliminate(t->W, ld, t->size, rank, rows, v->u, v->u + v->nx, t->left);
    s->count[RANK] = rank;
    s->count[LEFT] = left;
    s->count[LIVE] = 0;
    for (int j = 0, free = rank; j < v->nu; j++) {
        int found = 0;
        for (int p = 0; p < rank; p++) found |= s->order[p] == j;
        if (!found) s->order[free++] = j;
    }
    int f = v->nu - rank, fp = padded(f);
    memset(s->G, 0, (size_t)rank * (size_t)v->width * sizeof *s->G);
    for (int i = 0, dead = rank; i < rank; i++) { /* as the forces of open contacts are: these come last */
        const double *row = t->W + (long)i * ld;
        double *G = s->G + (long)s->count[LIVE] * v->width, size = 0;
        for (int j = 0; j < f; j++) size += fabs(G[j] = -row[s->order[rank + j]]);
        for (int j = 0; j < v->nx; j++) size += fabs(G[fp + j] = -row[v->u + j]);
        int place = size == 0 ? --dead : s->count[LIVE]++;
        s->offset[place] = row[v->width];
        t->left[place] = s->order[i];
    }
    memcpy(s->order, t->left, (size_t)rank * sizeof *s->order);
    for (int i = 0; i < left; i++) {
        const double *row = t->W + (long)(rank + i) * ld;
        memcpy(s->L + (long)i * v->x, row + v->u, (size_t)v->x * sizeof *row);
        s->l[i] = row[v->width];
    }
    for (int i = rank + left; i < rows; i++) unmet = larger(unmet, fabs(t->W[(long)i * ld + v->width]));
    return unmet;
}

double stage_qp_eliminate(const struct plan *v, double *memory)
{
    struct work t = stage_qp_work(v, memory);
    double unmet = 0;
    struct stage next, s;
    for (int k = v->N - 1; k >= 0; k--) {
        s = stage_qp_at(v, memory, k);
        unmet = larger(unmet, eliminate_stage(v, &s, k + 1 < v->N ? &next : 0, &t));
        next = s;
    }
    return unmet;
}
