/* A multifrontal factorization of IPOPT's augmented matrix, whose tree of fronts follows a sequence of stages.

   A plan assigns every row of the matrix to a front of a tree and to a role. A layout adds what follows from the places
   of the entries: which entry goes where in which front. An instance is the matrix of one solver, with its layouts and
   its factors. Indices start at 0. Matrices are stored by columns; of symmetric ones the lower triangle is used.
*/
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stddef.h>

enum role { ORDINARY = 0, PAIRED = 1, TILE_PRIMAL = 2, TILE_DUAL = 3 };

enum failure { NO_FAILURE = 0, WRONG_STRUCTURE = 1, NOT_FINITE = 2, INACCURATE = 3, NO_MEMORY = 4, SINGULAR = 5 };

enum { MOST_ROWS = 32767 }; /* of a front: places in it are written in 15 bits */

typedef struct {
    double factorizations, factor_seconds, solves, solve_seconds, delayed, strict, residual, multiply_adds, entries;
    double failure, largest_front, threads, refined, backward_error, spare[2];
} statistics;

typedef struct instance instance;

/* The tree of fronts, as it was given; primal: number of the first rows that are variables, not multipliers. */
typedef struct plan {
    int id, n, primal, fronts, subtrees, threads, *front, *role, *tile, *parent, *thread;
    statistics figures;
    instance *instances;
    struct plan *next;
} plan;

/* The value `source` of the matrix is added to the entry `to` of an array. */
typedef struct {
    int source, to;
} place;

/* The value `source` of the matrix is added to the entry (row, column) of a front, row >= column. */
typedef struct {
    int source;
    unsigned short row, column;
} cell;

/* A list of places. */
typedef struct {
    int count;
    place *at;
} places;

/* A slack s and its inequality row y, which are eliminated together; J: the entries of row y on other rows.

   code[k]: where the products J_a J_b, a >= b, are added: two bits for the kind of array (see `code_kind`), 30 for the
   place in it. The entries of J are numbers first..first + count - 1 of all pairs' entries. */
typedef struct {
    int s, y, front, first, count;
    unsigned *code;
} pair;

enum code_kind { IN_FRONT = 0, IN_H = 1, IN_C = 2 };

/* A component of the tiles of a front: the block of B of some dual rows and primal columns.

   row, column: of its first dual and primal row among those of the front. near: the places, among the neighbors of the
   tiles, that its dual rows touch. block, beyond: where its parts of B and of C_Q begin. */
typedef struct {
    int rows, columns, row, column, touched, *near;
    size_t block, beyond;
} component;

/* A front: its own rows, the boundary rows (eliminated later), and its tiles (eliminated before).

   rows: of the matrix, own ones first. up: for every boundary row, its place in the parent's front. near: places in the
   front of the tiles' neighbors. Places of boundary rows are counted as if they followed the own rows; leftover rows of
   tiles and delayed rows of children are put in between.

   H (primal x primal), C (neighbors x primal), B (blocks), Q (blocks of dual rows x touched neighbors) and E (dual rows)
   are the parts of the matrix on the rows of tiles. */
typedef struct {
    int own, boundary, *rows, *up, parent, child, sibling, thread, cell_count, pair_count, *pairs;
    cell *cells;
    int primal, dual, *tile_rows, near_count, *near, components;
    component *component;
    places H, C, B, Q, E;
    size_t block_size, beyond_size;
} front;

/* work, numbers: estimates of the multiply-adds of a factorization, and of the numbers in its factors.

   entries: places of the matrix's values among the entries J of all pairs; corners: among the three numbers (d_s, link,
   d_y) of all pairs. column: the row of the matrix on which each entry of J acts. */
typedef struct layout {
    int n, fronts, pairs, entry_count, *column;
    double work, numbers;
    front *front;
    pair *pair;
    places entries, corners;
    struct block *blocks;
} layout;

/* The factors of a front.

   rows: of the matrix: own rows in the order of their elimination (with leftover and delayed ones), then the boundary.
   place: of every own row, as it was assembled, its place among `rows`. F: as `dense_front` leaves it: L, and the Schur
   complement of the rows that are left. carry: the front's right-hand side in a solve; of the rows that are left, what
   the elimination of the others adds to it. waiting: the `late` own rows that were delayed to the parent. slot_size: how
   many numbers of the common memory F has, 0 if it has memory of its own. */
typedef struct {
    int own, size, eliminated, late, *rows, *place, *waiting;
    double *F, *D, *carry;
    long ld;
    struct tiles *tiles;
    size_t room[6], slot_size;
} factors;

/* The matrix of one solver, with its layouts and its factors.

   values: the matrix as it was given; scaled: D A D, which is factored; scale: D; weight: d_i d_j of every value. swept: sweeps by which D was found.
   late: rows that the last factorization delayed. usual: the threshold of pivots, unless it is strict. */
struct instance {
    int id, n, nz, strict, factored, swept, *irn, *icn;
    const double *values;
    double *scaled, *weight, *scale, *J, *corner, *rhs, threshold, usual, asked, late;
    plan *plan;
    layout *layouts[2]; /* the usual one, and the strict one, without pairs and tiles */
    factors *factors;
    struct worker *workers;
    double *fronts;
    int reserved;
    size_t fronts_room;
    instance *next;
};

int block_ldl_analyze(const plan *p, int nz, const int *irn, const int *icn, int strict, layout **made);
void block_ldl_forget(layout *l);
int block_ldl_scale(instance *s);
int block_ldl_many_late(const instance *s);
int block_ldl_factor(instance *s, const layout *l, int *negative);
int block_ldl_judge_zeros(instance *s, const layout *l, int *negative);
void block_ldl_solve(instance *s, const layout *l, double *x);
void block_ldl_release(instance *s);
double block_ldl_clock(void);

#endif
