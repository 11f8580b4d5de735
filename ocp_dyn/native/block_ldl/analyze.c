/* The layout of a matrix: which of its rows and entries go where in the fronts of a plan. */
#include "analysis.h"

#include <stdlib.h>
#include <string.h>

static int *numbers(analysis *a, size_t count) { return block_ldl_take(a, count, sizeof(int)); }

static int ascending(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }

/* Finds the pairs by their links, and counts and numbers the entries of their rows. */
static void find_pairs(analysis *a)
{
    layout *l = a->l;
    for (int i = 0; i < a->n; i++) a->pair[i] = -1;
    l->pair = block_ldl_take(a, a->n / 2 + 1, sizeof(pair));
    for (int k = 0; k < a->nz; k++) {
        int i = low(a->irn[k], a->icn[k]), j = high(a->irn[k], a->icn[k]);
        if (i == j || a->role[i] != PAIRED || a->role[j] != PAIRED) continue;
        if (a->pair[i] >= 0 && a->pair[i] == a->pair[j]) continue;
        if (a->pair[i] >= 0 || a->pair[j] >= 0) block_ldl_refuse(a);
        l->pair[l->pairs] = (pair){.s = i, .y = j, .front = a->plan->fronts};
        a->pair[i] = a->pair[j] = l->pairs++;
    }
    for (int i = 0; i < a->n; i++)
        if (a->role[i] == PAIRED && a->pair[i] < 0) block_ldl_refuse(a);
}

/* The number of the pair whose row holds entry k on a row that is not paired, or -1; x: that row. */
static int pair_of(analysis *a, int k, int *x)
{
    int i = a->irn[k], j = a->icn[k];
    if ((a->role[i] == PAIRED) == (a->role[j] == PAIRED)) return -1;
    int y = a->role[i] == PAIRED ? i : j;
    *x = y == i ? j : i;
    if (a->l->pair[a->pair[y]].y != y) block_ldl_refuse(a); /* a slack acts on its own row only */
    return a->pair[y];
}

static void place_pairs(analysis *a)
{
    layout *l = a->l;
    int x = 0, total = 0, corners = 0;
    for (int k = 0; k < a->nz; k++) {
        int p = pair_of(a, k, &x);
        if (p >= 0) l->pair[p].count++, total++;
        else if (a->role[a->irn[k]] == PAIRED) corners++;
    }
    l->column = numbers(a, total);
    l->entries.at = block_ldl_take(a, total, sizeof(place));
    l->corners.at = block_ldl_take(a, corners, sizeof(place));
    for (int p = 0, first = 0; p < l->pairs; p++) {
        l->pair[p].first = first;
        first += l->pair[p].count;
        l->pair[p].count = 0;
    }
    for (int k = 0; k < a->nz; k++) { /* the same entry given twice is one entry */
        int p = pair_of(a, k, &x);
        if (p < 0) continue;
        pair *q = l->pair + p;
        int at = q->first;
        while (at < q->first + q->count && l->column[at] != x) at++;
        if (at == q->first + q->count) l->column[at] = x, q->count++;
        q->front = low(q->front, a->front[x]);
        l->entries.at[l->entries.count++] = (place){k, at};
    }
    l->entry_count = total;
    for (int k = 0; k < a->nz; k++) {
        int i = a->irn[k], j = a->icn[k];
        if (a->role[i] != PAIRED || a->role[j] != PAIRED) continue;
        pair *q = l->pair + a->pair[i];
        l->corners.at[l->corners.count++] = (place){k, 3 * a->pair[i] + (i == q->y) + (j == q->y)};
    }
}

/* In the strict layout all rows are ordinary; slacks and inequality rows join the front of their row's entries. */
static void make_strict(analysis *a)
{
    find_pairs(a);
    place_pairs(a);
    for (int p = 0; p < a->l->pairs; p++) {
        pair *q = a->l->pair + p;
        a->front[q->s] = a->front[q->y] = q->count ? q->front : a->plan->fronts - 1;
    }
    for (int i = 0; i < a->n; i++) a->role[i] = ORDINARY;
    a->l->pairs = a->l->entries.count = a->l->corners.count = a->l->entry_count = 0;
}

/* Marks the component of a tile's row that meets a row of a front below. */
static void mark(const analysis *a, int row, int front, char *marked)
{
    if (a->role[row] != PAIRED && is_tile(a, row) && front < a->front[row]) marked[a->plan->tile[row]] = 1;
}

/* Makes the rows of those tiles ordinary that rows of fronts below meet: their blocks would be filled. */
static void dissolve_tiles(analysis *a)
{
    int tiles = 1;
    for (int i = 0; i < a->n; i++) tiles = high(tiles, a->plan->tile[i] + 1);
    char *marked = block_ldl_take(a, tiles, 1);
    for (int k = 0; k < a->nz; k++) {
        int i = a->irn[k], j = a->icn[k];
        if (a->role[i] == PAIRED || a->role[j] == PAIRED) continue;
        mark(a, i, a->front[j], marked);
        mark(a, j, a->front[i], marked);
    }
    for (int p = 0; p < a->l->pairs; p++) {
        const pair *q = a->l->pair + p;
        for (int e = q->first; e < q->first + q->count; e++) mark(a, a->l->column[e], q->front, marked);
    }
    for (int i = 0; i < a->n; i++)
        if (is_tile(a, i) && marked[a->plan->tile[i]]) a->role[i] = ORDINARY;
}

/* The front in which entry k is assembled: that of the row that is eliminated first. -1 if it belongs to a pair. */
static int front_of(const analysis *a, int k)
{
    int i = a->irn[k], j = a->icn[k];
    return a->role[i] == PAIRED || a->role[j] == PAIRED ? -1 : low(a->front[i], a->front[j]);
}

/* Sorts the entries by fronts: those of front f are list[first[f] .. first[f + 1]). */
static void sort_entries(analysis *a)
{
    int fronts = a->plan->fronts;
    for (int k = 0; k < a->nz; k++) {
        int f = front_of(a, k);
        if (f >= 0) a->first[f + 1]++;
    }
    for (int f = 0; f < fronts; f++) a->first[f + 1] += a->first[f];
    int *next = numbers(a, fronts);
    memcpy(next, a->first, fronts * sizeof(int));
    for (int k = 0; k < a->nz; k++) {
        int f = front_of(a, k);
        if (f >= 0) a->list[next[f]++] = k;
    }
}

/* Lists the own rows of all fronts and the rows of their tiles, component by component. */
static void list_rows(analysis *a)
{
    layout *l = a->l;
    int fronts = a->plan->fronts, tiles = 0;
    for (int i = 0; i < a->n; i++) tiles = high(tiles, is_tile(a, i) ? a->plan->tile[i] + 1 : 0);
    int *members = numbers(a, 4 * (size_t)tiles);
    int *begin = members + tiles, *home = begin + tiles, *number = home + tiles;
    for (int t = 0; t < tiles; t++) home[t] = -1;
    for (int i = 0; i < a->n; i++) {
        if (a->role[i] == PAIRED) continue;
        front *f = l->front + a->front[i];
        if (!is_tile(a, i)) {
            a->local[i] = f->own++;
            continue;
        }
        int t = a->plan->tile[i];
        if (home[t] >= 0 && home[t] != a->front[i]) block_ldl_refuse(a);
        home[t] = a->front[i];
        *(a->role[i] == TILE_PRIMAL ? &members[t] : &begin[t]) += 1;
    }
    for (int f = 0, first = 0; f < fronts; first += l->front[f++].own) a->begin[f] = first;
    for (int i = 0; i < a->n; i++)
        if (a->role[i] == ORDINARY) a->rank[i] = a->begin[a->front[i]] + a->local[i], a->sequence[a->rank[i]] = i;
    for (int t = 0; t < tiles; t++)
        if (home[t] >= 0) l->front[home[t]].components++;
    for (int f = 0; f < fronts; f++) {
        l->front[f].component = block_ldl_take(a, l->front[f].components, sizeof(component));
        l->front[f].components = 0;
    }
    for (int t = 0; t < tiles; t++) {
        if (home[t] < 0) continue;
        front *f = l->front + home[t];
        component c = {.rows = begin[t], .columns = members[t], .row = f->dual, .column = f->primal};
        c.block = f->block_size;
        f->block_size += (size_t)c.rows * c.columns;
        begin[t] = c.row, members[t] = c.column;
        f->dual += c.rows, f->primal += c.columns;
        number[t] = f->components;
        f->component[f->components++] = c;
    }
    for (int f = 0; f < fronts; f++) l->front[f].tile_rows = numbers(a, (size_t)l->front[f].primal + l->front[f].dual);
    for (int i = 0; i < a->n; i++) {
        if (a->role[i] == PAIRED || !is_tile(a, i)) continue;
        front *f = l->front + a->front[i];
        int primal = a->role[i] == TILE_PRIMAL, t = a->plan->tile[i];
        a->local[i] = primal ? members[t]++ : begin[t]++;
        a->of[i] = number[t];
        f->tile_rows[a->local[i] + (primal ? 0 : f->primal)] = i;
    }
}

/* Adds a row to the boundary of front f if it is eliminated later; a row of a tile of another front has no place. */
static void meet(analysis *a, int f, int row, int *list, int *count)
{
    if (a->front[row] == f || a->seen[row] == f + 1) return;
    if (is_tile(a, row) || a->front[row] < f) block_ldl_refuse(a);
    a->seen[row] = f + 1;
    list[(*count)++] = row;
}

/* The boundary of front f: what its entries, its pairs and the boundaries of its children couple to. */
static void find_boundary(analysis *a, int f, int *list)
{
    layout *l = a->l;
    front *g = l->front + f;
    int count = 0;
    for (int k = a->first[f]; k < a->first[f + 1]; k++) {
        meet(a, f, a->irn[a->list[k]], list, &count);
        meet(a, f, a->icn[a->list[k]], list, &count);
    }
    for (int p = 0; p < g->pair_count; p++) {
        const pair *q = l->pair + g->pairs[p];
        for (int e = q->first; e < q->first + q->count; e++) meet(a, f, l->column[e], list, &count);
    }
    for (int c = g->child; c >= 0; c = l->front[c].sibling)
        for (int b = 0; b < l->front[c].boundary; b++) {
            int row = l->front[c].rows[l->front[c].own + b];
            if (is_tile(a, row)) block_ldl_refuse(a);
            meet(a, f, row, list, &count);
        }
    for (int k = 0; k < count; k++) list[k] = a->rank[list[k]];
    qsort(list, count, sizeof(int), ascending); /* in the order of elimination: the order of the parent's front, too */
    for (int k = 0; k < count; k++) list[k] = a->sequence[list[k]];
    if (count && g->parent < 0) block_ldl_refuse(a); /* rows that no ancestor eliminates */
    if (g->own + count + g->primal + g->dual > MOST_ROWS) block_ldl_refuse(a);
    g->boundary = count;
    g->rows = numbers(a, (size_t)g->own + count);
    memcpy(g->rows + g->own, list, count * sizeof(int));
}

/* Places in the parent's front of the boundary rows of its children, and places of all entries of the front. */
static void place_front(analysis *a, int f)
{
    layout *l = a->l;
    front *g = l->front + f;
    for (int k = 0; k < g->own + g->boundary; k++) a->where[g->rows[k]] = k;
    for (int c = g->child; c >= 0; c = l->front[c].sibling) {
        front *h = l->front + c;
        h->up = numbers(a, h->boundary);
        for (int b = 0; b < h->boundary; b++) h->up[b] = a->where[h->rows[h->own + b]];
    }
    block_ldl_place(a, g, a->list + a->first[f], a->first[f + 1] - a->first[f]);
}

/* Gives every front its own rows and its pairs. */
static void own_rows(analysis *a)
{
    layout *l = a->l;
    int fronts = a->plan->fronts;
    for (int f = 0; f < fronts; f++) l->front[f].parent = a->plan->parent[f], l->front[f].thread = a->plan->thread[f];
    for (int p = 0; p < l->pairs; p++) {
        pair *q = l->pair + p;
        if (q->front >= fronts) q->front = fronts - 1; /* a row without entries */
        l->front[q->front].pair_count++;
    }
    for (int f = 0; f < fronts; f++) {
        l->front[f].pairs = numbers(a, l->front[f].pair_count);
        l->front[f].pair_count = 0;
    }
    for (int p = 0; p < l->pairs; p++) {
        front *f = l->front + l->pair[p].front;
        f->pairs[f->pair_count++] = p;
    }
}

static void analyze(analysis *a, int strict)
{
    layout *l = a->l;
    int fronts = a->plan->fronts;
    a->pair = numbers(a, a->n);
    if (strict) make_strict(a);
    else find_pairs(a), place_pairs(a);
    for (int i = 0; i < a->n; i++)
        if (a->role[i] != PAIRED && (a->front[i] < 0 || a->front[i] >= fronts)) block_ldl_refuse(a);
    dissolve_tiles(a);
    l->front = block_ldl_take(a, fronts, sizeof(front));
    l->fronts = fronts;
    a->first = numbers(a, (size_t)fronts + 1), a->list = numbers(a, a->nz);
    a->local = numbers(a, a->n), a->of = numbers(a, a->n), a->where = numbers(a, a->n);
    a->near = numbers(a, a->n), a->seen = numbers(a, a->n);
    a->rank = numbers(a, a->n), a->sequence = numbers(a, a->n), a->begin = numbers(a, fronts);
    sort_entries(a);
    list_rows(a);
    own_rows(a);
    int *list = numbers(a, a->n);
    for (int f = 0; f < fronts; f++) l->front[f].child = l->front[f].sibling = -1;
    for (int f = 0; f < fronts; f++) {
        front *g = l->front + f;
        find_boundary(a, f, list);
        double n = g->own, m = g->boundary;
        l->work += (n * n * n / 3 + n * n * m + n * m * m) / 2, l->numbers += n * n / 2 + n * m;
        if (g->parent < 0) continue;
        g->sibling = l->front[g->parent].child;
        l->front[g->parent].child = f;
    }
    for (int i = 0; i < a->n; i++)
        if (a->role[i] != PAIRED && !is_tile(a, i)) l->front[a->front[i]].rows[a->local[i]] = i;
    for (int f = 0; f < fronts; f++) place_front(a, f);
}

/* Makes the layout of a matrix of nz entries (irn, icn); returns a `failure`. */
int block_ldl_analyze(const plan *p, int nz, const int *irn, const int *icn, int strict, layout **made)
{
    analysis a = {.plan = p, .n = p->n, .nz = nz, .irn = irn, .icn = icn};
    a.l = calloc(1, sizeof(layout));
    if (!a.l) return NO_MEMORY;
    int failure = setjmp(a.escape);
    if (failure) {
        block_ldl_forget(a.l);
        return failure;
    }
    a.l->n = p->n;
    a.role = numbers(&a, p->n), a.front = numbers(&a, p->n);
    memcpy(a.role, p->role, p->n * sizeof(int));
    memcpy(a.front, p->front, p->n * sizeof(int));
    analyze(&a, strict);
    *made = a.l;
    return NO_FAILURE;
}
