/* Eigenvalues that are zero to rounding, and what IPOPT is told of them.

   Whether such an eigenvalue comes out as a small positive pivot, a small negative one or none depends on the last bits,
   and so on the axes of the world; IPOPT answers each of them differently. So every pivot that may be zero is judged by
   its vector v, with A v = 0 up to rounding. If v moves variables, the cost does not curve along v, and IPOPT is to make
   it convex: the eigenvalue counts as negative. If v has multipliers only, rows depend on others, and IPOPT is to relax
   these: the matrix is singular. The pivots are those of the roots of the tree, at which all others have been
   eliminated. */
#include "worker.h"

#include <math.h>
#include <stdlib.h>

static const double SMALL = 1e-9;   /* pivots of the scaled matrix that are looked at */
static const double NOISE = 1e-13;  /* v'A v beside the sum of the sizes of its terms */
static const double MOVED = 1e-2;   /* size of the variables of v beside its multipliers, in IPOPT's units: it adds
                                       1e-4 or more to the Hessian, but only about 1e-8 to the rows */

/* |v'A v| beside the sum of the sizes of its terms. */
static double cancellation(const instance *s, const double *v)
{
    double sum = 0, sizes = 0;
    for (int k = 0; k < s->nz; k++) {
        int i = s->irn[k], j = s->icn[k];
        double term = (i == j ? 1 : 2) * s->values[k] * v[i] * v[j];
        sum += term, sizes += fabs(term);
    }
    return sizes > 0 ? fabs(sum) / sizes : 0;
}

/* Whether v moves variables. */
static int moves(const instance *s, const double *v)
{
    double squares[2] = {0, 0};
    for (int i = 0; i < s->n; i++) squares[i >= s->plan->primal] += v[i] * v[i];
    return squares[0] > MOVED * MOVED * squares[1];
}

enum kind { REGULAR, FLAT, DEPENDENT };

/* The kind of row k of a root; v: work space. The solve with its unit vector is one step of inverse iteration, and gives
   the vector itself where the row has no pivot. */
static enum kind kind_of(instance *s, const layout *l, const factors *g, int k, double *v)
{
    for (int i = 0; i < s->n; i++) v[i] = 0;
    v[g->rows[k]] = 1;
    block_ldl_solve(s, l, v);
    double most = 0;
    for (int i = 0; i < s->n; i++) most = fmax(most, fabs(v[i]));
    if (!(most > 0) || !isfinite(most)) return DEPENDENT;
    for (int i = 0; i < s->n; i++) v[i] /= most;
    if (k < g->eliminated && cancellation(s, v) > NOISE) return REGULAR;
    return moves(s, v) ? FLAT : DEPENDENT;
}

/* Judges all pivots that may be zero; *negative: the number of negative eigenvalues, to which those of flat directions
   are added. Returns a `failure`. */
int block_ldl_judge_zeros(instance *s, const layout *l, int *negative)
{
    double *v = NULL;
    int failure = NO_FAILURE, flat = 0;
    for (int f = 0; f < l->fronts && !failure; f++) {
        const factors *g = s->factors + f;
        for (int k = 0; l->front[f].parent < 0 && k < g->own && !failure; k++) {
            int pivot = k < g->eliminated, pair = pivot && (g->D[2 * k + 1] != 0 || (k && g->D[2 * k - 1] != 0));
            if (pair || (pivot && fabs(g->D[2 * k]) > SMALL)) continue;
            if (!v && !(v = malloc((size_t)s->n * sizeof(double)))) return NO_MEMORY;
            enum kind kind = kind_of(s, l, g, k, v);
            if (kind == DEPENDENT) failure = SINGULAR;
            else if (kind == FLAT) flat++, *negative += !pivot || g->D[2 * k] > 0;
        }
    }
    free(v);
    return flat && *negative <= s->n - s->plan->primal ? SINGULAR : failure;
}
