/* Scaling of the matrix by powers of two: the factorization works on D A D, whose rows have a norm of about 1.

   With d_i <- d_i / |row i of D A D|^(1/2) the norms of all rows come closer to 1 (D. Ruiz, A scaling algorithm to
   equilibrate both rows and columns norms in matrices, RAL-TR-2001-034; 2-norms). Powers of two add no rounding error:
   what the scaling changes is the choice of pivots. It has to be made because a force of contact moves a foot by the
   square of the time step h only. A row that keeps the foot in place then has a pivot of size h^4, far below the other
   entries of its row; measured against these it would be refused, and be delayed from interval to interval, so that
   fronts would grow with the number of intervals.

   The slow part of the iteration is the ratio of the scales of forces and of motion, so that many sweeps are needed;
   but too many blow up rows that have hardly a pivot at all. So the first matrix gets some, and one that was factored
   with many delayed rows some more; in between the scales stay as they are. */
#include "worker.h"

#include <math.h>
#include <stdlib.h>

enum { FIRST_SWEEPS = 60, MORE_SWEEPS = 30, MOST_SWEEPS = 150 };

static const double MANY = 0.02; /* delayed rows, as a part of all */

static const double LARGEST = 0x1p120; /* square of a scale */

/* Whether the last factorization delayed so many rows that scales and threshold should change. */
int block_ldl_many_late(const instance *s) { return s->late > MANY * s->n; }

/* The square of an entry that is not zero, and its row and column. */
typedef struct {
    int i, j;
    double square;
} entry;

/* Lists the entries; returns their number. Numbers that are not finite are left out: the elimination finds them. */
static int list_entries(const instance *s, entry *list)
{
    int count = 0;
    for (int k = 0; k < s->nz; k++) {
        double square = s->values[k] * s->values[k];
        if (square > 0 && square < HUGE_VAL) list[count++] = (entry){s->irn[k], s->icn[k], square};
    }
    return count;
}

/* Improves the squares z of the scales by `sweeps` sweeps; sum: work space. */
static void improve(int n, const entry *list, int count, int sweeps, double *z, double *sum)
{
    for (int t = 0; t < sweeps; t++) {
        for (int i = 0; i < n; i++) sum[i] = 0;
        for (int k = 0; k < count; k++) {
            const entry *e = list + k;
            sum[e->i] += e->square * z[e->j];
            if (e->i != e->j) sum[e->j] += e->square * z[e->i];
        }
        for (int i = 0; i < n; i++)
            if (sum[i] > 0) z[i] = fmin(fmax(sqrt(z[i] / sum[i]), 1 / LARGEST), LARGEST);
    }
}

/* The power of two that is nearest to the root of z. */
static double power_of_two(double z)
{
    int exponent;
    double part = frexp(sqrt(z), &exponent); /* at least 1/2, below 1 */
    return ldexp(1, part < 0x1.6a09e667f3bcdp-1 ? exponent - 1 : exponent);
}

/* Sets the scaled values of the matrix, with better scales where they are needed; returns a `failure`. */
int block_ldl_scale(instance *s)
{
    int sweeps = !s->swept ? FIRST_SWEEPS : block_ldl_many_late(s) && s->swept < MOST_SWEEPS ? MORE_SWEEPS : 0;
    if (!s->scaled) {
        s->scaled = malloc((2 * (size_t)s->nz + 3 * (size_t)s->n) * sizeof(double));
        if (!s->scaled) return NO_MEMORY;
        s->weight = s->scaled + s->nz, s->scale = s->weight + s->nz;
        for (int i = 0; i < s->n; i++) s->scale[s->n + i] = 1;
    }
    if (sweeps) {
        entry *list = malloc(((size_t)s->nz + 1) * sizeof(entry));
        if (!list) return NO_MEMORY;
        double *z = s->scale + s->n;
        improve(s->n, list, list_entries(s, list), sweeps, z, z + s->n);
        free(list);
        for (int i = 0; i < s->n; i++) s->scale[i] = power_of_two(z[i]);
        for (int k = 0; k < s->nz; k++) s->weight[k] = s->scale[s->irn[k]] * s->scale[s->icn[k]];
        s->swept += sweeps;
    }
    for (int k = 0; k < s->nz; k++) s->scaled[k] = s->values[k] * s->weight[k];
    return NO_FAILURE;
}
