/* The interior-point method: Mehrotra's predictor and corrector on the sides of all stages.
 *
 *     sign value + t - s = beta,   t lambda = s nu = mu,   nu = price - lambda,   t, s, lambda, nu > 0
 *
 * A side without a price has s = 0. The multiplier of s >= 0 is eliminated exactly, so a side with a price costs no
 * more than a hard one (the weight is 1 / (t/lambda + s/nu)). Dynamics and equality rows hold from the first step on,
 * which is a full step in z; all later steps stay within them. Source: S. Mehrotra, On the implementation of a
 * primal-dual interior point method, SIAM J. Optim. 2, 1992.
 *
 * After a change of the active bounds a few sides block steps that suit all others, again and again. So the first
 * iterations step fully in z, and where slacks and multipliers left their range, or came near its end, one follows from
 * the other by the product that is aimed at. Its side is then violated by the difference, which the next step knows. */
#include "memory.h"

#include <string.h>

static const double FRACTION = 0.995; /* of the step to the boundary */
static const double FULL = 0.95; /* shorter steps are taken fully, until products are as large as costs */
static const double CENTRAL = 0.1; /* least product after a full step, relative to the one aimed at */
static const double SHRINKS = 1e-3; /* least ratio of a slack or multiplier to the one before a full step */
static const double CORRECTS = 0.3; /* least length of a predicted step that tells a correction */
static const double KEEPS = 0.9; /* of the product, in a step after one that was blocked */
enum { FULLY = 15 }; /* iterations whose steps may be full; those of the later ones converge always */
static const double FADES = 0.3; /* least ratio of the scales of two iterations, for solutions at which all vanishes */

/* What the products are to become: `target`, and less what the predicted step adds to them. */
struct aim {
    double target;
    int corrects;
};

/* The longest step within the range of slacks and multipliers, and how the sum of their products depends on the length
   of a step; not finite if the step is not. */
struct reach {
    double length, linear, square;
};

struct measure {
    double primal, relative, sum, size, squares, gradient, cost;
    long sides;
};

/* Whether the whole numbers in the memory may be used as indices. */
static int sound(const struct plan *v, double *memory)
{
    for (int k = 0; k <= v->N; k++) {
        struct stage s = stage_qp_at(v, memory, k);
        int sides = s.count[SIDES];
        if (sides < 0 || sides > v->sides || s.count[RANK] < 0 || s.count[RANK] > v->nu) return 0;
        if (s.count[LIVE] < 0 || s.count[LIVE] > s.count[RANK]) return 0;
        for (int i = 0; i < v->nu; i++)
            if (s.order[i] < 0 || s.order[i] >= v->nu) return 0;
        for (int i = 0; i < sides; i++)
            if (s.index[i] < 0 || s.index[i] >= v->sides) return 0;
        for (int i = 0; i < v->m; i++)
            if (v->width / BLOCK < 64 && s.mask[i] >> v->width / BLOCK) return 0;
    }
    return 1;
}

INLINE int value_of(const struct plan *v, const struct stage *s, int i)
{
    return s->index[i] < v->values ? s->index[i] : s->index[i] - v->values;
}

INLINE int priced(const struct stage *s, int i) { return s->price[i] < STAGE_QP_ABSENT; }

/* What residuals of side i are compared with. */
INLINE double side_size(const struct stage *s, int i, double value, double typical)
{
    return fabs(s->beta[i]) + fabs(value) + 1e-2 * typical + 1e-300;
}

/* The wanted products t lambda and s nu of side i. */
INLINE void wanted(const struct stage *s, int i, const struct aim *aim, double *slack, double *price)
{
    *slack = aim->target - (aim->corrects ? s->dslack[i] * s->dlambda[i] : 0);
    *price = aim->target + (aim->corrects ? s->ds[i] * s->dlambda[i] : 0);
}

/* Weights of the sides, and what they add to the gradient. */
static void weigh(const struct plan *v, struct stage *s, const struct aim *aim)
{
    memset(s->shift, 0, (size_t)v->values * sizeof *s->shift);
    if (!aim->corrects) memset(s->barrier, 0, (size_t)v->values * sizeof *s->barrier);
    for (int i = 0; i < s->count[SIDES]; i++) {
        int at = value_of(v, s, i);
        double t = s->slack[i], lambda = s->lambda[i], softness = t / lambda, first, second;
        wanted(s, i, aim, &first, &second);
        double q = s->sign[i] * s->value[at] - s->beta[i] + first / lambda;
        if (priced(s, i)) {
            double nu = s->price[i] - lambda;
            softness += s->s[i] / nu;
            q -= second / nu;
        }
        s->weight[i] = 1 / softness;
        s->q[i] = q;
        if (!aim->corrects) s->barrier[at] += s->weight[i];
        s->shift[at] += s->sign[i] * s->weight[i] * q;
    }
}

/* Weighs all stages, from the last one, and solves for their steps; factors: with new weights. Returns the number of
   pivots that were replaced. */
static int backward(const struct plan *v, double *memory, const struct aim *aim, int factors, int first)
{
    struct work t = stage_qp_work(v, memory);
    struct stage s, next;
    int replaced = 0;
    for (int k = v->N; k >= 0; k--, next = s) {
        s = stage_qp_at(v, memory, k);
        if (aim) weigh(v, &s, aim);
        if (factors) replaced += stage_qp_factor(v, memory, &t, &s, k < v->N ? &next : 0, first);
        else stage_qp_resolve(v, &t, &s, k < v->N ? &next : 0);
    }
    return replaced;
}

INLINE double shorter(double length, double x, double dx) { return x < -length * dx ? x / -dx : length; }

/* Changes of t, lambda and s, the longest step that keeps all of them, and nu, positive, and what it does to the sum of
   the products. */
static void sides_step(const struct plan *v, struct stage *s, const struct aim *aim, struct reach *reach)
{
    double length = reach->length, linear = reach->linear, square = reach->square;
    for (int i = 0; i < s->count[SIDES]; i++) {
        double t = s->slack[i], lambda = s->lambda[i], first, second;
        double change = s->weight[i] * (s->sign[i] * s->move[value_of(v, s, i)] + s->q[i]);
        wanted(s, i, aim, &first, &second);
        if (priced(s, i)) {
            double nu = s->price[i] - lambda;
            s->ds[i] = (second + s->s[i] * change) / nu - s->s[i];
            length = shorter(shorter(length, s->s[i], s->ds[i]), nu, -change);
            linear += nu * s->ds[i] - s->s[i] * change;
            square -= s->ds[i] * change;
        }
        s->dslack[i] = (first - t * change) / lambda - t;
        s->dlambda[i] = change;
        length = shorter(shorter(length, t, s->dslack[i]), lambda, change);
        linear += lambda * s->dslack[i] + t * change;
        square += s->dslack[i] * change;
    }
    reach->length = length, reach->linear = linear;
    reach->square = square + faults(v->values, s->move);
}

/* The steps of all stages from the change of the first state, null for zero. */
static struct reach forward(const struct plan *v, double *memory, const struct aim *aim, const double *x0)
{
    struct work t = stage_qp_work(v, memory);
    struct reach reach = {1e30, 0, 0};
    memset(t.t, 0, (size_t)v->x * sizeof *t.t);
    if (x0) memcpy(t.t, x0, (size_t)v->nx * sizeof *t.t);
    for (int k = 0; k <= v->N; k++) {
        struct stage s = stage_qp_at(v, memory, k);
        stage_qp_forward(v, &t, &s, k == v->N, x0 != 0);
        if (aim) sides_step(v, &s, aim, &reach);
        else reach.square += faults(v->values, s.move);
    }
    return reach;
}

static int is_finite(const struct reach *reach) { return 0 * (reach->linear + reach->square) == 0; }

/* Makes the product of two numbers mu if one of them is not positive or it is far smaller: the number that has grown
   more since they were x and y stays. */
INLINE void pair_again(double mu, double x, double y, double *a, double *b)
{
    if (*a > 0 && *b > 0 && *a * *b >= CENTRAL * mu) return;
    int first = *b <= 0 || (*a > 0 && *a * y > *b * x);
    double *stays = first ? a : b, *follows = first ? b : a;
    *stays = larger(*stays, SHRINKS * (first ? x : y));
    *follows = mu / *stays;
}

/* The full step of side i, with products of about mu or more. */
static void full_step(struct stage *s, int i, double mu)
{
    double t = s->slack[i] + s->dslack[i], lambda = s->lambda[i] + s->dlambda[i];
    if (priced(s, i)) {
        double nu = s->price[i] - lambda;
        s->s[i] += s->ds[i];
        pair_again(mu, s->s[i] - s->ds[i], s->price[i] - s->lambda[i], &s->s[i], &nu);
        lambda = s->price[i] - nu;
    }
    pair_again(mu, s->slack[i], s->lambda[i], &t, &lambda);
    if (priced(s, i)) {
        if (lambda >= s->price[i]) t = larger(t, mu / (lambda = s->price[i] / 2));
        s->s[i] = larger(s->s[i], CENTRAL * mu / (s->price[i] - lambda));
    }
    s->slack[i] = t, s->lambda[i] = lambda;
}

/* Takes the step: `full` for z, `length` for the sides, or if mu is not null their full steps. */
static void take(const struct plan *v, double *memory, double full, double length, const double *mu)
{
    for (int k = 0; k <= v->N; k++) {
        struct stage s = stage_qp_at(v, memory, k);
        add_scaled(v->width, full, s.step, s.z);
        for (int j = 0; j < v->values; j++) s.value[j] += full * s.move[j];
        for (int i = 0; i < s.count[SIDES] && mu; i++) full_step(&s, i, *mu);
        for (int i = 0; i < s.count[SIDES] && length > 0 && !mu; i++) {
            s.slack[i] += length * s.dslack[i];
            s.lambda[i] += length * s.dlambda[i];
            if (priced(&s, i)) s.s[i] += length * s.ds[i];
        }
    }
}

/* The gradient of the cost in z, without the sides; adds to the measure's cost and gradient. */
static void cost_gradient(const struct plan *v, struct stage *s, int last, double *rows, struct measure *m)
{
    for (int j = 0; j < v->width; j++) {
        s->grad[j] = s->d[j] * s->z[j] + s->g[j];
        m->cost += fabs(s->z[j]) * (fabs(s->g[j]) + s->d[j] * fabs(s->z[j]) / 2);
        m->gradient = larger(m->gradient, larger(fabs(s->g[j]), s->d[j] * fabs(s->z[j])));
    }
    for (int i = 0; i < v->m; i++) {
        rows[i] = s->w[i] * s->value[i];
        m->cost += rows[i] * s->value[i] / 2;
    }
    if (!last) return;
    memcpy(s->step, s->z, (size_t)v->width * sizeof *s->step);
    add_scaled(v->x, -1, s->b, s->step + v->u);
    for (int i = 0; i < v->nx; i++)
        s->grad[v->u + i] += dot(v->x, s->terminal + (long)i * v->x, s->step + v->u);
}

static void measure_stage(const struct plan *v, struct stage *s, int last, double typical, double *rows,
                          struct measure *m)
{
    cost_gradient(v, s, last, rows, m);
    for (int i = 0; i < s->count[SIDES]; i++) {
        int at = value_of(v, s, i);
        double product = s->slack[i] * s->lambda[i], extra = 0, residual, force = s->sign[i] * s->lambda[i];
        residual = s->sign[i] * s->value[at] + s->slack[i] - s->beta[i];
        if (priced(s, i)) {
            extra = s->s[i] * (s->price[i] - s->lambda[i]);
            residual -= s->s[i];
            m->cost += s->price[i] * larger(0, s->sign[i] * s->value[at] - s->beta[i]);
        }
        if (at < v->m) rows[at] += force;
        else s->grad[at - v->m] += force;
        m->sum += product + extra;
        m->sides += 1 + priced(s, i);
        m->primal = larger(m->primal, fabs(residual));
        m->relative = larger(m->relative, fabs(residual) / side_size(s, i, s->value[at], typical));
        m->squares += s->value[at] * s->value[at];
        m->size = larger(m->size, s->lambda[i]);
    }
    stage_qp_add_rows(v, s, rows, s->grad);
}

/* Gradients and residuals at the current point. */
static struct measure measured(const struct plan *v, double *memory, double typical)
{
    struct measure m;
    double *rows = stage_qp_work(v, memory).rows;
    memset(&m, 0, sizeof m);
    for (int k = 0; k <= v->N; k++) {
        struct stage s = stage_qp_at(v, memory, k);
        measure_stage(v, &s, k == v->N, typical, rows, &m);
    }
    return m;
}

/* z = 0, and no sides in the Hessian. */
static void clear(const struct plan *v, double *memory)
{
    for (int k = 0; k <= v->N; k++) {
        struct stage s = stage_qp_at(v, memory, k);
        memset(s.z, 0, (size_t)v->width * sizeof *s.z);
        memset(s.barrier, 0, (size_t)v->values * sizeof *s.barrier);
        memset(s.shift, 0, (size_t)v->values * sizeof *s.shift);
        memset(s.value, 0, (size_t)v->values * sizeof *s.value);
        memcpy(s.value, s.c, (size_t)v->m * sizeof *s.value);
        for (int i = 0; i < s.count[SIDES]; i++) s.slack[i] = s.lambda[i] = s.s[i] = 0;
    }
}

static void keep(const struct plan *v, double *memory)
{
    for (int k = 0; k <= v->N; k++) {
        struct stage s = stage_qp_at(v, memory, k);
        memset(s.kept, 0, (size_t)v->sides * sizeof *s.kept);
        for (int i = 0; i < s.count[SIDES]; i++) s.kept[s.index[i]] = s.lambda[i];
    }
}

/* Slacks at the current z, and multipliers with products of `mu` or more; warm: the multipliers are kept. */
static void begin_sides(const struct plan *v, double *memory, double mu, double least, double typical, int warm)
{
    for (int k = 0; k <= v->N; k++) {
        struct stage s = stage_qp_at(v, memory, k);
        for (int i = 0; i < s.count[SIDES]; i++) {
            double value = s.value[value_of(v, &s, i)], gap = s.beta[i] - s.sign[i] * value;
            double t = larger(fabs(gap), least * side_size(&s, i, value, typical)), lambda;
            double old = warm ? s.kept[s.index[i]] : 0;
            if (!(old >= 0)) old = 0;
            lambda = larger(old, mu / t);
            if (old > mu / t) t = larger(gap, mu / old);
            if (priced(&s, i)) {
                lambda = smaller(lambda, s.price[i] * (old > 0 ? 1 - 1e-3 : 0.5));
                s.s[i] = mu / (s.price[i] - lambda);
            }
            s.slack[i] = t;
            s.lambda[i] = lambda;
        }
    }
}

static void count_relaxed(const struct plan *v, double *memory, struct stage_qp_result *r)
{
    for (int k = 0; k <= v->N; k++) {
        struct stage s = stage_qp_at(v, memory, k);
        for (int i = 0; i < s.count[SIDES]; i++)
            if (priced(&s, i) && s.s[i] > 1e-3 * s.slack[i] && s.s[i] > 1e-6 * r->typical) r->relaxed++;
    }
}

/* The cost, as a share for every side: the size of their products. */
INLINE double per_side(const struct measure *m)
{
    return larger(m->cost / (double)(m->sides > 0 ? m->sides : 1), 1e-300);
}

/* Residuals, their scales, and whether they are below the tolerance; that of the gradient is not looked at if others
   are above it, but for the last iteration. */
static int report(const struct plan *v, double *memory, const struct measure *m, double tolerance, int last,
                  struct stage_qp_result *r)
{
    r->primal = m->primal, r->complementarity = m->sides > 0 ? m->sum / (double)m->sides : 0;
    r->scale[0] = r->typical;
    r->scale[1] = larger(FADES * r->scale[1], larger(larger(m->gradient, m->size), 1e-300));
    r->scale[2] = larger(FADES * r->scale[2], per_side(m));
    int done = m->relative <= tolerance && r->complementarity <= tolerance * r->scale[2];
    if (done || last) r->dual = stage_qp_adjoint(v, memory);
    return done && r->dual <= tolerance * r->scale[1];
}

/* The root of the mean square of the values of all sides. */
static double root(const struct measure *m) { return m->sides > 0 ? sqrt(m->squares / (double)m->sides) : 0; }

/* From z = 0 to a point on the dynamics and equality rows, by a step that is full in z, with positive slacks and
   multipliers. Returns 0 if it is not finite. */
static int start(const struct plan *v, double *memory, const double *x0, const struct stage_qp_options *o,
                 struct stage_qp_result *r)
{
    struct aim aim = {0, 0};
    struct measure m;
    struct reach reach;
    clear(v, memory);
    m = measured(v, memory, 0);
    report(v, memory, &m, 0, 0, r);
    if (o->warm) {
        r->typical = root(&m);
        aim.target = o->start * r->scale[2];
        begin_sides(v, memory, aim.target, 1e-4, r->typical, 1);
        m = measured(v, memory, r->typical);
    }
    r->replaced += backward(v, memory, o->warm ? &aim : 0, 1, 1); /* cold: without the sides, their weights are zero */
    reach = forward(v, memory, o->warm ? &aim : 0, x0);
    r->iterations++;
    if (!is_finite(&reach)) return 0;
    take(v, memory, 1, o->warm, o->warm ? &aim.target : 0);
    if (o->warm) return 1;
    struct measure after = measured(v, memory, 0);
    r->typical = root(&after);
    begin_sides(v, memory, larger(per_side(&m), per_side(&after)), 1e-2, r->typical, 0);
    return 1;
}

/* One iteration; blocked: whether the last predicted step was short, then whether this one was. After a short one a
   step towards products of nearly the same size takes the place of a prediction. Returns 0 if the step is not
   finite. */
static int iterate(const struct plan *v, double *memory, const struct measure *m, double least, int *blocked,
                   struct stage_qp_result *r)
{
    const double mu = m->sides > 0 ? m->sum / (double)m->sides : 0;
    struct aim aim = {*blocked ? larger(KEEPS * mu, least) : 0, 0};
    r->replaced += backward(v, memory, &aim, 1, 0);
    struct reach reach = forward(v, memory, &aim, 0);
    double length = smaller(1, reach.length);
    int full = r->iterations < FULLY, tried = *blocked;
    r->iterations++;
    *blocked = full && length < CORRECTS;
    if (m->sides > 0 && !(tried && *blocked)) {
        double ratio = tried ? 1 - length : 1 + length * (reach.linear + length * reach.square) / m->sum;
        aim.target = larger(ratio * ratio * ratio * mu, least);
        aim.corrects = length > CORRECTS;
        backward(v, memory, &aim, 0, 0);
        reach = forward(v, memory, &aim, 0);
    }
    if (m->sides > 0) length = smaller(1, FRACTION * reach.length);
    if (!is_finite(&reach)) return 0;
    if (length < FULL && full && aim.target < r->scale[2]) take(v, memory, 1, 1, &aim.target);
    else take(v, memory, length, length, 0);
    return 1;
}

/* Iterates from z = 0. Returns a status. */
static int iterated(const struct plan *v, double *memory, const double *x0, const struct stage_qp_options *o,
                    struct stage_qp_result *r)
{
    int done = 0, blocked = 0, good = start(v, memory, x0, o, r);
    while (good) {
        struct measure m = measured(v, memory, r->typical);
        int last = r->iterations >= o->iterations;
        done = report(v, memory, &m, o->tolerance, last, r);
        if (done || last) break;
        good = iterate(v, memory, &m, o->tolerance * r->scale[2] / 4, &blocked, r);
    }
    if (!good) return STAGE_QP_NOT_FINITE;
    keep(v, memory);
    count_relaxed(v, memory, r);
    return !done ? STAGE_QP_ITERATIONS : r->unmet > 1e-6 ? STAGE_QP_CONTRADICTION
           : r->relaxed ? STAGE_QP_RELAXED : STAGE_QP_SOLVED;
}

/* Whether the memory and the first state can be used. */
static int usable(const struct plan *v, double *memory, const double *x0)
{
    if (!sound(v, memory)) return STAGE_QP_NOT_FINITE;
    for (int i = 0; i < v->nx; i++)
        if (!(fabs(x0[i]) < STAGE_QP_ABSENT)) return STAGE_QP_NOT_FINITE;
    return STAGE_QP_SOLVED;
}

/* The largest residual of rows that nothing but the first state could meet. */
static double unmet_at(const struct plan *v, double *memory, const double *x0)
{
    struct stage s = stage_qp_at(v, memory, 0);
    double unmet = 0;
    for (int i = 0; i < s.count[LEFT] && i < v->nx; i++) {
        double side = -s.l[i];
        for (int j = 0; j < v->nx; j++) side += s.L[(long)i * v->x + j] * x0[j];
        unmet = larger(unmet, fabs(side));
    }
    return unmet;
}

int stage_qp_solve(const struct stage_qp_sizes *sizes, double *memory, const double *x0,
                   const struct stage_qp_options *o, struct stage_qp_result *r)
{
    struct plan v;
    memset(r, 0, sizeof *r);
    r->status = stage_qp_plan(sizes, &v) ? usable(&v, memory, x0) : STAGE_QP_SIZES;
    if (r->status) return r->status;
    r->unmet = stage_qp_eliminate(&v, memory);
    r->unmet = larger(r->unmet, unmet_at(&v, memory, x0));
    return r->status = iterated(&v, memory, x0, o, r);
}

/* The program of stage 0 alone: its last stage is the spare one. */
static struct plan first_alone(const struct plan *v)
{
    struct plan one = *v;
    one.N = 1;
    one.last = v->last + v->stage;
    return one;
}

int stage_qp_feedback(const struct stage_qp_sizes *sizes, double *memory, const double *x0,
                      const struct stage_qp_options *o, struct stage_qp_result *r)
{
    struct plan v;
    memset(r, 0, sizeof *r);
    if (!stage_qp_plan(sizes, &v)) return r->status = STAGE_QP_SIZES;
    const struct plan one = first_alone(&v);
    struct stage next = stage_qp_at(&v, memory, 1), last = stage_qp_at(&one, memory, 1);
    memset(last.d, 0, (size_t)(last.C - last.d) * sizeof *memory); /* it has no rows and no sides */
    memset(last.mask, 0, (size_t)v.m * sizeof *last.mask);
    memset(last.index, 0, (size_t)v.sides * sizeof *last.index);
    memset(last.order, 0, (size_t)v.u * sizeof *last.order);
    memset(last.count, 0, COUNTS * sizeof *last.count);
    if ((r->status = usable(&one, memory, x0))) return r->status;
    for (int i = 0; i < v.nx; i++) { /* the cost to go about the solution */
        memcpy(last.terminal + (long)i * v.x, next.P + (long)i * v.x, (size_t)v.x * sizeof *memory);
        last.g[v.u + i] = next.p[i];
    }
    memset(last.b, 0, (size_t)v.x * sizeof *last.b);
    memcpy(last.b, next.z + v.u, (size_t)v.nx * sizeof *last.b);
    r->unmet = unmet_at(&v, memory, x0);
    return r->status = iterated(&one, memory, x0, o, r);
}

int stage_qp_follow(const struct stage_qp_sizes *sizes, double *memory)
{
    struct plan v;
    if (!stage_qp_plan(sizes, &v)) return STAGE_QP_SIZES;
    if (!sound(&v, memory)) return STAGE_QP_NOT_FINITE;
    const struct plan one = first_alone(&v);
    struct stage next = stage_qp_at(&v, memory, 1), last = stage_qp_at(&one, memory, 1);
    memcpy(last.step, last.z, (size_t)v.width * sizeof *memory);
    add_scaled(v.width, -1, next.z, last.step);
    for (int i = 0; i < v.nx; i++) next.p[i] += dot(v.x, next.P + (long)i * v.x, last.step + v.u);
    stage_qp_answer(&v, memory, last.step + v.u);
    return STAGE_QP_SOLVED;
}
