/* The interface of MA27, by which IPOPT calls the factorization, and the plans that tell it the tree of fronts.

   MA27 passes no handle. A plan is the current one of the thread that made it; the analysis, which IPOPT calls in that
   thread, makes an instance of the plan, and its number travels in the integer work space that IPOPT keeps for every
   solver of its own. All instances of a plan are freed with the plan. */
#include "instance.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default) /* the functions of this file are called from outside; all others are hidden */

/* Values of INFO(1), of which IPOPT knows the first two: singular; not to be solved. */
enum { INFO_SINGULAR = -5, INFO_FAILED = -2 };

static const double GOOD = 1e-11;       /* relative residual below which a solution is taken as it is: IPOPT asks for 1e-10 */
static const double ENOUGH = 1e-8;      /* relative residual, after refinement, above which pivots were too small */
/* Thresholds of pivots in the scaled matrix, until a residual is too large. */
static const double LEAST_PIVOT = 1e-8, USUAL_PIVOT = 1e-7;
static const double STRICT_PIVOT = 1e-2;

typedef void (*watcher)(int what, int n, int nz, const int *irn, const int *icn, const double *a, int negative,
                        const double *rhs, const double *x);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plan *plans;
static int last_number;
static watcher watch;
static _Thread_local int current;

/* A process that is forked while another thread holds the lock would wait for it forever. */
static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void guard_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

static plan *find_plan(int id)
{
    plan *p = plans;
    while (p && p->id != id) p = p->next;
    return p;
}

static instance *find_instance(int id)
{
    instance *found = NULL;
    pthread_mutex_lock(&lock);
    for (plan *p = plans; p && !found; p = p->next)
        for (instance *s = p->instances; s && !found; s = s->next)
            if (s->id == id) found = s;
    pthread_mutex_unlock(&lock);
    return found;
}

static int *copied(const int *from, int count)
{
    int *to = malloc(((size_t)count + 1) * sizeof(int));
    if (to) memcpy(to, from, (size_t)count * sizeof(int));
    return to;
}

static void free_plan(plan *p)
{
    while (p->instances) {
        instance *s = p->instances;
        p->instances = s->next;
        block_ldl_release(s);
        block_ldl_forget(s->layouts[0]), block_ldl_forget(s->layouts[1]);
        free(s->irn), free(s->icn), free(s->J), free(s->corner), free(s->scaled), free(s);
    }
    free(p->front), free(p->role), free(p->tile), free(p->parent), free(p->thread);
    free(p);
}

/* Whether fronts come before their parents, threads keep to their subtrees, and all rows have roles and tiles. */
static int makes_sense(int n, int fronts, const int *role, const int *tile, const int *parent, const int *thread)
{
    for (int f = 0; f < fronts; f++) {
        if (thread[f] < -1 || thread[f] >= fronts || parent[f] >= fronts) return 0;
        if (parent[f] < 0) continue;
        if (parent[f] <= f || (thread[parent[f]] >= 0 && thread[parent[f]] != thread[f])) return 0;
    }
    for (int i = 0; i < n; i++) {
        if (role[i] < ORDINARY || role[i] > TILE_DUAL) return 0;
        if (role[i] >= TILE_PRIMAL && (tile[i] < 0 || tile[i] >= n)) return 0;
    }
    return 1;
}

/* Makes a plan the current one of this thread; primal: number of the first rows that are variables; returns its number,
   or 0 if there is no memory or it makes no sense. */
int block_ldl_begin(int n, int primal, int fronts, const int *front, const int *role, const int *tile, const int *parent,
                    const int *thread, int threads)
{
    if (n < 1 || primal < 0 || primal > n || fronts < 1 || threads < 1) return 0;
    if (!makes_sense(n, fronts, role, tile, parent, thread)) return 0;
    plan *p = calloc(1, sizeof(plan));
    if (!p) return 0;
    p->n = n, p->primal = primal, p->fronts = fronts, p->threads = threads;
    for (int f = 0; f < fronts; f++)
        if (thread[f] >= p->subtrees) p->subtrees = thread[f] + 1;
    p->front = copied(front, n), p->role = copied(role, n), p->tile = copied(tile, n);
    p->parent = copied(parent, fronts), p->thread = copied(thread, fronts);
    if (!p->front || !p->role || !p->tile || !p->parent || !p->thread) {
        free_plan(p);
        return 0;
    }
    pthread_mutex_lock(&lock);
    p->id = current = ++last_number;
    p->next = plans;
    plans = p;
    pthread_mutex_unlock(&lock);
    return p->id;
}

/* Makes an earlier plan the current one of this thread again; 0: none. Returns the one before. */
int block_ldl_use(int id)
{
    int before = current;
    current = id;
    return before;
}

void block_ldl_end(int id)
{
    pthread_mutex_lock(&lock);
    plan **at = &plans;
    while (*at && (*at)->id != id) at = &(*at)->next;
    plan *p = *at;
    if (p) *at = p->next;
    pthread_mutex_unlock(&lock);
    if (current == id) current = 0;
    if (p) free_plan(p);
}

/* Writes the figures of a plan, in the order of `statistics`; zeros if there is no such plan. */
void block_ldl_stats(int id, double *figures)
{
    pthread_mutex_lock(&lock);
    plan *p = find_plan(id);
    memset(figures, 0, sizeof(statistics));
    if (p) memcpy(figures, &p->figures, sizeof(statistics));
    pthread_mutex_unlock(&lock);
}

void block_ldl_watch(watcher f) { watch = f; }

void ma27id_(int *icntl, double *cntl)
{
    memset(icntl, 0, 30 * sizeof(int));
    memset(cntl, 0, 5 * sizeof(double));
    cntl[0] = LEAST_PIVOT;
}

static int fail(plan *p, enum failure failure)
{
    if (p) p->figures.failure = failure;
    return INFO_FAILED;
}

static instance *new_instance(plan *p, int nz, const int *irn, const int *icn)
{
    instance *s = calloc(1, sizeof(instance));
    if (!s) return NULL;
    s->plan = p, s->n = p->n, s->nz = nz;
    s->irn = copied(irn, nz), s->icn = copied(icn, nz);
    pthread_mutex_lock(&lock);
    s->id = ++last_number;
    s->next = p->instances;
    p->instances = s;
    pthread_mutex_unlock(&lock);
    if (!s->irn || !s->icn) return NULL;
    for (int k = 0; k < nz; k++) s->irn[k]--, s->icn[k]--;
    return s;
}

/* The layout of an instance; NULL, with the failure in the plan's figures, if it cannot be made. */
static const layout *layout_of(instance *s, int strict)
{
    layout **at = s->layouts + strict;
    if (!*at) {
        enum failure failure = block_ldl_analyze(s->plan, s->nz, s->irn, s->icn, strict, at);
        if (failure) {
            fail(s->plan, failure);
            return NULL;
        }
    }
    free(s->J), free(s->corner);
    s->J = calloc((size_t)(*at)->entry_count + 1, sizeof(double));
    s->corner = calloc(3 * (size_t)(*at)->pairs + 1, sizeof(double));
    if (!s->J || !s->corner) {
        fail(s->plan, NO_MEMORY);
        return NULL;
    }
    return *at;
}

void ma27ad_(const int *n, const int *nz, const int *irn, const int *icn, int *iw, const int *liw, int *ikeep, int *iw1,
             int *nsteps, const int *iflag, const int *icntl, const double *cntl, int *info, double *ops)
{
    (void)iw, (void)liw, (void)iw1, (void)iflag, (void)icntl, (void)cntl;
    memset(info, 0, 20 * sizeof(int));
    pthread_mutex_lock(&lock);
    plan *p = find_plan(current);
    pthread_mutex_unlock(&lock);
    info[4] = *nz, info[5] = *n + 16, *nsteps = 1, *ops = 0;
    if (!p || p->n != *n) {
        info[0] = fail(p, WRONG_STRUCTURE);
        return;
    }
    for (int k = 0; k < *nz; k++)
        if (irn[k] < 1 || irn[k] > *n || icn[k] < 1 || icn[k] > *n) info[0] = fail(p, WRONG_STRUCTURE);
    if (info[0]) return;
    instance *s = new_instance(p, *nz, irn, icn);
    if (!s) info[0] = fail(p, NO_MEMORY);
    else if (!layout_of(s, 0)) info[0] = INFO_FAILED;
    else ikeep[0] = s->id;
}

/* The threshold of pivots of a factorization that is not strict.

   A large one makes accurate factors; it is lowered while many rows are delayed, and raised again by a solution that
   has to be refined. The first matrix of IPOPT, which finds
   multipliers, has no second derivatives and the fewest good pivots, and is solved once: it gets the least. */
static double usual_pivot(instance *s)
{
    if (s->usual == 0) {
        s->usual = USUAL_PIVOT;
        return LEAST_PIVOT;
    }
    if (block_ldl_many_late(s)) s->usual = fmax(s->usual / 10, LEAST_PIVOT);
    return s->usual;
}

/* Factors the values of an instance, usually or strictly; returns a value of INFO(1). */
static int factor(instance *s, int strict, int *negative)
{
    statistics *figures = &s->plan->figures;
    double begin = block_ldl_clock();
    const layout *l = s->layouts[strict] && strict == s->strict && s->J ? s->layouts[strict] : layout_of(s, strict);
    if (!l) return INFO_FAILED;
    s->strict = strict, s->threshold = strict ? STRICT_PIVOT : usual_pivot(s);
    enum failure failure = block_ldl_factor(s, l, negative);
    figures->factorizations++, figures->strict += strict;
    figures->factor_seconds += block_ldl_clock() - begin;
    s->factored = failure == NO_FAILURE;
    if (failure == SINGULAR) return INFO_SINGULAR;
    return failure ? fail(s->plan, failure) : 0;
}

void ma27bd_(const int *n, const int *nz, const int *irn, const int *icn, double *a, const int *la, int *iw,
             const int *liw, const int *ikeep, const int *nsteps, int *maxfrt, int *iw1, const int *icntl,
             const double *cntl, int *info)
{
    (void)irn, (void)icn, (void)la, (void)liw, (void)nsteps, (void)iw1, (void)icntl;
    memset(info, 0, 20 * sizeof(int));
    instance *s = find_instance(ikeep[0]);
    *maxfrt = 1;
    if (!s || s->n != *n || s->nz != *nz) {
        info[0] = INFO_FAILED;
        return;
    }
    iw[0] = s->id;
    s->values = a;
    /* IPOPT raises it where residuals are too large, factors the matrix again, and never lowers it. */
    int negative = 0, raised = s->asked > 0 && cntl[0] > s->asked;
    s->asked = cntl[0];
    info[0] = factor(s, raised, &negative);
    info[14] = negative;
    if (watch) watch(0, s->n, s->nz, s->irn, s->icn, s->values, info[0] ? info[0] : negative, NULL, NULL);
}

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most)) most = fabs(x[i]);
    return most;
}

/* r = b - A x; returns its size relative to those of b and x, by which IPOPT judges solutions. */
static double residual(const instance *s, const double *b, const double *x, double *r)
{
    memcpy(r, b, (size_t)s->n * sizeof(double));
    for (int k = 0; k < s->nz; k++) {
        int i = s->irn[k], j = s->icn[k];
        r[i] -= s->values[k] * x[j];
        if (i != j) r[j] -= s->values[k] * x[i];
    }
    double scale = largest(b, s->n) + largest(x, s->n);
    return scale == 0 ? 0 : largest(r, s->n) / scale;
}

/* The backward error of x, r = b - A x: |r| / (|A| |x| + |b|) of the scaled equations in the largest norm, which is the
   least relative change of D A D and D b that makes x exact (Rigal & Gaches 1967). sum: work space, of size n. */
static double backward_error(const instance *s, const double *b, const double *x, const double *r, double *sum)
{
    double left = 0, norm = 0, of_x = 0, of_b = 0;
    memset(sum, 0, (size_t)s->n * sizeof(double));
    for (int k = 0; k < s->nz; k++) {
        int i = s->irn[k], j = s->icn[k];
        sum[i] += fabs(s->scaled[k]);
        if (i != j) sum[j] += fabs(s->scaled[k]);
    }
    for (int i = 0; i < s->n; i++) {
        double d = s->scale[i];
        left = fmax(left, d * fabs(r[i])), of_b = fmax(of_b, d * fabs(b[i])), of_x = fmax(of_x, fabs(x[i]) / d);
        norm = fmax(norm, sum[i]);
    }
    return left > 0 ? left / (norm * of_x + of_b) : 0;
}

/* x = A^-1 b, with one step of refinement where the first solution is not good enough; returns the residual.
   work: of size n. */
static double solve(instance *s, const double *b, double *x, double *r, double *work)
{
    const layout *l = s->layouts[s->strict];
    memcpy(x, b, (size_t)s->n * sizeof(double));
    block_ldl_solve(s, l, x);
    double left = residual(s, b, x, r), *worst = &s->plan->figures.backward_error;
    *worst = fmax(*worst, backward_error(s, b, x, r, work));
    if (!(left <= GOOD)) s->usual = fmin(s->usual * 10, USUAL_PIVOT);
    for (int step = 0; step < 2 && !(left <= GOOD) && left == left; step++, s->plan->figures.refined++) {
        block_ldl_solve(s, l, r);
        for (int i = 0; i < s->n; i++) x[i] += r[i];
        left = residual(s, b, x, r);
    }
    return left;
}

void ma27cd_(const int *n, const double *a, const int *la, const int *iw, const int *liw, double *w, const int *maxfrt,
             double *rhs, const int *iw1, const int *nsteps, const int *icntl, const double *cntl)
{
    (void)la, (void)liw, (void)w, (void)maxfrt, (void)iw1, (void)nsteps, (void)icntl, (void)cntl;
    instance *s = find_instance(iw[0]);
    if (!s || s->n != *n) return;
    statistics *figures = &s->plan->figures;
    double begin = block_ldl_clock(), left = 1;
    double *b = malloc(4 * (size_t)s->n * sizeof(double)), *x = b + s->n, *r = x + s->n;
    if (!b || !s->factored) {
        fail(s->plan, b ? INACCURATE : NO_MEMORY);
        free(b);
        return;
    }
    s->values = a; /* as it was factored: MA27 keeps its factors there, this library leaves it as it is */
    memcpy(b, rhs, (size_t)s->n * sizeof(double));
    left = solve(s, b, x, r, r + s->n);
    if (!(left <= ENOUGH) && !s->strict) {
        int negative = 0;
        if (!factor(s, 1, &negative)) left = solve(s, b, x, r, r + s->n);
    }
    if (!(left <= figures->residual)) figures->residual = left;
    if (!(left < 1)) fail(s->plan, INACCURATE);
    memcpy(rhs, x, (size_t)s->n * sizeof(double));
    figures->solves++, figures->solve_seconds += block_ldl_clock() - begin;
    if (watch) watch(1, s->n, s->nz, s->irn, s->icn, s->values, 0, b, rhs);
    free(b);
}
