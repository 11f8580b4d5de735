/* Factorization of a front: first its own rows alone, as if they were the whole matrix, then the boundary rows by
   products. The bound of L in the boundary rows is checked afterwards; it fails rarely. Then the pivots from the first
   bad one on are withdrawn, and the rest of the own rows is eliminated with a check of every pivot over all rows. */
#include "dense.h"
#include "lanes.h"

#include <math.h>
#include <string.h>

struct front {
    long n, m, ld, lda, columns; /* columns: n rounded up to whole tiles */
    double *F, bound, *D;
    int *order;
    double *A;       /* (n, n) copy of the own rows, which is factored */
    double *packed;  /* A's L, packed as a right factor */
    double *W, *L21; /* boundary rows: L21 D packed as a left factor, L21 as a right factor */
    double *inverse; /* of D, stored like D */
    double *growth;  /* of the own rows, see struct elimination */
    double *rest;
};

static long round8(long n) { return rounded_up(n, 8); }
static long own_ld(long n) { return round8(n) / 8 % 2 ? round8(n) : round8(n) + 8; }

/* Parts of the work space, in the order of the pointers that are set below. */
enum { COPY, PACKED, LEFT, RIGHT, INVERSE, GROWTH, REST, PARTS };

static void part_sizes(long n, long m, long size[PARTS])
{
    long elimination = elimination_work(n + m), update = dense_update_work(n, n, n);
    size[COPY] = own_ld(n) * n;
    size[PACKED] = round8(packed_right(n, n));
    size[LEFT] = round8(packed_left(m, rounded_up(n, WIDE)));
    size[RIGHT] = round8(packed_right(rounded_up(m, LANES), n));
    size[INVERSE] = round8(2 * n);
    size[GROWTH] = round8(n);
    size[REST] = round8(elimination > update ? elimination : update);
}

long dense_work(long n, long m)
{
    long size[PARTS], total = 0;
    part_sizes(n, m, size);
    for (int part = 0; part < PARTS; part++) total += size[part];
    return total;
}

static void divide_work(struct front *f, double *work)
{
    double **parts[PARTS] = {&f->A, &f->packed, &f->W, &f->L21, &f->inverse, &f->growth, &f->rest};
    long size[PARTS];
    part_sizes(f->n, f->m, size);
    for (int part = 0; part < PARTS; work += size[part++]) *parts[part] = work;
    f->lda = own_ld(f->n);
    f->columns = rounded_up(f->n, WIDE);
}

/* Whether the lower triangle has only finite numbers: 0 x is zero only for these. */
static int all_finite(const struct front *f)
{
    lane sum[2] = {{0}, {0}};
    double rest = 0;
    long rows = f->n + f->m;
    for (long j = 0; j < rows; j++) {
        const double *x = f->F + j * f->ld;
        long i = j;
        for (; i + 2 * LANES <= rows; i += 2 * LANES) {
            sum[0] += load(x + i) * 0.0;
            sum[1] += load(x + i + LANES) * 0.0;
        }
        for (; i < rows; i++) rest += x[i] * 0.0;
    }
    for (int t = 0; t < LANES; t++) rest += sum[0][t] + sum[1][t];
    return rest == 0;
}

static void copy_own_rows(const struct front *f)
{
    for (long j = 0; j < f->n; j++) {
        double *a = f->A + j * f->lda;
        memcpy(a + j, f->F + j + j * f->ld, (size_t)(f->n - j) * sizeof *a);
    }
}

/* Packs the first e columns of L; further columns of its diagonal blocks are zero. */
static void pack_own_rows(const struct front *f, long e)
{
    for (long i = 0; i < f->n; i += WIDE) {
        long rows = smaller(WIDE, f->n - i), k = smaller(e, i + WIDE), end = smaller(f->n, i + WIDE);
        double *sliver = f->packed + i * f->n;
        pack_sliver(rows, WIDE, k, f->A + i, f->lda, 0, sliver);
        if (end > k) memset(sliver + k * WIDE, 0, (size_t)((end - k) * WIDE) * sizeof *sliver);
    }
}

static void invert_pivots(const struct front *f, long e)
{
    const double *D = f->D;
    for (long j = 0; j < e; j++)
        if (D[2 * j + 1] == 0)
            f->inverse[2 * j] = 1 / D[2 * j];
        else {
            double off = D[2 * j + 1], a = D[2 * j] / off, c = D[2 * j + 2] / off, t = 1 / ((a * c - 1) * off);
            f->inverse[2 * j] = c * t, f->inverse[2 * j + 1] = -t, f->inverse[2 * j + 2] = a * t;
            j++;
        }
}

/* Place of the vector of rows i, i+1, ... in column 0 of L21. */
static double *boundary_rows(const struct front *f, long i) { return f->L21 + i / WIDE * WIDE * f->n + i % WIDE; }

/* L21 = W D^-1 for the LANES rows from i on, of a sliver of `height` rows; returns whether all are bounded. */
static int divide_rows(const struct front *f, long e, long i, const double *w, long height)
{
    double *l = boundary_rows(f, i);
    const double *D = f->D, *inverse = f->inverse;
    bits good = (bits){0} - 1;
    const bits SIZE = (bits){0} + (long long)(~0ull >> 1);
    for (long j = 0; j < e; j++, w += height, l += WIDE) {
        lane value = load(w) * inverse[2 * j];
        if (D[2 * j + 1] != 0) {
            lane next = load(w + height);
            lane second = load(w) * inverse[2 * j + 1] + next * inverse[2 * j + 2];
            value += next * inverse[2 * j + 1];
            good &= (lane)((bits)second & SIZE) <= (lane){0} + f->bound;
            store(l + WIDE, second);
            good &= (lane)((bits)value & SIZE) <= (lane){0} + f->bound;
            store(l, value);
            j++, w += height, l += WIDE;
            continue;
        }
        good &= (lane)((bits)value & SIZE) <= (lane){0} + f->bound;
        store(l, value);
    }
    long long all = -1;
    for (int t = 0; t < LANES; t++) all &= good[t];
    return all != 0;
}

/* W = A21 P' L11'^-1 and L21 = W D^-1; returns whether L21 is bounded. */
static int solve_boundary(const struct front *f, long e)
{
    int good = 1;
    pack_own_rows(f, e);
    invert_pivots(f, e);
    long last = f->m / WIDE * WIDE; /* the last sliver of L21 may have rows that no vector fills */
    if (last < f->m) memset(f->L21 + last * f->n, 0, (size_t)(WIDE * f->n) * sizeof *f->L21);
    for (long i = 0; i < f->m;) {
        long height = vectors_of(f->m - i) * LANES, n = f->n;
        double *W = f->W + i * f->columns;
        pack_sliver(smaller(f->m - i, height), height, n, f->F + n + i, f->ld, f->order, W);
        for (long first = 0; first < n; first += WIDE) solve_sliver(height, first, e, f->packed + first * n, W);
        for (long t = 0; t < height; t += LANES) good &= divide_rows(f, e, i + t, W + t, height);
        i += height;
    }
    return good;
}

/* First column of the first pivot whose columns of L21 are not bounded. */
static long first_bad(const struct front *f, long e)
{
    long start = 0;
    for (long j = 0; j < e; j++) {
        if (j == 0 || f->D[2 * j - 1] == 0) start = j;
        for (long i = 0; i < f->m; i++)
            if (!(fabs(boundary_rows(f, i)[j * WIDE]) <= f->bound)) return start;
    }
    return e;
}

/* Withdraws the pivots from e on: rows e to n-1 of A become the Schur complement after e eliminations. */
static void withdraw(const struct front *f, struct elimination *own, long e)
{
    long left = f->n - e;
    double *T = f->packed; /* L D */
    for (long j = 0; j < e; j++) {
        const double *l = f->A + e + j * f->lda;
        double *t = T + j * left, d = f->D[2 * j], next = f->D[2 * j + 1], before = j ? f->D[2 * j - 1] : 0;
        for (long i = 0; i < left; i++)
            t[i] = d * l[i] + (next != 0 ? next * l[i + f->lda] : 0) + (before != 0 ? before * l[i - f->lda] : 0);
    }
    for (long j = e; j < f->n; j++)
        for (long i = j; i < f->n; i++) {
            long a = f->order[i], b = f->order[j];
            f->A[i + j * f->lda] = a >= b ? f->F[a + b * f->ld] : f->F[b + a * f->ld];
        }
    dense_update(left, left, e, f->A + e, f->lda, T, left, f->A + e + e * f->lda, f->lda, 1, f->rest);
    memset(f->D + 2 * e, 0, (size_t)(2 * left) * sizeof *f->D);
    memset(f->growth, 0, (size_t)f->n * sizeof *f->growth);
    for (long j = 0; j < e; j++) {
        const double *l = f->A + j * f->lda;
        int size = f->D[2 * j + 1] == 0 ? 1 : 2;
        add_growth(own, j, size, l, l + f->lda);
        j += size - 1;
    }
    own->next = e;
}

/* Writes columns of L21, or of the boundary rows that are left, to F: `rows` rows of a packed sliver. */
static void write_rows(const struct front *f, long rows, long columns, const double *packed, long height, double *to)
{
    if (rows == LANES)
        for (long j = 0; j < columns; j++) store(to + j * f->ld, load(packed + j * height));
    else
        for (long j = 0; j < columns; j++)
            for (long i = 0; i < rows; i++) to[i + j * f->ld] = packed[i + j * height];
}

/* Writes L, and what is left of the columns e to n-1, to F; then updates the boundary. */
static void write_front(const struct front *f, long e)
{
    long n = f->n, m = f->m, ld = f->ld;
    for (long j = 0; j < n; j++)
        memcpy(f->F + j + j * ld, f->A + j + j * f->lda, (size_t)(n - j) * sizeof *f->F);
    for (long i = 0; i < m;) {
        long height = vectors_of(m - i) * LANES, rows = smaller(m - i, height);
        const double *W = f->W + i * f->columns;
        for (long t = 0; t < rows; t += LANES) {
            double *to = f->F + n + i + t;
            write_rows(f, smaller(LANES, rows - t), e, boundary_rows(f, i + t), WIDE, to);
            write_rows(f, smaller(LANES, rows - t), n - e, W + t + e * height, height, to + e * ld);
        }
        multiply_sliver(height, rows, m, e, W, f->L21, n, f->F + n + i + n * ld, ld, i);
        i += height;
    }
}

static long count_negative(const double *D, long e)
{
    long count = 0;
    for (long j = 0; j < e; j++)
        if (D[2 * j + 1] == 0)
            count += D[2 * j] < 0;
        else {
            double off = D[2 * j + 1], a = D[2 * j] / off, c = D[2 * j + 2] / off;
            count += a * c < 1 ? 1 : D[2 * j] < 0 ? 2 : 0;
            j++;
        }
    return count;
}

long dense_front(long n, long m, double *F, long ld, double threshold, double tiny, int *order, double *D,
                 long *negative, double *work)
{
    struct front f = {.n = n, .m = m, .ld = ld, .F = F, .bound = 1 / threshold, .D = D, .order = order};
    divide_work(&f, work);
    *negative = 0;
    if (!all_finite(&f)) return -1;
    for (long i = 0; i < n; i++) order[i] = (int)i, D[2 * i] = D[2 * i + 1] = 0;
    copy_own_rows(&f);
    tiny = fmax(tiny, 1e-290); /* the inverse of a pivot is finite */
    struct elimination own = {.A = f.A, .ld = f.lda, .n = n, .rows = n, .bound = f.bound, .tiny = tiny,
                              .checked = f.bound < 3, .order = order, .D = D, .growth = f.growth, .work = f.rest};
    memset(f.growth, 0, (size_t)n * sizeof *f.growth);
    eliminate(&own);
    while (!solve_boundary(&f, own.next)) {
        long good = first_bad(&f, own.next);
        if (good == own.next) return -1; /* only after an overflow */
        withdraw(&f, &own, good);
    }
    write_front(&f, own.next);
    if (m > 0 && own.next < n) {
        own.A = F, own.ld = ld, own.rows = n + m, own.checked = 1;
        eliminate(&own);
    }
    for (long j = 0; j < 2 * own.next; j++)
        if (!isfinite(D[j])) return -1;
    *negative = count_negative(D, own.next);
    return own.next;
}
