/* The division of the caller's memory, and what goes in and out of it. */
#include "memory.h"

#include <string.h>

enum { LARGEST = 512, LONGEST = 100000 };

static int most(int a, int b) { return a > b ? a : b; }

/* Hands out parts of the memory one after the other; from null it only counts. */
struct parts {
    double *memory;
    long next;
};

static double *part(struct parts *p, long numbers)
{
    double *here = p->memory ? p->memory + p->next : 0;
    p->next += (numbers + BLOCK - 1) / BLOCK * BLOCK;
    return here;
}

static whole *wholes(struct parts *p, long numbers) { return (whole *)part(p, (numbers + 1) / 2); }
static mask *bits(struct parts *p, long numbers) { return (mask *)part(p, numbers); }

static struct stage stage_parts(const struct plan *v, struct parts *p)
{
    struct stage s;
    double **vectors[] = {&s.d, &s.g, &s.z, &s.step, &s.grad};
    double **rows[] = {&s.c, &s.w};
    double **sides[] = {&s.beta,  &s.sign,   &s.price,   &s.slack, &s.lambda, &s.s,
                        &s.weight, &s.q, &s.dslack, &s.dlambda, &s.ds,     &s.kept};
    for (int i = 0; i < 5; i++) *vectors[i] = part(p, v->width);
    for (int i = 0; i < 2; i++) *rows[i] = part(p, v->m);
    for (int i = 0; i < 12; i++) *sides[i] = part(p, v->sides);
    s.value = part(p, v->values);
    s.move = part(p, v->values);
    s.barrier = part(p, v->values);
    s.shift = part(p, v->values);
    s.C = part(p, (long)v->m * v->width);
    s.E = part(p, (long)v->ne * v->width);
    s.e = part(p, v->ne);
    s.F = part(p, v->dense ? (long)v->nx * v->width : 0);
    s.terminal = part(p, (long)v->nx * v->x);
    s.b = part(p, v->x);
    s.h = part(p, 1);
    s.G = part(p, (long)v->nu * v->width);
    s.U = part(p, (long)v->nu * v->width);
    s.P = part(p, (long)v->nx * v->x);
    s.L = part(p, (long)v->nx * v->x);
    s.l = part(p, v->x);
    s.offset = part(p, v->u);
    s.down = part(p, v->u);
    s.p = part(p, v->x);
    s.mask = bits(p, v->m);
    s.index = wholes(p, v->sides);
    s.order = wholes(p, v->u);
    s.count = wholes(p, COUNTS);
    return s;
}

static struct work work_parts(const struct plan *v, struct parts *p)
{
    struct work w;
    int rows = v->ne + v->nx;
    w.M = part(p, (long)v->width * v->width);
    w.S = part(p, (long)most(v->nu, v->nx) * v->width);
    w.W = part(p, (long)most(rows, v->nu) * (v->width + BLOCK)); /* also the pivots' block of M */
    w.R = part(p, (long)v->m * v->width);
    w.size = part(p, rows);
    w.rows = part(p, v->m);
    w.y = part(p, 2 * v->width);
    w.t = part(p, 2 * v->width);
    w.diagonal = part(p, v->width);
    w.mask = bits(p, v->inner);
    w.left = wholes(p, v->inner);
    w.right = wholes(p, v->inner);
    for (int k = 0; k < 2; k++) {
        w.some[k].left = wholes(p, v->inner);
        w.some[k].right = wholes(p, v->inner);
        w.some[k].mask = bits(p, v->inner);
    }
    return w;
}

int stage_qp_plan(const struct stage_qp_sizes *s, struct plan *v)
{
    const struct parts none = {0, 0};
    struct parts p = none;
    if (s->stages < 1 || s->stages > LONGEST || s->nx < 1 || s->nu < 0 || s->rows < 0 || s->equalities < 0) return 0;
    if (s->nx > LARGEST || s->nu > LARGEST || s->rows > LONGEST || s->equalities > LARGEST) return 0;
    if (s->integrated && (s->integrated < 0 || s->nx != 2 * s->integrated || s->nu < s->integrated)) return 0;
    v->N = s->stages, v->nx = s->nx, v->nu = s->nu, v->m = s->rows, v->ne = s->equalities, v->n = s->integrated;
    v->dense = !s->integrated;
    v->u = padded(v->nu), v->x = padded(v->nx), v->width = v->u + v->x;
    v->values = v->m + v->width, v->sides = 2 * v->values;
    if (v->width > LARGEST) return 0;
    v->inner = most(most(v->m, 3 * v->nu), most(v->nx, v->ne + v->nx));
    stage_parts(v, &p);
    v->stage = p.next;
    p = none;
    work_parts(v, &p);
    v->work = p.next;
    v->first = v->work;
    v->last = v->first + v->N * v->stage;
    v->total = v->last + 2 * v->stage; /* a spare one for stage_qp_feedback */
    return v->total < 2000000000L / (long)sizeof(double);
}

struct stage stage_qp_at(const struct plan *v, double *memory, int k)
{
    struct parts p;
    p.memory = memory + (k < v->N ? v->first + k * v->stage : v->last);
    p.next = 0;
    return stage_parts(v, &p);
}

struct work stage_qp_work(const struct plan *v, double *memory)
{
    struct parts p;
    p.memory = memory;
    p.next = 0;
    return work_parts(v, &p);
}

long stage_qp_numbers(const struct stage_qp_sizes *sizes)
{
    struct plan v;
    return stage_qp_plan(sizes, &v) ? v.total : 0;
}

int stage_qp_init(const struct stage_qp_sizes *sizes, double *memory)
{
    struct plan v;
    if (!stage_qp_plan(sizes, &v)) return STAGE_QP_SIZES;
    memset(memory, 0, (size_t)v.total * sizeof *memory);
    return STAGE_QP_SOLVED;
}

/* Copies a row over (x, u) to one over (u, x); returns a sum that is not finite if one of the numbers is not. */
static double turned(const struct plan *v, const double *from, double *to)
{
    memcpy(to, from + v->nx, (size_t)v->nu * sizeof *to);
    memcpy(to + v->u, from, (size_t)v->nx * sizeof *to);
    return faults(v->nx + v->nu, from);
}

static double copied(int n, const double *from, double *to)
{
    memcpy(to, from, (size_t)n * sizeof *to);
    return faults(n, from);
}

static mask blocks_of(const struct plan *v, const double *row)
{
    mask bits = 0;
    for (int b = 0; b < v->width / BLOCK; b++) {
        mask any = 0;
        UNROLL for (int j = 0; j < BLOCK; j++) any |= row[b * BLOCK + j] != 0;
        bits |= any << b;
    }
    return bits;
}

/* Adds a side; returns a number that is not finite if the bound is not a number. */
static double add_side(struct stage *s, int *count, int index, double sign, double bound, double price)
{
    int i = *count;
    if (!(price >= 0)) return NAN;
    if (!(fabs(bound) < STAGE_QP_ABSENT)) {
        if (sign * bound >= STAGE_QP_ABSENT) return 0;
        return NAN;
    }
    if (price == 0) return 0; /* a violation that costs nothing bounds nothing */
    s->index[i] = index;
    s->sign[i] = sign;
    s->beta[i] = sign * bound;
    s->price[i] = price < STAGE_QP_ABSENT ? price : STAGE_QP_ABSENT;
    *count = i + 1;
    return 0;
}

static double add_sides(const struct plan *v, struct stage *s, int k, const struct stage_qp_stage *q, int upper)
{
    const double *bound = upper ? q->upper : q->lower, *zbound = upper ? q->zupper : q->zlower;
    double sum = 0, sign = upper ? 1 : -1;
    int *count = (int *)s->count + SIDES, base = upper * v->values, nu = k < v->N ? v->nu : 0;
    for (int i = 0; i < v->m; i++) sum += add_side(s, count, base + i, sign, bound[i], q->price[i]);
    for (int i = 0; i < nu; i++)
        sum += add_side(s, count, base + v->m + i, sign, zbound[v->nx + i], q->zprice[v->nx + i]);
    for (int i = 0; i < v->nx && k; i++)
        sum += add_side(s, count, base + v->m + v->u + i, sign, zbound[i], q->zprice[i]);
    return sum;
}

int stage_qp_load(const struct stage_qp_sizes *sizes, double *memory, int k, const struct stage_qp_stage *q)
{
    struct plan v;
    if (!stage_qp_plan(sizes, &v) || k < 0 || k > v.N) return STAGE_QP_SIZES;
    struct stage s = stage_qp_at(&v, memory, k);
    double sum = turned(&v, q->d, s.d) + turned(&v, q->g, s.g);
    sum += copied(v.m, q->c, s.c) + copied(v.m, q->w, s.w);
    for (int i = 0; i < v.m; i++) {
        double *row = s.C + (long)i * v.width;
        sum += turned(&v, q->C + (long)i * (v.nx + v.nu), row);
        if (k == v.N) memset(row, 0, (size_t)v.u * sizeof *row);
        s.mask[i] = blocks_of(&v, row);
    }
    if (k == v.N) {
        memset(s.d, 0, (size_t)v.u * sizeof *s.d);
        memset(s.b, 0, (size_t)v.x * sizeof *s.b);
        memset(s.g, 0, (size_t)v.u * sizeof *s.g);
        for (int i = 0; i < v.nx; i++)
            if (q->P) sum += copied(v.nx, q->P + (long)i * v.nx, s.terminal + (long)i * v.x);
            else memset(s.terminal + (long)i * v.x, 0, (size_t)v.x * sizeof *s.terminal);
    } else {
        for (int i = 0; i < v.ne; i++) sum += turned(&v, q->E + (long)i * (v.nx + v.nu), s.E + (long)i * v.width);
        sum += copied(v.ne, q->e, s.e) + copied(v.nx, q->b, s.b);
        for (int i = 0; i < v.nx && v.dense; i++)
            sum += turned(&v, q->F + (long)i * (v.nx + v.nu), s.F + (long)i * v.width);
        sum += copied(1, &q->h, s.h);
    }
    s.count[SIDES] = 0;
    sum += add_sides(&v, &s, k, q, 0);
    sum += add_sides(&v, &s, k, q, 1);
    return sum == 0 ? STAGE_QP_SOLVED : STAGE_QP_NOT_FINITE;
}

void stage_qp_z(const struct stage_qp_sizes *sizes, const double *memory, int k, double *z)
{
    struct plan v;
    if (!stage_qp_plan(sizes, &v) || k < 0 || k > v.N) return;
    struct stage s = stage_qp_at(&v, (double *)memory, k);
    memcpy(z, s.z + v.u, (size_t)v.nx * sizeof *z);
    if (k < v.N) memcpy(z + v.nx, s.z, (size_t)v.nu * sizeof *z);
}

/* The place of a value (row, or entry of z inside) in the order of the callers: rows, then x, u. */
static int outside(const struct plan *v, int value)
{
    int j = value - v->m;
    return j < 0 ? value : j < v->u ? v->m + v->nx + j : v->m + j - v->u;
}

static void by_value(const struct stage_qp_sizes *sizes, const double *memory, int k, double *out, int violation)
{
    struct plan v;
    if (!stage_qp_plan(sizes, &v) || k < 0 || k > v.N) return;
    struct stage s = stage_qp_at(&v, (double *)memory, k);
    memset(out, 0, (size_t)(v.m + v.nx + v.nu) * sizeof *out);
    for (int i = 0; i < s.count[SIDES] && i < v.sides; i++) {
        int value = s.index[i] % v.values;
        if (value < 0) continue;
        double over = s.sign[i] * s.value[value] - s.beta[i];
        double *to = out + outside(&v, value);
        if (violation) *to = larger(*to, over);
        else *to += s.sign[i] * s.lambda[i];
    }
}

void stage_qp_violations(const struct stage_qp_sizes *sizes, const double *memory, int k, double *violation)
{
    by_value(sizes, memory, k, violation, 1);
}

void stage_qp_multipliers(const struct stage_qp_sizes *sizes, const double *memory, int k, double *multipliers)
{
    by_value(sizes, memory, k, multipliers, 0);
}

void stage_qp_shift(const struct stage_qp_sizes *sizes, double *memory, int steps)
{
    struct plan v;
    if (!stage_qp_plan(sizes, &v) || steps < 1) return;
    for (int k = 0; k < v.N; k++) { /* the last stage keeps its own: it has no controls */
        int from = k + steps < v.N ? k + steps : v.N - 1;
        struct stage to = stage_qp_at(&v, memory, k), source = stage_qp_at(&v, memory, from);
        if (from > k) memcpy(to.kept, source.kept, (size_t)v.sides * sizeof *to.kept);
    }
}
