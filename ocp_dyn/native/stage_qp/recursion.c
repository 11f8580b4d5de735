/* The Riccati recursion over the free controls of every stage.
 *
 *     M = H + C' W C + F' P F,   T' M T = [ U'U  U'V; V'U  V'V + P_k ],   z = T y + offset,   y = (free u, x),
 *
 * with P of the next stage. Its sources: J. Rawlings, D. Mayne & M. Diehl, Model Predictive Control, 2017, sec. 8.8;
 * for the weights W of an interior-point method, G. Frison & M. Diehl, HPIPM, IFAC World Congress 2020. */
#include "memory.h"

#include <string.h>

void stage_qp_rows(const struct plan *v, const struct stage *s, const double *z, double *out)
{
    for (int i = 0; i < v->m; i++) {
        const double *row = s->C + (long)i * v->width, *x = z;
        lane sum[BLOCK / LANES];
        UNROLL for (int t = 0; t < BLOCK / LANES; t++) sum[t] = (lane){0};
        for (mask bits = s->mask[i]; bits; bits >>= 1, row += BLOCK, x += BLOCK)
            if (bits & 1)
                UNROLL for (int t = 0; t < BLOCK / LANES; t++)
                    sum[t] += load(row + t * LANES) * load(x + t * LANES);
        out[i] = total(sum);
    }
}

void stage_qp_add_rows(const struct plan *v, const struct stage *s, const double *y, double *out)
{
    for (int i = 0; i < v->m; i++) {
        const double *row = s->C + (long)i * v->width;
        int b = 0;
        if (y[i] == 0) continue;
        for (mask bits = s->mask[i]; bits; bits >>= 1, b++)
            if (bits & 1) add_scaled(BLOCK, y[i], row + b * BLOCK, out + b * BLOCK);
    }
}

/* out = F z + b; b: null for zero. */
static void advance(const struct plan *v, const struct stage *s, const double *z, const double *b, double *out)
{
    const double h = *s->h, a = h * h / 2, *q = z + v->u, *rate = q + v->n;
    for (int i = 0; i < v->n; i++) {
        out[i] = q[i] + h * rate[i] + a * z[i];
        out[v->n + i] = rate[i] + h * z[i];
    }
    if (v->dense)
        for (int i = 0; i < v->nx; i++) out[i] = dot(v->width, s->F + (long)i * v->width, z);
    if (b) add_scaled(v->x, 1, b, out);
}

/* out += F' p */
static void add_returned(const struct plan *v, const struct stage *s, const double *p, double *out)
{
    const double h = *s->h, a = h * h / 2, *rate = p + v->n;
    for (int i = 0; i < v->n; i++) {
        out[i] += a * p[i] + h * rate[i];
        out[v->u + i] += p[i];
        out[v->u + v->n + i] += h * p[i] + rate[i];
    }
    if (v->dense)
        for (int i = 0; i < v->nx; i++) add_scaled(v->width, p[i], s->F + (long)i * v->width, out);
}

/* The upper half of M += F' P F for the double integrator: n^2 operations. */
static void add_integrated(const struct plan *v, double h, const double *P, double *M)
{
    const double a = h * h / 2;
    const int n = v->n, x = v->x, width = v->width, u = v->u;
    for (int i = 0; i < n; i++) {
        const double *restrict p = P + (long)i * x, *restrict r = P + (long)(n + i) * x;
        double *restrict control = M + (long)i * width, *restrict from_place = control + u;
        double *restrict from_rate = from_place + n, *restrict place = M + (long)(u + i) * width + u;
        double *restrict place_rate = place + n, *restrict rate = M + (long)(u + n + i) * width + u + n;
        for (int j = 0; j < n; j++) {
            double first = a * p[j] + h * r[j], second = a * p[n + j] + h * r[n + j];
            from_place[j] += first;
            from_rate[j] += h * first + second;
            place_rate[j] += h * p[j] + p[n + j];
        }
        for (int j = i / LANES * LANES; j < n; j++) {
            double first = h * p[j] + p[n + j], second = h * r[j] + r[n + j];
            control[j] += a * (a * p[j] + h * r[j]) + h * (a * p[n + j] + h * r[n + j]);
            place[j] += p[j];
            rate[j] += h * first + second;
        }
    }
}

/* Where `count` rows of a matrix begin in the memory, as entries `from` on. */
static void list_rows(int count, long first, int ld, int from, whole *where)
{
    for (int k = 0; k < count; k++) where[from + k] = (int)(first + (long)k * ld);
}

static void add_dense(const struct plan *v, double *memory, const struct stage *s, const double *P, struct work *t)
{
    struct product p = {v->nx, t->left, t->right, 0, 0, 0, 0};
    list_rows(v->nx, P - memory, v->x, 0, t->left);
    list_rows(v->nx, s->F - memory, v->width, 0, t->right);
    stage_qp_product(memory, &p, v->nx, v->width, 0, t->S, v->width, t->some);
    list_rows(v->nx, t->S - memory, v->width, 0, t->left);
    p.sign = 1;
    stage_qp_product(memory, &p, v->width, v->width, 1, t->M, v->width, t->some);
}

/* The lower half of the first n rows and columns from the upper one. */
static void mirror(int n, int ld, double *P)
{
    for (int i = 0; i < n; i += BLOCK) {
        for (int c = i; c < i + BLOCK && c < n; c++)
            for (int r = i; r < c; r++) P[(long)c * ld + r] = P[(long)r * ld + c];
        for (int c = i + BLOCK; c < n; c++) {
            const double *from = P + (long)i * ld + c;
            double *to = P + (long)c * ld + i;
            UNROLL for (int r = 0; r < BLOCK; r++) to[r] = from[(long)r * ld];
        }
    }
}

/* The upper half of M = H + C' W C + F' P F, and the lower half of the controls. */
static void cost_to_go(const struct plan *v, double *memory, const struct stage *s, const double *P, struct work *t)
{
    struct product p = {0, t->left, t->right, t->mask, 0, 0, 0};
    int width = v->width;
    for (int i = 0; i < v->m; i++) {
        double weight = s->w[i] + s->barrier[i], *row = t->R + (long)p.inner * width;
        const double *from = s->C + (long)i * width;
        if (weight == 0) continue;
        t->left[p.inner] = (int)(row - memory);
        t->right[p.inner] = (int)(from - memory);
        t->mask[p.inner++] = s->mask[i];
        for (mask bits = s->mask[i]; bits; bits >>= 1, row += BLOCK, from += BLOCK)
            if (bits & 1)
                UNROLL for (int r = 0; r < BLOCK; r += LANES) store(row + r, weight * load(from + r));
    }
    stage_qp_product(memory, &p, width, width, 1, t->M, width, t->some);
    for (int j = 0; j < width; j++) t->M[(long)j * width + j] += s->d[j] + s->barrier[v->m + j];
    if (P && v->dense) add_dense(v, memory, s, P, t);
    else if (P) add_integrated(v, *s->h, P, t->M);
    mirror(v->nu, width, t->M);
}

/* S = -(M_p T_y + M_pp G / 2) for the live pivots p, and the rows of M of free controls, in the order of y. */
static void gather(const struct plan *v, double *memory, const struct stage *s, struct work *t)
{
    int live = s->count[LIVE], f = v->nu - s->count[RANK], fp = padded(f), width = v->width, pivots = padded(live);
    struct product p = {live, t->left, t->right, 0, -1, 0, 0};
    const whole *order = s->order, *free = order + s->count[RANK];
    for (int i = 0; i < f; i++) {
        double *row = s->U + (long)i * width;
        const double *from = t->M + (long)free[i] * width;
        for (int j = 0; j < f; j++) row[j] = from[free[j]];
        for (int j = f; j < fp; j++) row[j] = 0;
        memcpy(row + fp, from + v->u, (size_t)v->x * sizeof *row);
    }
    for (int i = 0; i < live; i++) {
        double *row = t->S + (long)i * width, *own = t->W + (long)i * pivots;
        const double *from = t->M + (long)order[i] * width;
        for (int j = 0; j < f; j++) row[j] = -from[free[j]];
        for (int j = f; j < fp; j++) row[j] = 0;
        for (int j = 0; j < v->x; j++) row[fp + j] = -from[v->u + j];
        for (int j = 0; j < live; j++) own[j] = from[order[j]] / 2;
        for (int j = live; j < pivots; j++) own[j] = 0;
    }
    list_rows(live, t->W - memory, pivots, 0, t->left);
    list_rows(live, s->G - memory, width, 0, t->right);
    stage_qp_product(memory, &p, live, fp + v->x, 0, t->S, width, t->some);
}

/* Rows first ... last of the Cholesky factor, last - first <= BLOCK, after the rows before them were subtracted; with
   the inverse numbers on the diagonal. */
static int block_of_factor(int first, int last, int columns, int ld, double *U, const double *size)
{
    int replaced = 0;
    for (int k = first; k < last; k++) {
        double *row = U + (long)k * ld, pivot = row[k], scale;
        if (pivot <= 1e-14 * size[k]) { /* a flat direction: this control does not move */
            replaced++;
            memset(row + first, 0, (size_t)(columns - first) * sizeof *row);
            row[k] = 1e-150;
            continue;
        }
        scale = 1 / sqrt(pivot);
        for (int j = first; j < columns; j += LANES) store(row + j, load(row + j) * scale);
        for (int i = k + 1; i < last; i++)
            add_scaled(columns - first, -row[i], row + first, U + (long)i * ld + first);
        row[k] = scale;
    }
    return replaced;
}

/* U and P from M. Returns the number of replaced pivots. */
static int factor_stage(const struct plan *v, double *memory, const struct stage *s, struct work *t)
{
    int live = s->count[LIVE], f = v->nu - s->count[RANK], fp = padded(f), width = v->width, columns = fp + v->x;
    int replaced = 0;
    struct product p = {2 * live, t->left, t->right, 0, -1, 0, 0}; /* G'S + S'G, then U'U */
    gather(v, memory, s, t);
    list_rows(live, s->G - memory, width, 0, t->left);
    list_rows(live, t->S - memory, width, live, t->left);
    list_rows(f, s->U - memory, width, 2 * live, t->left);
    list_rows(live, t->S - memory, width, 0, t->right);
    list_rows(live, s->G - memory, width, live, t->right);
    list_rows(f, s->U - memory, width, 2 * live, t->right);
    stage_qp_product(memory, &p, f, columns, 1, s->U, width, t->some);
    for (int i = 0; i < f; i++) t->diagonal[i] = fabs(s->U[(long)i * width + i]);
    for (int first = 0; first < f; first += BLOCK) {
        int last = first + BLOCK < f ? first + BLOCK : f;
        struct product before = {first, t->left + 2 * live, t->right + 2 * live, 0, -1, 0, 0};
        stage_qp_product(memory + first, &before, last - first, columns - first, 1,
                         s->U + (long)first * width + first, width, t->some);
        replaced += block_of_factor(first, last, columns, width, s->U, t->diagonal);
    }
    p.inner = 2 * live + f, p.from = t->M + (long)v->u * width + v->u, p.ldf = width;
    stage_qp_product(memory + fp, &p, v->nx, v->x, 1, s->P, v->x, t->some);
    return replaced;
}

/* The gradient over y, T' rhs. */
static void reduce(const struct plan *v, const struct stage *s, const double *rhs, double *y)
{
    int rank = s->count[RANK], f = v->nu - rank, fp = padded(f);
    memset(y, 0, (size_t)fp * sizeof *y);
    for (int j = 0; j < f; j++) y[j] = rhs[s->order[rank + j]];
    memcpy(y + fp, rhs + v->u, (size_t)v->x * sizeof *y);
    for (int p = 0; p < s->count[LIVE]; p++) add_scaled(fp + v->x, rhs[s->order[p]], s->G + (long)p * v->width, y);
}

/* U' down = y; the rest of y is p. */
static void descend(const struct plan *v, const struct stage *s, double *y)
{
    int f = v->nu - s->count[RANK], fp = padded(f);
    for (int i = 0; i < f; i++) {
        const double *row = s->U + (long)i * v->width;
        int begin = i / BLOCK * BLOCK;
        s->down[i] = y[i] * row[i];
        add_scaled(fp + v->x - begin, -s->down[i], row + begin, y + begin);
    }
    memcpy(s->p, y + fp, (size_t)v->x * sizeof *y);
}

/* rhs = grad + C' shift + what the next stage hands back; next: null at the last stage. */
static void right_side(const struct plan *v, const struct stage *s, const double *p, double *rhs)
{
    memcpy(rhs, s->grad, (size_t)v->width * sizeof *rhs);
    add_scaled(v->width, 1, s->shift + v->m, rhs);
    stage_qp_add_rows(v, s, s->shift, rhs);
    if (p) add_returned(v, s, p, rhs);
}

int stage_qp_factor(const struct plan *v, double *memory, struct work *t, const struct stage *s,
                    const struct stage *next, int first)
{
    double *rhs = t->t, *following = t->t + v->width;
    int replaced = 0;
    cost_to_go(v, memory, s, next ? next->P : 0, t);
    if (!next) {
        for (int i = 0; i < v->nx; i++) {
            double *row = s->P + (long)i * v->x;
            memcpy(row, t->M + (long)(v->u + i) * v->width + v->u, (size_t)v->x * sizeof *row);
            for (int j = i; j < v->nx; j++) row[j] += s->terminal[(long)i * v->x + j];
        }
        right_side(v, s, 0, rhs);
        memcpy(s->p, rhs + v->u, (size_t)v->x * sizeof *rhs);
    } else {
        memcpy(following, next->p, (size_t)v->x * sizeof *following);
        for (int i = 0; i < v->nx && first; i++) following[i] += dot(v->x, next->P + (long)i * v->x, s->b);
        right_side(v, s, following, rhs);
        for (int i = 0; i < s->count[RANK] && first; i++) /* rhs += M offset */
            add_scaled(v->width, s->offset[i], t->M + (long)s->order[i] * v->width, rhs);
        replaced = factor_stage(v, memory, s, t);
        reduce(v, s, rhs, t->y);
        descend(v, s, t->y);
    }
    mirror(v->nx, v->x, s->P);
    return replaced;
}

void stage_qp_resolve(const struct plan *v, struct work *t, const struct stage *s, const struct stage *next)
{
    right_side(v, s, next ? next->p : 0, t->t);
    if (!next) {
        memcpy(s->p, t->t + v->u, (size_t)v->x * sizeof *s->p);
        return;
    }
    reduce(v, s, t->t, t->y);
    descend(v, s, t->y);
}

/* The step of a stage from the change x of its state: of its controls by U y = -(down + V x); down: null for zero. */
static void step_stage(const struct plan *v, const struct stage *s, const double *x, const double *down, int first,
                       double *y)
{
    int rank = s->count[RANK], live = s->count[LIVE], f = v->nu - rank, fp = padded(f);
    memset(y, 0, (size_t)fp * sizeof *y);
    memcpy(y + fp, x, (size_t)v->x * sizeof *x);
    for (int i = f - 1; i >= 0; i--) {
        const double *row = s->U + (long)i * v->width;
        int begin = i / BLOCK * BLOCK;
        y[i] = -((down ? down[i] : 0) + dot(fp + v->x - begin, row + begin, y + begin)) * row[i];
    }
    for (int j = 0; j < f; j++) s->step[s->order[rank + j]] = y[j];
    for (int i = 0; i < rank; i++)
        s->step[s->order[i]] = (i < live ? dot(fp + v->x, s->G + (long)i * v->width, y) : 0) +
                               (first ? s->offset[i] : 0);
}

void stage_qp_forward(const struct plan *v, struct work *t, const struct stage *s, int last, int first)
{
    memset(s->step, 0, (size_t)v->u * sizeof *s->step);
    memcpy(s->step + v->u, t->t, (size_t)v->x * sizeof *s->step);
    if (!last) {
        step_stage(v, s, t->t, s->down, first, t->y);
        advance(v, s, s->step, first ? s->b : 0, t->t);
    }
    stage_qp_rows(v, s, s->step, s->move);
    memcpy(s->move + v->m, s->step, (size_t)v->width * sizeof *s->step);
}

void stage_qp_answer(const struct plan *v, double *memory, const double *dx)
{
    struct work t = stage_qp_work(v, memory);
    memcpy(t.t, dx, (size_t)v->x * sizeof *t.t);
    for (int k = 1; k <= v->N; k++) {
        struct stage s = stage_qp_at(v, memory, k);
        memset(s.step, 0, (size_t)v->u * sizeof *s.step);
        memcpy(s.step + v->u, t.t, (size_t)v->x * sizeof *s.step);
        if (k < v->N) {
            step_stage(v, &s, t.t, 0, 0, t.y);
            advance(v, &s, s.step, 0, t.t);
        }
        add_scaled(v->width, 1, s.step, s.z);
    }
}

double stage_qp_adjoint(const struct plan *v, double *memory)
{
    struct work t = stage_qp_work(v, memory);
    struct stage s = stage_qp_at(v, memory, v->N);
    double *p = t.t + v->width, largest = 0;
    memcpy(p, s.grad + v->u, (size_t)v->x * sizeof *p);
    memcpy(s.p, p, (size_t)v->x * sizeof *p);
    for (int k = v->N - 1; k >= 0; k--) {
        s = stage_qp_at(v, memory, k);
        int f = v->nu - s.count[RANK];
        memcpy(t.t, s.grad, (size_t)v->width * sizeof *p);
        add_returned(v, &s, p, t.t);
        reduce(v, &s, t.t, t.y);
        for (int j = 0; j < f; j++)
            if (!(fabs(t.y[j]) <= largest)) largest = fabs(t.y[j]);
        memcpy(p, t.y + padded(f), (size_t)v->x * sizeof *p);
        memcpy(s.p, p, (size_t)v->x * sizeof *p);
    }
    return largest;
}

void stage_qp_gains(const struct stage_qp_sizes *sizes, double *memory, int k, double *K)
{
    struct plan v;
    if (!stage_qp_plan(sizes, &v) || k < 0 || k >= v.N) return;
    struct stage s = stage_qp_at(&v, memory, k);
    struct work t = stage_qp_work(&v, memory);
    int rank = s.count[RANK] < 0 ? 0 : s.count[RANK] > v.nu ? v.nu : s.count[RANK], f = v.nu - rank, fp = padded(f);
    for (int i = f - 1; i >= 0; i--) {
        const double *row = s.U + (long)i * v.width;
        double *free = t.S + (long)i * v.x;
        for (int c = 0; c < v.nx; c++) free[c] = row[fp + c];
        for (int j = i + 1; j < f; j++)
            for (int c = 0; c < v.nx; c++) free[c] += row[j] * t.S[(long)j * v.x + c];
        for (int c = 0; c < v.nx; c++) free[c] *= -row[i];
    }
    for (int i = 0; i < v.nu; i++) {
        int control = s.order[i];
        if (control < 0 || control >= v.nu) continue;
        double *out = K + (long)control * v.nx;
        const double *G = s.G + (long)i * v.width;
        if (i >= rank) {
            memcpy(out, t.S + (long)(i - rank) * v.x, (size_t)v.nx * sizeof *out);
            continue;
        }
        memcpy(out, G + fp, (size_t)v.nx * sizeof *out);
        for (int j = 0; j < f; j++)
            for (int c = 0; c < v.nx; c++) out[c] += G[j] * t.S[(long)j * v.x + c];
    }
}
