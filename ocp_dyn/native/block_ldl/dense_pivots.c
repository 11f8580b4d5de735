/* Elimination with rook pivoting (bounded Bunch-Kaufman): P A P' = L D L', a panel of columns at a time.

   Inside a panel columns are brought up to date only when the search for a pivot looks at them; the rest of the matrix
   follows when the panel is full, by one product. Ashcraft, Grimes and Lewis, Accurate symmetric indefinite linear
   equation solvers, SIAM J. Matrix Anal. Appl. 20 (1998), is the source of the search. It bounds the entries of L by
   2.78 in the rows that are searched. */
#include "dense.h"
#include "lanes.h"

#include <math.h>
#include <string.h>

enum { PANEL = 24 };                       /* columns of a panel */
static const double ALPHA = 0.6403882032022076; /* (1 + sqrt 17) / 8: least growth per row, Bunch and Kaufman 1977 */
static const double NOISE = 16 * 2.2204460492503131e-16; /* relative size of rounding errors after cancellation */

/* A panel: W holds L D of its columns, and after them the columns that the search has brought up to date. */
struct panel {
    double *W, *factors, *rest;
    long ld, first, last; /* rows first to next-1 are eliminated by this panel; it is full when next reaches last */
};

static double *column_of(const struct panel *panel, long column) { return panel->W + column * panel->ld; }

/* An odd number of cache lines: then the rows of a matrix, too, spread over all sets of the cache. */
static long odd_lines(long rows) { return (rows + 7) / 8 % 2 ? rounded_up(rows, 8) : rounded_up(rows, 8) + 8; }

long elimination_work(long rows)
{
    return odd_lines(rows) * (PANEL + 5) + 2 * PANEL + rounded_up(dense_update_work(rows, rows, PANEL + 1), 8);
}

/* y = y - L x for `count` vectors of rows and the columns of a panel. */
INLINE void subtract_rows(int count, const double *L, long ld, long columns, const double *x, double *y)
{
    lane sum[8];
    UNROLL for (int t = 0; t < count; t++) sum[t] = load(y + t * LANES);
    for (long p = 0; p < columns; p++, L += ld)
        UNROLL for (int t = 0; t < count; t++) sum[t] -= load(L + t * LANES) * x[p];
    UNROLL for (int t = 0; t < count; t++) store(y + t * LANES, sum[t]);
}

/* Column c of the matrix that is left, rows next to rows-1, in x. Vectors begin at multiples of LANES, for speed: the
   numbers that they have before and after these rows are never used. */
static void update_column(const struct elimination *f, const struct panel *panel, long c, double *x)
{
    long k = f->next, begin = k / LANES * LANES, end = rounded_up(f->rows, LANES), count = k - panel->first;
    for (long i = k; i < c; i++) x[i] = f->A[c + i * f->ld];
    memcpy(x + c, f->A + c + c * f->ld, (size_t)(f->rows - c) * sizeof *x);
    for (long p = 0; p < count; p++) panel->factors[p] = panel->W[c + p * panel->ld];
    const double *L = f->A + panel->first * f->ld;
    for (; begin + 8 * LANES <= end; begin += 8 * LANES)
        subtract_rows(8, L + begin, f->ld, count, panel->factors, x + begin);
    for (; begin + 3 * LANES <= end; begin += 3 * LANES)
        subtract_rows(3, L + begin, f->ld, count, panel->factors, x + begin);
    for (; begin < end; begin += LANES) subtract_rows(1, L + begin, f->ld, count, panel->factors, x + begin);
}

/* First place of the largest |x[i]|, from <= i < to; -1 if there are none or all are zero. Sizes are compared as whole
   numbers, for which NaN is larger than everything. */
static long largest(const double *x, long from, long to, double *size)
{
    const long long SIGN = (long long)(~0ull >> 1);
    long long found = 0;
    long place = -1;
    if (to - from < LANES) {
        for (long i = from; i < to; i++) {
            long long value;
            memcpy(&value, x + i, sizeof value);
            if ((value & SIGN) > found) found = value & SIGN, place = i;
        }
    } else {
        bits best = {0}, where = {0};
        for (long i = from; i < to; i += LANES) {
            long here = smaller(i, to - LANES); /* the last vector overlaps the one before */
            bits value = *(const bits *)(x + here) & SIGN, more = value > best;
            best = (value & more) | (best & ~more);
            where = (((bits){0} + here) & more) | (where & ~more);
        }
        for (int t = 0; t < LANES; t++)
            if (best[t] > found || (best[t] == found && found && where[t] + t < place))
                found = best[t], place = (long)where[t] + t;
    }
    memcpy(size, &found, sizeof *size);
    return place;
}

/* The same without place r, among the rows that are left of the own ones. */
static long largest_beside(const struct elimination *f, double *x, long r, double *size)
{
    double diagonal = x[r];
    x[r] = 0;
    long place = largest(x, f->next, f->n, size);
    x[r] = diagonal;
    return place;
}

static void swap(double *a, double *b)
{
    double c = *a;
    *a = *b, *b = c;
}

/* Interchanges the rows and columns a and b, both not yet eliminated. */
static void interchange(struct elimination *f, const struct panel *panel, long a, long b)
{
    if (a == b) return;
    if (a > b) {
        long c = a;
        a = b, b = c;
    }
    double *A = f->A;
    long ld = f->ld;
    int kept = f->order[a];
    f->order[a] = f->order[b], f->order[b] = kept;
    swap(f->growth + a, f->growth + b);
    for (long j = 0; j < a; j++) swap(A + a + j * ld, A + b + j * ld);
    for (long i = a + 1; i < b; i++) swap(A + i + a * ld, A + b + i * ld);
    for (long i = b + 1; i < f->rows; i++) swap(A + i + a * ld, A + i + b * ld);
    swap(A + a + a * ld, A + b + b * ld);
    for (long p = 0; p < f->next - panel->first + 2; p++) swap(column_of(panel, p) + a, column_of(panel, p) + b);
}

/* Whether column p, up to date in x, is only rounding errors of what was subtracted from it. By Cauchy's inequality the
   terms subtracted from entry (i, p) have at most the size of the root of growth[i] growth[p]. Such a column is never
   a pivot: its sign would be chance. r: place of its largest entry, looked at first. */
static int only_noise(const struct elimination *f, const double *x, long p, long r)
{
    const double *growth = f->growth;
    double level = NOISE * sqrt(growth[p]);
    if (fabs(x[p]) > level * sqrt(growth[p]) || (r >= 0 && fabs(x[r]) > level * sqrt(growth[r]))) return 0;
    for (long i = f->next; i < f->n; i++)
        if (fabs(x[i]) > level * sqrt(growth[i])) return 0;
    return 1;
}

/* Searches a pivot from row `next` on, each time going to the row of the largest entry, until an entry is the largest
   of its row and column, or a diagonal entry is nearly so. Returns the number of rows of the pivot, 0 if the column has
   only zeros (up to `tiny`) or noise; pivot: the rows, whose columns are then brought up to date in x and y. */
static int search(const struct elimination *f, const struct panel *panel, double *x, double *y, long pivot[2])
{
    double *at_p = x, *at_r = y, most, most_r;
    long p = f->next;
    update_column(f, panel, p, at_p);
    long r = largest_beside(f, at_p, p, &most);
    pivot[0] = p;
    if (!(most > f->tiny) && !(fabs(at_p[p]) > f->tiny)) return 0;
    if (only_noise(f, at_p, p, r)) return 0;
    if (r < 0 || fabs(at_p[p]) >= ALPHA * most) return 1;
    for (;;) {
        update_column(f, panel, r, at_r);
        long s = largest_beside(f, at_r, r, &most_r);
        if (fabs(at_r[r]) >= ALPHA * most_r) {
            if (at_r != x) memcpy(x + f->next, at_r + f->next, (size_t)(f->rows - f->next) * sizeof *x);
            pivot[0] = r;
            return 1;
        }
        if (s == p || !(most_r > most)) {
            pivot[0] = at_p == x ? p : r;
            pivot[1] = at_p == x ? r : p;
            return 2;
        }
        double *free = at_p;
        at_p = at_r, at_r = free;
        p = r, r = s, most = most_r;
    }
}

/* Columns l, m of L: the columns x, y (L D) of a pivot at `next`, divided by D; false if D is not larger than
   `tiny`. */
static int divide(const struct elimination *f, int size, const double *x, const double *y, double *l, double *m)
{
    long k = f->next, begin = (k + size) / LANES * LANES;
    if (size == 1) {
        if (!(fabs(x[k]) > f->tiny)) return 0;
        double inverse = 1 / x[k];
        for (long i = begin; i < f->rows; i += LANES) store(l + i, load(x + i) * inverse);
    } else {
        double off = x[k + 1], a = x[k] / off, c = y[k + 1] / off, t = 1 / ((a * c - 1) * off);
        if (!(fabs(off) > f->tiny) || !isfinite(t)) return 0;
        for (long i = begin; i < f->rows; i += LANES) {
            lane u = load(x + i), v = load(y + i);
            store(l + i, (u * c - v) * t);
            store(m + i, (v * a - u) * t);
        }
    }
    return 1;
}

void add_growth(const struct elimination *f, long k, int size, const double *l, const double *m)
{
    const double *D = f->D + 2 * k;
    double norm = size == 1 ? fabs(D[0]) : fabs(D[1]) + fmax(fabs(D[0]), fabs(D[2]));
    for (long i = (k + size) / LANES * LANES; i < f->n; i += LANES) {
        lane squares = load(l + i) * load(l + i);
        if (size == 2) squares += load(m + i) * load(m + i);
        store(f->growth + i, load(f->growth + i) + squares * norm);
    }
}

/* Whether column l of L is bounded below the pivot, in all rows. */
static int bounded(const struct elimination *f, int size, const double *l)
{
    double most;
    largest(l, f->next + size, f->rows, &most);
    return most <= f->bound;
}

/* Eliminates the pivot whose columns are x, y, after its rows have been brought to `next`; false if it is not good. */
static int accept(struct elimination *f, const struct panel *panel, int size, const double *x, const double *y)
{
    long k = f->next, begin = (k + size) / LANES * LANES;
    double *L = f->A + k * f->ld, *M = L + f->ld;
    if (f->checked) {
        double *l = column_of(panel, PANEL + 3), *m = column_of(panel, PANEL + 4);
        if (!divide(f, size, x, y, l, m) || !bounded(f, size, l) || (size == 2 && !bounded(f, size, m))) return 0;
        size_t bytes = (size_t)(rounded_up(f->rows, LANES) - begin) * sizeof *l;
        memcpy(L + begin, l + begin, bytes);
        if (size == 2) memcpy(M + begin, m + begin, bytes);
    } else if (!divide(f, size, x, y, L, M))
        return 0;
    f->D[2 * k] = x[k], f->D[2 * k + 1] = 0;
    if (size == 2) {
        L[k + 1] = 0;
        f->D[2 * k + 1] = x[k + 1], f->D[2 * k + 2] = y[k + 1], f->D[2 * k + 3] = 0;
    }
    add_growth(f, k, size, L, M);
    f->next += size;
    return 1;
}

/* A pivot for row `next`: first the one that the search finds among the own rows. Where the other rows forbid it, the
   diagonal entry, then the pivot with the largest entry of the column may still be bounded. */
static int propose(const struct elimination *f, const struct panel *panel, int attempt, double *x, double *y,
                   long pivot[2])
{
    double most;
    if (attempt == 0) return search(f, panel, x, y, pivot);
    pivot[0] = f->next;
    update_column(f, panel, f->next, x);
    if (attempt == 1) return 1;
    pivot[1] = largest_beside(f, x, f->next, &most);
    if (pivot[1] < 0) return 0;
    update_column(f, panel, pivot[1], y);
    return 2;
}

/* Tries to eliminate row `next`, alone or with another, which takes its place if it is the better pivot. */
static int eliminate_next(struct elimination *f, const struct panel *panel)
{
    long k = f->next, pivot[2];
    double *x = column_of(panel, k - panel->first), *y = x + panel->ld;
    for (int attempt = 0; attempt < (f->checked ? 3 : 1); attempt++) {
        int size = propose(f, panel, attempt, x, y, pivot);
        if (size == 0) return 0;
        long second = size == 1 ? k + 1 : pivot[1] == k ? pivot[0] : pivot[1];
        interchange(f, panel, k, pivot[0]);
        if (size == 2) interchange(f, panel, k + 1, second);
        if (accept(f, panel, size, x, y)) return 1;
        if (size == 2) interchange(f, panel, k + 1, second);
        interchange(f, panel, k, pivot[0]);
    }
    return 0;
}

/* Subtracts the panel's columns from the rest of the matrix, and begins a new panel. */
static void finish_panel(const struct elimination *f, struct panel *panel)
{
    long k = f->next, left = f->rows - k, first = panel->first;
    dense_update(left, left, k - first, f->A + k + first * f->ld, f->ld, panel->W + k, panel->ld, f->A + k + k * f->ld,
                 f->ld, 1, panel->rest);
    panel->first = k;
    panel->last = (k / PANEL + 1) * PANEL;
}

void eliminate(struct elimination *f)
{
    struct panel panel = {.W = f->work, .ld = odd_lines(f->rows), .first = f->next};
    panel.factors = f->work + panel.ld * (PANEL + 5);
    panel.rest = panel.factors + 2 * PANEL;
    panel.last = (f->next / PANEL + 1) * PANEL;
    long untried = f->n, before = f->next; /* rows from `untried` on have failed, and wait at the end */
    while (f->next < f->n) {
        if (f->next >= untried) { /* the others may be good now, after those that came in between */
            if (f->next == before) break;
            before = f->next, untried = f->n;
        }
        if (!eliminate_next(f, &panel))
            interchange(f, &panel, f->next, --untried);
        else if (f->next >= panel.last)
            finish_panel(f, &panel);
    }
    finish_panel(f, &panel);
}
