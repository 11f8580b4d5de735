/* What a thread needs to factor its fronts, and the tiles of a front. */
#ifndef WORKER_H
#define WORKER_H

#include "instance.h"

/* The tiles of a front that were eliminated: `rank` pairs of a primal and a dual row, component by component.

   primal, dual: these rows. neighbors: the rows on which they act, places among the front's rows; the first ones are
   the layout's neighbors, then follow leftover rows of tiles that have no stable pivot. H (rank x rank), C (neighbors x
   rank). Every component has its rank, its inverse block B^-1 (rank x rank), and Z = B^-1 C_Q' (rank x touched). R, Q: see
   regularized.c; regular: whether E = 0. w, t, e, y: work space of solves. */
typedef struct tiles {
    int rank, neighbors, leftover, regular, *primal, *dual, *at, *left, *ranks, *touched, *touch;
    double *H, *C, *inverse, *Z, *Q, *w, *t, *R, *e, *y;
    size_t room[7];
} tiles;

/* The parts of the matrix on the rows of a front's tiles, as they are assembled. */
typedef struct {
    double *H, *C, *B, *Q, *E;
} parts;

/* A thread's buffers, and what it counts. */
typedef struct worker {
    instance *s;
    const layout *l;
    int number, failure, negative;
    double *raw, *work, *scratch, *more, delayed, multiply_adds, entries, largest;
    int *order;
    size_t room[5];
} worker;

int block_ldl_reserve(void *memory, size_t *room, size_t count, size_t size);
void block_ldl_assemble_tiles(worker *w, const front *f, parts *raw);
int block_ldl_choose_tiles(worker *w, const front *f, const parts *raw, tiles *t);
void block_ldl_eliminate_tiles(worker *w, const front *f, const parts *raw, tiles *t, int shift, double *F, long ld);
void block_ldl_inverse_times(const front *f, const tiles *t, int transposed, const double *x, double *y);
void block_ldl_regularize(worker *w, const front *f, tiles *t, const double *X, double *F, long ld);
void block_ldl_tiles_forward(const front *f, const tiles *t, const double *b, double *v);
void block_ldl_tiles_backward(const front *f, const tiles *t, double *x, const double *v);
int block_ldl_set_pairs(instance *s, const layout *l);
void block_ldl_in_threads(instance *s, void (*step)(worker *w), int worth);

#endif
