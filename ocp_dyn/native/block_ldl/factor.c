/* The factorization: every front is assembled from the matrix, its pairs, its children and its tiles, and its own rows
   are eliminated. Subtrees are worked through by threads of their own. */
#define _DEFAULT_SOURCE
#include "dense.h"
#include "worker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 1 << 21 };

static const double LEAST_PIVOT = 1e-30;

/* Rows that were delayed are tried again in the first factorizations, whose matrices are special, and then every so
   many. */
enum { FIRST = 3, TRY_AGAIN = 2 };

/* Multiply-adds from which on threads save more time than their start takes. */
static const double WORTH_THREADS = 5e6;

/* Makes room for the matrix of a front: in the common memory, or, if it has grown too large, in memory of its own. */
static int front_memory(factors *g, size_t numbers)
{
    if (numbers <= g->slot_size) return NO_FAILURE;
    if (g->slot_size) g->F = NULL, g->slot_size = 0;
    return block_ldl_reserve(&g->F, &g->room[3], numbers, sizeof(double));
}

static int rounded(int rows) { return (rows + 7) / 8 * 8; }

/* Sums the entries of the pairs; returns the number of their negative eigenvalues, or -1 if a pair is singular. */
int block_ldl_set_pairs(instance *s, const layout *l)
{
    int negative = 0;
    memset(s->J, 0, (l->entry_count + 1) * sizeof(double));
    memset(s->corner, 0, (3 * (size_t)l->pairs + 1) * sizeof(double));
    for (int k = 0; k < l->entries.count; k++) s->J[l->entries.at[k].to] += s->scaled[l->entries.at[k].source];
    for (int k = 0; k < l->corners.count; k++) s->corner[l->corners.at[k].to] += s->scaled[l->corners.at[k].source];
    for (int p = 0; p < l->pairs; p++) {
        const double *d = s->corner + 3 * (size_t)p;
        double determinant = d[0] * d[2] - d[1] * d[1];
        if (determinant == 0) return -1;
        negative += determinant < 0 ? 1 : d[0] < 0 ? 2 : 0;
    }
    return negative;
}

/* Adds the products of a pair's entries that belong to the front itself. */
static void add_pair(const instance *s, const layout *l, int number, int own, int shift, double *F, long ld)
{
    const pair *q = l->pair + number;
    const double *J = s->J + q->first, *d = s->corner + 3 * (size_t)number;
    const unsigned *code = q->code;
    double weight = d[0] / (d[1] * d[1] - d[0] * d[2]);
    for (int i = 0; i < q->count; i++)
        for (int j = 0; j <= i; j++, code++) {
            if (*code >> 30) continue;
            int r = *code >> 15, c = *code & 0x7fff;
            F[(r < own ? r : r + shift) + ld * (c < own ? c : c + shift)] += weight * J[i] * J[j];
        }
}

/* Adds column S[from..to) of a child's Schur complement, whose rows follow each other in the front, too. */
static void add_run(double *F, const double *S, int from, int to)
{
    for (int i = from; i < to; i++) F[i - from] += S[i];
}

/* Adds the Schur complement of a child; its delayed rows have the places from `delayed` on.

   Boundary rows have the same order in both fronts, so that they form a few runs of rows that follow each other. */
static void add_child(const front *c, const factors *g, int own, int shift, int delayed, int *at, double *F, long ld)
{
    int late = g->own - g->eliminated, count = late + c->boundary;
    for (int i = 0; i < late; i++) at[i] = delayed + i;
    for (int i = 0; i < c->boundary; i++) at[late + i] = c->up[i] < own ? c->up[i] : c->up[i] + shift;
    for (int j = 0; j < count; j++) {
        const double *S = g->F + (g->ld + 1) * g->eliminated + g->ld * j;
        int to = at[j];
        for (int i = j, end; i < count; i = end) {
            for (end = i + 1; end < count && at[end] == at[end - 1] + 1; end++) continue;
            if (at[i] >= to) add_run(F + at[i] + ld * to, S, i, end);
            else for (int k = i; k < end; k++) F[to + ld * at[k]] += S[k];
        }
    }
}

/* Assembles front f: lists its rows and adds up all its parts. */
static double *assemble(worker *w, int number, factors *g)
{
    instance *s = w->s;
    const front *f = w->l->front + number;
    parts raw = {0};
    tiles *t = g->tiles;
    int late = 0;
    if (f->components) {
        block_ldl_assemble_tiles(w, f, &raw);
        if (!w->failure) w->failure = block_ldl_choose_tiles(w, f, &raw, t);
        if (w->failure) return NULL;
    }
    for (int c = f->child; c >= 0; c = w->l->front[c].sibling) late += s->factors[c].own - s->factors[c].eliminated;
    int left = t ? t->leftover : 0, shift = left + late, rows = f->own + shift + f->boundary;
    g->own = f->own + shift, g->size = rows, g->ld = rounded(rows);
    if (front_memory(g, (size_t)g->ld * rows + 8) ||
        block_ldl_reserve(&g->carry, &g->room[4], rows + 1, sizeof(double)) ||
        block_ldl_reserve(&g->rows, &g->room[0], rows + 1, sizeof(int)) ||
        block_ldl_reserve(&g->place, &g->room[1], rows + 1, sizeof(int)))
        return NULL;
    double *F = g->F;
    memcpy(g->rows, f->rows, f->own * sizeof(int));
    for (int k = 0; k < left; k++) g->rows[f->own + k] = f->tile_rows[t->left[k]];
    memcpy(g->rows + g->own, f->rows + f->own, f->boundary * sizeof(int));
    for (int j = 0; j < rows; j++) memset(F + g->ld * j + j / 8 * 8, 0, (g->ld - j / 8 * 8) * sizeof(double));
    for (int k = 0; k < f->cell_count; k++) {
        cell e = f->cells[k];
        int r = e.row < f->own ? e.row : e.row + shift, c = e.column < f->own ? e.column : e.column + shift;
        F[r + g->ld * c] += s->scaled[e.source];
    }
    for (int k = 0; k < f->pair_count; k++) add_pair(s, w->l, f->pairs[k], f->own, shift, F, g->ld);
    int delayed = f->own + left;
    for (int c = f->child; c >= 0; c = w->l->front[c].sibling) {
        const factors *h = s->factors + c;
        memcpy(g->rows + delayed, h->rows + h->eliminated, (h->own - h->eliminated) * sizeof(int));
        add_child(w->l->front + c, h, f->own, shift, delayed, g->place, F, g->ld);
        delayed += h->own - h->eliminated;
    }
    if (f->components) block_ldl_eliminate_tiles(w, f, &raw, t, shift, F, g->ld);
    return w->failure ? NULL : F;
}

static void swap(double *a, double *b)
{
    double c = *a;
    *a = *b, *b = c;
}

/* Interchanges the rows and columns a < b of a symmetric matrix of `rows` rows. */
static void interchange(double *F, long ld, int rows, int a, int b)
{
    for (int j = 0; j < a; j++) swap(F + a + ld * j, F + b + ld * j);
    for (int i = a + 1; i < b; i++) swap(F + i + ld * a, F + b + ld * i);
    for (int i = b + 1; i < rows; i++) swap(F + i + ld * a, F + i + ld * b);
    swap(F + a + ld * a, F + b + ld * b);
}

/* Moves own rows that were delayed the last time to the end of the own rows, and returns their number.

   Which rows find no pivot is mostly a matter of the structure. A front that tries them again is factored in part
   twice; all rows are tried again from time to time. first: the places from which the own rows have come. */
static int hold_back(const worker *w, factors *g, double *F, int *first)
{
    int held = 0, count = (int)w->s->plan->figures.factorizations;
    int again = count < FIRST || count % TRY_AGAIN == 0 || 8 * g->late > g->own;
    for (int i = 0; i < g->own; i++) first[i] = i;
    for (int k = 0; k < (again ? 0 : g->late); k++)
        for (int i = g->own - held - 1; i >= 0; i--) {
            if (g->rows[first[i]] != g->waiting[k]) continue;
            int last = g->own - ++held, kept = first[i];
            if (i < last) interchange(F, g->ld, g->size, i, last);
            first[i] = first[last], first[last] = kept;
            break;
        }
    return held;
}

/* Writes the rows in their final order, and the places to which they have moved; remembers those that are delayed. */
static int reorder(worker *w, factors *g, const int *first)
{
    int *before = w->order + g->own;
    memcpy(before, g->rows, g->own * sizeof(int));
    for (int i = 0; i < g->own; i++) {
        int from = first[w->order[i]];
        g->rows[i] = before[from], g->place[from] = i;
    }
    g->late = g->own - g->eliminated;
    if (block_ldl_reserve(&g->waiting, &g->room[5], g->late + 1, sizeof(int))) return NO_MEMORY;
    memcpy(g->waiting, g->rows + g->eliminated, g->late * sizeof(int));
    tiles *t = g->tiles;
    for (int k = 0; t && k < t->neighbors; k++)
        if (t->at[k] < g->own) t->at[k] = g->place[t->at[k]];
    return NO_FAILURE;
}

static void count(worker *w, const factors *g)
{
    double e = g->eliminated, m = g->size - e;
    w->multiply_adds += (e * e * e / 3 + e * e * m + e * m * m) / 2;
    w->entries += e * e / 2 + e * m;
    w->delayed += g->own - e;
    if (g->size > w->largest) w->largest = g->size;
}

/* Numbers of a front's matrix, with some rows of tiles and of children that may be left over. */
static size_t slot_size(const front *f)
{
    size_t rows = rounded(f->own + f->boundary + 16);
    return rows * rows + 8;
}

static void factor_front(worker *w, int number)
{
    factors *g = w->s->factors + number;
    double *F = assemble(w, number, g);
    if (!F) {
        if (!w->failure) w->failure = NO_MEMORY;
        return;
    }
    long own = g->own, boundary = g->size - own, negative = 0;
    if (block_ldl_reserve(&w->work, &w->room[1], dense_work(own, boundary), sizeof(double)) ||
        block_ldl_reserve(&w->order, &w->room[3], 3 * own + 2, sizeof(int)) ||
        block_ldl_reserve(&g->D, &g->room[2], 2 * own + 2, sizeof(double))) {
        w->failure = NO_MEMORY;
        return;
    }
    int *first = w->order + 2 * own, last = w->l->front[number].parent < 0;
    int held = hold_back(w, g, F, first);
    if (last) held = 0;
    for (int i = 0; i < own; i++) w->order[i] = i;
    long e = dense_front(own - held, boundary + held, F, g->ld, w->s->threshold, LEAST_PIVOT, w->order, g->D, &negative,
                         w->work);
    if (e < 0) {
        w->failure = NOT_FINITE;
        return;
    }
    g->eliminated = (int)e;
    w->negative += (int)negative + (g->tiles ? g->tiles->rank : 0);
    w->failure = reorder(w, g, first);
    count(w, g);
}

/* Factors the fronts of the worker's thread; those of thread -1 are at the top of the tree. */
static void factor_subtree(worker *w)
{
    for (int f = 0; f < w->l->fronts && !w->failure; f++)
        if (w->l->front[f].thread == w->number) factor_front(w, f);
}

/* Takes memory for all fronts at once, in large pages where the system has them: the processor then finds its addresses
   faster. Fronts have room for some more rows than the layout tells; no memory is no failure yet. */
static void reserve_fronts(instance *s, const layout *l)
{
    size_t total = LARGE_PAGE / sizeof(double), size;
    for (int f = 0; f < l->fronts; f++) total += slot_size(l->front + f);
    if (s->reserved++ || block_ldl_reserve(&s->fronts, &s->fronts_room, total, sizeof(double))) return;
    char *begin = (char *)(((size_t)s->fronts + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
#ifdef MADV_HUGEPAGE
    madvise(begin, total * sizeof(double) - LARGE_PAGE, MADV_HUGEPAGE);
#endif
    for (int f = 0; f < l->fronts; f++, begin += size * sizeof(double)) {
        size = slot_size(l->front + f);
        s->factors[f].F = (double *)begin, s->factors[f].slot_size = size;
    }
}

static int prepare(instance *s, const layout *l)
{
    int workers = s->plan->subtrees + 1;
    if (!s->factors) s->factors = calloc(l->fronts + 1, sizeof(factors));
    if (!s->workers) s->workers = calloc(workers, sizeof(worker));
    if (!s->factors || !s->workers) return NO_MEMORY;
    reserve_fronts(s, l);
    for (int k = 0; k < workers; k++) {
        worker *w = s->workers + k;
        w->s = s, w->l = l, w->number = k < workers - 1 ? k : -1;
        w->failure = w->negative = 0;
        w->delayed = w->multiply_adds = w->entries = w->largest = 0;
    }
    for (int f = 0; f < l->fronts; f++) {
        factors *g = s->factors + f;
        if (!l->front[f].components) {
            if (g->tiles) g->tiles->rank = g->tiles->leftover = g->tiles->neighbors = 0;
        } else if (!g->tiles) {
            g->tiles = calloc(1, sizeof(tiles));
            if (!g->tiles) return NO_MEMORY;
        }
    }
    return NO_FAILURE;
}

/* Factors the matrix whose values the instance holds; *negative: the number of its negative eigenvalues. */
int block_ldl_factor(instance *s, const layout *l, int *negative)
{
    int failure = block_ldl_scale(s), subtrees = s->plan->subtrees;
    s->late = 0;
    if (!failure) failure = prepare(s, l);
    if (failure) return failure;
    *negative = block_ldl_set_pairs(s, l);
    if (*negative < 0) return SINGULAR;
    block_ldl_in_threads(s, factor_subtree, l->work > WORTH_THREADS);
    for (int k = 0; k < subtrees && !failure; k++) failure = s->workers[k].failure;
    if (failure) return failure;
    factor_subtree(s->workers + subtrees);
    statistics *figures = &s->plan->figures;
    figures->multiply_adds = figures->entries = 0;
    for (int k = 0; k <= subtrees; k++) {
        const worker *w = s->workers + k;
        *negative += w->negative;
        s->late += w->delayed;
        figures->delayed += w->delayed, figures->multiply_adds += w->multiply_adds, figures->entries += w->entries;
        if (w->largest > figures->largest_front) figures->largest_front = w->largest;
    }
    figures->threads = l->work <= WORTH_THREADS ? 1 : s->plan->threads < subtrees ? s->plan->threads : subtrees;
    failure = s->workers[subtrees].failure;
    return failure ? failure : block_ldl_judge_zeros(s, l, negative);
}

/* Frees all factors of an instance. */
void block_ldl_release(instance *s)
{
    for (int f = 0; s->factors && f < s->plan->fronts; f++) {
        factors *g = s->factors + f;
        tiles *t = g->tiles;
        free(g->rows), free(g->place), free(g->slot_size ? NULL : g->F), free(g->D), free(g->carry), free(g->waiting);
        if (t) free(t->primal), free(t->H), free(t->C), free(t->inverse), free(t->Z), free(t->w), free(t->Q);
        free(t);
    }
    for (int k = 0; s->workers && k <= s->plan->subtrees; k++) {
        worker *w = s->workers + k;
        free(w->raw), free(w->more), free(w->work), free(w->scratch), free(w->order);
    }
    free(s->factors), free(s->workers), free(s->fronts);
    s->factors = NULL, s->workers = NULL, s->fronts = NULL;
}
