/* How the caller's memory is divided.
 *
 * Inside, the controls of a stage come first: z = (u, x), both padded with zeros to whole blocks, so that the Riccati
 * recursion eliminates leading rows. A side is one bound of a row of C or of z: sign (value) + slack - s = beta, with
 * s > 0 only if the side has a price. Only sides whose bound is present are stored; `index` tells their place among all
 * sides: lower bounds of the rows, of u and x, then upper bounds. */
#ifndef STAGE_QP_MEMORY_H
#define STAGE_QP_MEMORY_H

#include "lanes.h"
#include "stage_qp.h"

/* Sizes that follow from the given ones. */
struct plan {
    int N, nx, nu, m, ne, n, dense;
    int u, x, width; /* padded numbers of controls, of states, and their sum, the length of rows */
    int values, sides; /* rows and bounds of z; twice that */
    int inner;         /* the longest sum of a product */
    long stage, work, first, last, total; /* numbers of a stage, of the work arrays, before stages 0 and N, of all */
};

struct stage {
    double *d, *g, *z, *step, *grad; /* (width); grad: of the cost and the multipliers of the rows */
    double *C, *c, *w, *value, *move; /* value: C z + c, then z; move: their change; (values) */
    double *E, *e, *F, *b, *terminal, *h; /* last stage: terminal of (x - b) */
    double *beta, *sign, *price, *slack, *lambda, *s, *weight, *q, *dslack, *dlambda, *ds; /* (sides) */
    double *kept;                     /* multipliers of all sides, for a warm start */
    double *G, *U, *P, *L, *l, *offset, *down, *p; /* factors; rows L x = l that the state must obey; vectors */
    double *barrier, *shift;          /* (values) what the sides add to the Hessian and to the gradient */
    mask *mask;                       /* (m) blocks of the rows of C that are not zero */
    whole *index, *order, *count;     /* of sides; of controls, pivots first; see below */
};

/* Numbers of pivots, of those whose row of G is not zero (they come first), of rows of L, of sides. */
enum { RANK, LIVE, LEFT, SIDES, COUNTS = 8 };

struct work {
    double *M, *S, *W, *R, *size, *rows, *y, *t, *diagonal;
    whole *left, *right;
    mask *mask;
    struct chosen some[2];
};

/* 0 if the sizes are out of range. */
int stage_qp_plan(const struct stage_qp_sizes *sizes, struct plan *plan);
struct stage stage_qp_at(const struct plan *plan, double *memory, int k);
struct work stage_qp_work(const struct plan *plan, double *memory);

/* The elimination of the rows of E, from the last stage to the first; returns the largest residual of rows that
   contradict others. */
double stage_qp_eliminate(const struct plan *plan, double *memory);

/* One step, stage by stage from the last one, whose `next` is null: factors and solves for the gradients `grad` +
   C' `shift`; first: also for b and E z + e = 0. Returns the number of pivots that were replaced. */
int stage_qp_factor(const struct plan *plan, double *memory, struct work *work, const struct stage *stage,
                    const struct stage *next, int first);
/* The same for another `shift`. */
void stage_qp_resolve(const struct plan *plan, struct work *work, const struct stage *stage, const struct stage *next);
/* `step` and `move`, stage by stage from the first one, by the change of its state, which is in the work array t. */
void stage_qp_forward(const struct plan *plan, struct work *work, const struct stage *stage, int last, int first);

/* Adds to z what stages 1 ... N do by the last factorization if the state of stage 1 changes by dx. */
void stage_qp_answer(const struct plan *plan, double *memory, const double *dx);

/* Largest entry of the gradient of the Lagrangian along free controls; p becomes that of the cost to go. */
double stage_qp_adjoint(const struct plan *plan, double *memory);

/* out = C z; out += C' y (y: rows). */
void stage_qp_rows(const struct plan *plan, const struct stage *s, const double *z, double *out);
void stage_qp_add_rows(const struct plan *plan, const struct stage *s, const double *y, double *out);

#endif
