/* Convex quadratic programs along a sequence of stages, by a primal-dual interior-point method on a Riccati recursion:
 *
 *     min  sum_k  z_k' diag(d_k) z_k / 2 + g_k' z_k + sum_i w_ki (C_ki z_k + c_ki)^2 / 2   [+ x_N' P x_N / 2]
 *     s.t. x_{k+1} = F_k z_k + b_k,   x_0 given,   z_k = (x_k, u_k),   k = 0 ... N-1, and z_N = x_N,
 *          E_k z_k + e_k = 0                        rows may depend on each other,
 *          lower_k <= C_k z_k + c_k <= upper_k      hard, or at a price per unit of violation,
 *          zlower_k <= z_k <= zupper_k              likewise; those of x_0 are ignored.
 *
 * Bounds of STAGE_QP_ABSENT or more in size are absent, and prices of STAGE_QP_ABSENT or more are infinite. All arrays
 * are dense, matrices row by row. If sizes.integrated is n > 0, then nx = 2 n, the first n controls are accelerations,
 * and F is [I hI h^2/2 I 0; 0 I hI 0].
 *
 * The caller provides the memory, stage_qp_numbers() numbers of 8 bytes at an address that is a multiple of 8; nothing
 * is allocated, nothing calls itself, and all loops have bounds that follow from the sizes. Memory that was
 * overwritten gives other results or a status, but no access outside of it. */
#ifndef STAGE_QP_H
#define STAGE_QP_H

#define STAGE_QP_ABSENT 1e19

struct stage_qp_sizes {
    int stages;     /* N */
    int nx, nu;     /* states and controls */
    int rows;       /* rows of C */
    int equalities; /* rows of E */
    int integrated; /* n of the double integrator; 0: F is given */
};

/* The numbers of one stage; k = N has no E, F, b, h, and its columns of controls are ignored. */
struct stage_qp_stage {
    const double *d, *g;                           /* (nx+nu) */
    const double *C, *c, *w, *lower, *upper;       /* (rows, nx+nu), (rows) */
    const double *price;                           /* (rows) */
    const double *zlower, *zupper, *zprice;        /* (nx+nu) */
    const double *E, *e;                           /* (equalities, nx+nu), (equalities) */
    const double *F, *b;                           /* (nx, nx+nu), (nx); F: null for the double integrator */
    const double *P;                               /* (nx, nx), of k = N; null: none */
    double h;
};

struct stage_qp_options {
    int iterations;       /* the most factorizations */
    int warm;             /* 1: begin with the multipliers of the last solve */
    double tolerance;     /* of the residuals below, relative to the sizes of gradients, bounds and costs */
    double start;         /* complementarity at a warm start, relative to that of a cold one */
};

enum {
    STAGE_QP_SOLVED,      /* all residuals are below the tolerance */
    STAGE_QP_ITERATIONS,  /* the most iterations were made: see the residuals */
    STAGE_QP_RELAXED,     /* solved, but some rows are violated at their price */
    STAGE_QP_CONTRADICTION, /* rows of E contradict each other or the first state: see unmet */
    STAGE_QP_NOT_FINITE,  /* a number of the problem or of a step is not finite: z is zero or the last iterate */
    STAGE_QP_SIZES        /* sizes are out of range */
};

struct stage_qp_result {
    int status, iterations;
    int replaced;           /* pivots that were not positive: the cost is flat along these controls */
    int relaxed;            /* violated rows and bounds that have a price */
    double primal;          /* largest violation of inequality rows beyond what is paid for */
    double dual;            /* largest entry of the gradient of the Lagrangian along free controls */
    double complementarity; /* mean product of slacks and multipliers: the gap of the costs, per side */
    double unmet;           /* largest residual of rows of E that contradict others */
    double typical;         /* root of the mean square of the bounded rows and variables */
    double scale[3];        /* what dual and complementarity (1, 2) are compared with; 0: typical. Each row's violation is
                               compared with its bound and value, and a hundredth of the typical one */
};

/* Numbers of 8 bytes that these sizes need; 0 if sizes are out of range. */
long stage_qp_numbers(const struct stage_qp_sizes *sizes);

/* Prepares memory: no multipliers are known. Returns a status. */
int stage_qp_init(const struct stage_qp_sizes *sizes, double *memory);

/* Copies the numbers of stage k. Returns STAGE_QP_NOT_FINITE if one is not finite. */
int stage_qp_load(const struct stage_qp_sizes *sizes, double *memory, int k, const struct stage_qp_stage *stage);

/* Solves the loaded problem for this first state. Returns result->status. */
int stage_qp_solve(const struct stage_qp_sizes *sizes, double *memory, const double *x0,
                   const struct stage_qp_options *options, struct stage_qp_result *result);

/* After a solve: stage 0 of the solution for another first state, in the time of one stage. The program of stage 0,
 * with the cost to go of the solution, is solved within all bounds. */
int stage_qp_feedback(const struct stage_qp_sizes *sizes, double *memory, const double *x0,
                      const struct stage_qp_options *options, struct stage_qp_result *result);

/* After stage_qp_feedback: later stages follow, by the gains of their last factorization. Returns a status. */
int stage_qp_follow(const struct stage_qp_sizes *sizes, double *memory);

/* z of stage k (nx+nu; for k = N: nx). */
void stage_qp_z(const struct stage_qp_sizes *sizes, const double *memory, int k, double *z);

/* K (nu, nx) of stage k < N: u changes by K times the change of x, with the barrier of the last factorization. */
void stage_qp_gains(const struct stage_qp_sizes *sizes, double *memory, int k, double *K);

/* By how much row i of C (i < rows), or bound i - rows of z, is violated in stage k: (rows+nx+nu). */
void stage_qp_violations(const struct stage_qp_sizes *sizes, const double *memory, int k, double *violation);

/* Multipliers of the upper (positive) and lower (negative) bounds of rows and of z in stage k: (rows+nx+nu). */
void stage_qp_multipliers(const struct stage_qp_sizes *sizes, const double *memory, int k, double *multipliers);

/* Moves the multipliers by this number of stages, for a window that has moved on; the last ones are repeated. */
void stage_qp_shift(const struct stage_qp_sizes *sizes, double *memory, int steps);

#endif
