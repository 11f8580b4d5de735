/* Places of the entries of a front: in the front itself, or in the parts of the matrix on the rows of its tiles. */
#include "analysis.h"

/* A row of a tile and a row that is none, of one front, are neighbors; the first pass marks these rows. */
static void meet_neighbor(analysis *a, front *f, int tile, int row, int pass)
{
    if (pass == 0) a->near[row] = 1;
    if (pass == 0 || a->role[tile] == TILE_PRIMAL) return;
    component *c = f->component + a->of[tile];
    int near = a->near[row] - 1, k = 0;
    while (k < c->touched && c->near[k] != near) k++;
    if (k == c->touched) c->near[c->touched++] = near;
}

static void meet_pair(analysis *a, front *f, int i, int j, int pass)
{
    if (is_tile(a, i) && !is_tile(a, j)) meet_neighbor(a, f, i, j, pass);
    if (is_tile(a, j) && !is_tile(a, i)) meet_neighbor(a, f, j, i, pass);
}

static void meet_all(analysis *a, front *f, const int *list, int count, int pass)
{
    for (int k = 0; k < count; k++) meet_pair(a, f, a->irn[list[k]], a->icn[list[k]], pass);
    for (int p = 0; p < f->pair_count; p++) {
        const pair *q = a->l->pair + f->pairs[p];
        const int *x = a->l->column + q->first;
        for (int i = 0; i < q->count; i++)
            for (int j = 0; j < i; j++) meet_pair(a, f, x[i], x[j], pass);
    }
}

/* Finds the neighbors of the tiles of a front, in the order of its rows, and what every component touches. */
static void find_neighbors(analysis *a, front *f, const int *list, int count)
{
    int rows = f->own + f->boundary;
    f->near = block_ldl_take(a, rows, sizeof(int));
    for (int c = 0; c < f->components; c++) f->component[c].near = block_ldl_take(a, rows, sizeof(int));
    meet_all(a, f, list, count, 0);
    for (int k = 0; k < rows; k++)
        if (a->near[f->rows[k]]) f->near[f->near_count] = k, a->near[f->rows[k]] = ++f->near_count;
    meet_all(a, f, list, count, 1);
    for (int c = 0; c < f->components; c++) {
        component *k = f->component + c;
        k->beyond = f->beyond_size;
        f->beyond_size += (size_t)k->rows * k->touched;
    }
}

static void add(places *list, int source, size_t to) { list->at[list->count++] = (place){source, (int)to}; }

static void allot(analysis *a, places *list)
{
    list->at = block_ldl_take(a, list->count, sizeof(place)), list->count = 0;
}

/* The place of the entry (i, j), i >= j or the other way round, of a square matrix of n rows. */
static size_t lower(int i, int j, int n) { return (size_t)high(i, j) + (size_t)n * low(i, j); }

/* Places an entry of a tile's row t on another row; counts it only if the lists are not there yet. */
static void place_tile(analysis *a, front *f, int source, int t, int other, int count)
{
    int primal = a->role[t] == TILE_PRIMAL, beside = !is_tile(a, other), i = a->local[t], j = a->local[other];
    int both = !beside && a->role[t] == a->role[other];
    places *list = beside ? primal ? &f->C : &f->Q : both ? primal ? &f->H : &f->E : &f->B;
    if (count) {
        list->count++;
        return;
    }
    const component *c = f->component + a->of[t];
    if (beside && primal) {
        add(list, source, a->near[other] - 1 + (size_t)f->near_count * i);
    } else if (beside) {
        int k = 0;
        while (c->near[k] != a->near[other] - 1) k++;
        add(list, source, c->beyond + i - c->row + (size_t)c->rows * k);
    } else if (both && primal) {
        add(list, source, lower(i, j, f->primal));
    } else if (both) {
        if (i != j) block_ldl_refuse(a);
        add(list, source, i);
    } else {
        if (a->of[t] != a->of[other]) block_ldl_refuse(a);
        int row = primal ? j : i, column = primal ? i : j;
        add(list, source, c->block + row - c->row + (size_t)c->rows * (column - c->column));
    }
}

/* Codes of the places to which the products of a pair's entries are added. */
static void place_products(analysis *a, const front *f, pair *q)
{
    const int *x = a->l->column + q->first;
    q->code = block_ldl_take(a, (size_t)q->count * (q->count + 1) / 2, sizeof(unsigned));
    for (int i = 0, k = 0; i < q->count; i++)
        for (int j = 0; j <= i; j++, k++) {
            int r = is_tile(a, x[i]) ? x[i] : x[j], s = r == x[i] ? x[j] : x[i]; /* a tile's row first */
            if (a->role[r] == TILE_DUAL || a->role[s] == TILE_DUAL) block_ldl_refuse(a);
            if (is_tile(a, s))
                q->code[k] = (unsigned)IN_H << 30 | (unsigned)lower(a->local[r], a->local[s], f->primal);
            else if (is_tile(a, r))
                q->code[k] = (unsigned)IN_C << 30 | (unsigned)(a->near[s] - 1 + f->near_count * a->local[r]);
            else
                q->code[k] = (unsigned)high(a->where[r], a->where[s]) << 15 | (unsigned)low(a->where[r], a->where[s]);
        }
}

static void place_cell(analysis *a, front *f, int source, int i, int j)
{
    int u = a->where[i], v = a->where[j];
    f->cells[f->cell_count++] = (cell){source, (unsigned short)high(u, v), (unsigned short)low(u, v)};
}

/* Finds the places of all entries of a front, whose numbers are in `list`. */
void block_ldl_place(analysis *a, front *f, const int *list, int count)
{
    find_neighbors(a, f, list, count);
    places *parts[] = {&f->H, &f->C, &f->B, &f->Q, &f->E};
    int cells = 0;
    for (int pass = 1; pass >= 0; pass--) {
        for (int k = 0; k < count; k++) {
            int i = a->irn[list[k]], j = a->icn[list[k]], t = is_tile(a, i) ? i : j;
            if (is_tile(a, t)) place_tile(a, f, list[k], t, t == i ? j : i, pass);
            else if (pass) cells++;
            else place_cell(a, f, list[k], i, j);
        }
        if (!pass) break;
        f->cells = block_ldl_take(a, cells, sizeof(cell));
        for (int p = 0; p < 5; p++) allot(a, parts[p]);
    }
    for (int p = 0; p < f->pair_count; p++) place_products(a, f, a->l->pair + f->pairs[p]);
    for (int k = 0; k < f->near_count; k++) /* the next front has other neighbors */
        a->near[f->rows[f->near[k]]] = 0;
}
