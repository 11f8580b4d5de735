/* The state of an analysis, shared by the files that make a layout. */
#ifndef ANALYSIS_H
#define ANALYSIS_H

#include "instance.h"

#include <setjmp.h>

/* role, front: of every row, as in the plan or as in its strict variant. pair: the number of every paired row's pair.
   local: the place of a row among its front's own, primal or dual rows; of: the number of its component in the front.
   where, near: places, in the front that is analyzed, of its rows, and of the neighbors of its tiles plus 1 (0: none).
   seen: the number plus 1 of the front that met a row last. rank: the place of an ordinary row in the order of
   elimination, sequence: its inverse, begin: the rank of every front's first row. list, first: the entries of all
   fronts, front by front. */
typedef struct {
    const plan *plan;
    layout *l;
    int n, nz, *role, *front, *pair, *local, *of, *where, *near, *seen, *first, *list, *rank, *sequence, *begin;
    const int *irn, *icn;
    jmp_buf escape;
} analysis;

void *block_ldl_take(analysis *a, size_t count, size_t size);
void block_ldl_refuse(analysis *a);
void block_ldl_place(analysis *a, front *f, const int *list, int count);

static inline int low(int i, int j) { return i < j ? i : j; }

static inline int high(int i, int j) { return i > j ? i : j; }

static inline int is_tile(const analysis *a, int row)
{
    return a->role[row] == TILE_PRIMAL || a->role[row] == TILE_DUAL;
}

#endif
