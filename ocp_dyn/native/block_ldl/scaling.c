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

/* The squares of the entries that are not zero, column by column, and their rows. */
typedef struct {
    int *begin, *row;
    double *square;
} columns;

/* Lists the entries. Numbers that are not finite are left out: the elimination finds them. Returns a `failure`. */
static int list_entries(const instance *s, columns *c)
{
    c->square = malloc(((size_t)s->nz + 1) * sizeof(double)), c->row = malloc(((size_t)s->nz + 1) * sizeof(int));
    c->begin = calloc((size_t)s->n + 2, sizeof(int));
    if (!c->square || !c->row || !c->begin) return NO_MEMORY;
    int *next = c->begin + 1; /* where the next entry of every column goes; at the end, where the column ends */
    for (int k = 0; k < s->nz; k++) next[s->icn[k] + 1] += s->values[k] != 0;
    for (int j = 0; j < s->n; j++) next[j + 1] += next[j];
    for (int k = 0; k < s->nz; k++) {
        if (s->values[k] == 0) continue;
        double square = s->values[k] * s->values[k];
        int at = next[s->icn[k]]++;
        c->row[at] = s->irn[k], c->square[at] = square < HUGE_VAL ? square : 0;
    }
    return NO_FAILURE;
}

/* Improves the squares z of the scales by `sweeps` sweeps; sum: work space. An entry beside the diagonal counts in its
   row and in its column; the sum of a column is collected in registers, so that no addition waits for a store. */
static void improve(int n, const columns *c, int sweeps, double *restrict z, double *restrict sum)
{
    const int *restrict row = c->row;
    const double *restrict square = c->square;
    for (int t = 0; t < sweeps; t++) {
        for (int i = 0; i < n; i++) sum[i] = 0;
        for (int j = 0; j < n; j++) {
            double of_column = 0, zj = z[j];
            for (int k = c->begin[j]; k < c->begin[j + 1]; k++) {
                int i = row[k];
                of_column += square[k] * z[i];
                if (i != j) sum[i] += square[k] * zj;
            }
            sum[j] += of_column;
        }
        for (int i = 0; i < n; i++) {
            double next = sqrt(z[i] / sum[i]); /* not finite in a row without entries, whose scale stays */
            next = next < 1 / LARGEST ? 1 / LARGEST : next > LARGEST ? LARGEST : next;
            z[i] = sum[i] > 0 ? next : z[i];
        }
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
        columns c;
        double *z = s->scale + s->n;
        int failure = list_entries(s, &c);
        if (!failure) improve(s->n, &c, sweeps, z, z + s->n);
        free(c.begin), free(c.row), free(c.square);
        if (failure) return failure;
        for (int i = 0; i < s->n; i++) s->scale[i] = power_of_two(z[i]);
        for (int k = 0; k < s->nz; k++) s->weight[k] = s->scale[s->irn[k]] * s->scale[s->icn[k]];
        s->swept += sweeps;
    }
    for (int k = 0; k < s->nz; k++) s->scaled[k] = s->values[k] * s->weight[k];
    return NO_FAILURE;
}
