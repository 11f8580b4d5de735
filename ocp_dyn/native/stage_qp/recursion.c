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
        double *restrict control = M + (long)i * width, *restrict place = M + (long)(u + i) * width + u;
        double *restrict rate = M + (long)(u + n + i) * width + u;
        for (int j = 0; j < n; j++) {
            double first = a * p[j] + h * r[j], second = a * p[n + j] + h * r[n + j];
            control[j] += a * first + h * second;
            control[u + j] += first;
            control[u + n + j] += h * first + second;
        }
        for (int j = 0; j < n; j++) {
            place[j] += p[j];
            place[n + j] += h * p[j] + p[n + j];
            rate[n + j] += h * (h * p[j] + r[j]) + (h * p[n + j] + r[n + j]);
        }
    }
}

/* Row numbers of `count` rows of a matrix, as places in the memory. */
static void list_rows(int count, long first, int ld, double weight, int from, int *where, double *weights)
{
    for (int k = 0; k < count; k++) {
        where[from + k] = (int)(first + (long)k * ld);
        if (weights) weights[from + k] = weight;
    }
}

static void add_dense(const struct plan *v, double *memory, const struct stage *s, const double *P, struct work *t)
{
    struct product p = {v->nx, t->left, t->right, t->weight, 0, 0};
    memset(t->S, 0, (size_t)v->nx * (size_t)v->width * sizeof *t->S);
    list_rows(v->nx, P - memory, v->x, 1, 0, t->left, t->weight);
    list_rows(v->nx, s->F - memory, v->width, 1, 0, t->right, 0);
    stage_qp_product(memory, &p, v->nx, v->width, 0, t->S, v->width, &t->product);
    list_rows(v->nx, s->F - memory, v->width, 1, 0, t->left, t->weight);
    list_rows(v->nx, t->S - memory, v->width, 1, 0, t->right, 0);
    stage_qp_product(memory, &p, v->width, v->width, 1, t->M, v->width, &t->product);
}

/* The upper half of M = H + C' W C + F' P F. */
static void cost_to_go(const struct plan *v, double *memory, const struct stage *s, const double *P, struct work *t)
{
    struct product p = {0, t->left, t->right, t->weight, t->mask, 1};
    int width = v->width;
    for (int i = 0; i < v->m; i++) {
        double weight = s->w[i] + s->barrier[i];
        if (weight == 0) continue;
        t->left[p.inner] = t->right[p.inner] = (int)(s->C - memory + (long)i * width);
        t->mask[p.inner] = s->mask[i];
        t->weight[p.inner++] = weight;
    }
    stage_qp_product(memory, &p, width, width, 1, t->M, width, &t->product);
    for (int j = 0; j < width; j++) t->M[(long)j * width + j] += s->d[j] + s->barrier[v->m + j];
    if (P && v->dense) add_dense(v, memory, s, P, t);
    else if (P) add_integrated(v, *s->h, P, t->M);
}

INLINE double entry(const double *M, int width, int i, int j)
{
    return i < j ? M[(long)i * width + j] : M[(long)j * width + i];
}

/* Rows of G and S, left, with rows of S and G, right, from a column on; rows of G that vanish, as for the forces of
   open contacts, have the weight zero. */
static void list_pivots(const struct plan *v, double *memory, const struct stage *s, long column, struct work *t)
{
    int rank = s->count[RANK];
    long G = s->G - memory + column, S = t->S - memory + column;
    list_rows(rank, G, v->width, 0, 0, t->left, t->weight);
    list_rows(rank, S, v->width, 0, rank, t->left, t->weight);
    list_rows(rank, S, v->width, 0, 0, t->right, 0);
    list_rows(rank, G, v->width, 0, rank, t->right, 0);
    for (int i = 0; i < rank; i++) {
        const double *row = s->G + (long)i * v->width;
        for (int j = 0; j < v->width && t->weight[i] == 0; j++) t->weight[i] = row[j] != 0;
        t->weight[rank + i] = t->weight[i];
    }
}

/* S = M_p T_y + M_pp G / 2 for the pivots p, and the rows of M of free controls, in the order of y. */
static void gather(const struct plan *v, double *memory, const struct stage *s, struct work *t)
{
    int rank = s->count[RANK], f = v->nu - rank, fp = padded(f), width = v->width, pivots = padded(rank);
    struct product p = {rank, t->left, t->right, t->weight, 0, 0};
    const whole *order = s->order, *free = order + rank;
    for (int i = 0; i < f; i++) {
        double *row = s->U + (long)i * width;
        const double *from = t->M + (long)free[i] * width;
        memset(row, 0, (size_t)fp * sizeof *row);
        for (int j = i; j < f; j++) row[j] = from[free[j]];
        memcpy(row + fp, from + v->u, (size_t)v->x * sizeof *row);
    }
    for (int i = 0; i < rank; i++) {
        double *row = t->S + (long)i * width, *own = t->W + (long)i * pivots;
        memset(row, 0, (size_t)fp * sizeof *row);
        for (int j = 0; j < f; j++) row[j] = entry(t->M, width, order[i], free[j]);
        memcpy(row + fp, t->M + (long)order[i] * width + v->u, (size_t)v->x * sizeof *row);
        memset(own, 0, (size_t)pivots * sizeof *own);
        for (int j = 0; j < rank; j++) own[j] = entry(t->M, width, order[i], order[j]) / 2;
    }
    list_pivots(v, memory, s, 0, t);
    list_rows(rank, t->W - memory, pivots, 1, 0, t->left, 0);
    list_rows(rank, s->G - memory, width, 1, 0, t->right, 0);
    stage_qp_product(memory, &p, rank, fp + v->x, 0, t->S, width, &t->product);
}

/* Rows first ... last of the Cholesky factor, last - first <= BLOCK, after the rows before them were subtracted. */
static int block_of_factor(int first, int last, int columns, int ld, double *U, const double *size)
{
    int replaced = 0;
    for (int k = first; k < last; k++) {
        double *row = U + (long)k * ld, pivot = row[k], scale;
        if (pivot <= 1e-14 * size[k]) { /* a flat direction: this control does not move */
            replaced++;
            memset(row + first, 0, (size_t)(columns - first) * sizeof *row);
            row[k] = 1e150;
            continue;
        }
        scale = 1 / sqrt(pivot);
        for (int j = first; j < columns; j += LANES) store(row + j, load(row + j) * scale);
        for (int i = k + 1; i < last; i++)
            add_scaled(columns - first, -row[i], row + first, U + (long)i * ld + first);
    }
    return replaced;
}

/* U and P from M. Returns the number of replaced pivots. */
static int factor_stage(const struct plan *v, double *memory, const struct stage *s, struct work *t)
{
    int rank = s->count[RANK], f = v->nu - rank, fp = padded(f), width = v->width, columns = fp + v->x, replaced = 0;
    struct product p = {2 * rank, t->left, t->right, t->weight, 0, 0};
    gather(v, memory, s, t);
    for (int i = 0; i < v->nx; i++)
        memcpy(s->P + (long)i * v->x, t->M + (long)(v->u + i) * width + v->u, (size_t)v->x * sizeof *s->P);
    list_pivots(v, memory, s, 0, t);
    stage_qp_product(memory, &p, f, columns, 1, s->U, width, &t->product);
    for (int i = 0; i < f; i++) t->diagonal[i] = fabs(s->U[(long)i * width + i]);
    for (int first = 0; first < f; first += BLOCK) {
        int last = first + BLOCK < f ? first + BLOCK : f;
        p.inner = first;
        list_rows(first, s->U - memory + first, width, -1, 0, t->left, t->weight);
        stage_qp_product(memory, &(struct product){first, t->left, t->left, t->weight, 0, 0}, last - first,
                         columns - first, 1, s->U + (long)first * width + first, width, &t->product);
        replaced += block_of_factor(first, last, columns, width, s->U, t->diagonal);
    }
    p.inner = 2 * rank + f;
    list_pivots(v, memory, s, fp, t);
    list_rows(f, s->U - memory + fp, width, -1, 2 * rank, t->left, t->weight);
    list_rows(f, s->U - memory + fp, width, 1, 2 * rank, t->right, 0);
    stage_qp_product(memory, &p, v->nx, v->x, 1, s->P, v->x, &t->product);
    return replaced;
}

/* The lower half of P from the upper one. */
static void mirror(const struct plan *v, double *P)
{
    for (int i = 0; i < v->nx; i += BLOCK)
        for (int j = i; j < v->nx; j += BLOCK)
            for (int r = i; r < i + BLOCK && r < v->nx; r++)
                for (int c = j > r ? j : r; c < j + BLOCK && c < v->nx; c++)
                    P[(long)c * v->x + r] = P[(long)r * v->x + c];
}

/* The gradient over y, T' rhs. */
static void reduce(const struct plan *v, const struct stage *s, const double *rhs, double *y)
{
    int rank = s->count[RANK], f = v->nu - rank, fp = padded(f);
    memset(y, 0, (size_t)fp * sizeof *y);
    for (int j = 0; j < f; j++) y[j] = rhs[s->order[rank + j]];
    memcpy(y + fp, rhs + v->u, (size_t)v->x * sizeof *y);
    for (int p = 0; p < rank; p++) add_scaled(fp + v->x, rhs[s->order[p]], s->G + (long)p * v->width, y);
}

/* U' down = y; the rest of y is p. */
static void descend(const struct plan *v, const struct stage *s, double *y)
{
    int f = v->nu - s->count[RANK], fp = padded(f);
    for (int i = 0; i < f; i++) {
        const double *row = s->U + (long)i * v->width;
        int begin = i / BLOCK * BLOCK;
        s->down[i] = y[i] / row[i];
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

int stage_qp_factor(const struct plan *v, double *memory, int first)
{
    struct work t = stage_qp_work(v, memory);
    struct stage s, next = stage_qp_at(v, memory, v->N);
    int replaced = 0;
    for (int k = v->N; k >= 0; k--) {
        s = stage_qp_at(v, memory, k);
        double *rhs = t.t, *following = t.t + v->width;
        if (k == v->N) {
            cost_to_go(v, memory, &s, 0, &t);
            for (int i = 0; i < v->nx; i++) {
                double *row = s.P + (long)i * v->x;
                memcpy(row, t.M + (long)(v->u + i) * v->width + v->u, (size_t)v->x * sizeof *row);
                for (int j = i; j < v->nx; j++) row[j] += s.terminal[(long)i * v->x + j];
            }
            right_side(v, &s, 0, rhs);
            memcpy(s.p, rhs + v->u, (size_t)v->x * sizeof *rhs);
        } else {
            cost_to_go(v, memory, &s, next.P, &t);
            memcpy(following, next.p, (size_t)v->x * sizeof *following);
            for (int i = 0; i < v->nx && first; i++) following[i] += dot(v->x, next.P + (long)i * v->x, s.b);
            right_side(v, &s, following, rhs);
            for (int i = 0; i < s.count[RANK] && first; i++) /* rhs += M offset */
                for (int j = 0; j < v->width; j++)
                    if (j < v->nu || j >= v->u) rhs[j] += s.offset[i] * entry(t.M, v->width, s.order[i], j);
            replaced += factor_stage(v, memory, &s, &t);
            reduce(v, &s, rhs, t.y);
            descend(v, &s, t.y);
        }
        mirror(v, s.P);
        next = s;
    }
    return replaced;
}

void stage_qp_resolve(const struct plan *v, double *memory)
{
    struct work t = stage_qp_work(v, memory);
    struct stage s = stage_qp_at(v, memory, v->N), next = s;
    right_side(v, &s, 0, t.t);
    memcpy(s.p, t.t + v->u, (size_t)v->x * sizeof *s.p);
    for (int k = v->N - 1; k >= 0; k--, next = s) {
        s = stage_qp_at(v, memory, k);
        right_side(v, &s, next.p, t.t);
        reduce(v, &s, t.t, t.y);
        descend(v, &s, t.y);
    }
}

/* The step of a stage from the change x of its state: of its controls by U y = -(down + V x); down: null for zero. */
static void step_stage(const struct plan *v, const struct stage *s, const double *x, const double *down, int first,
                       double *y)
{
    int rank = s->count[RANK], f = v->nu - rank, fp = padded(f);
    memset(y, 0, (size_t)fp * sizeof *y);
    memcpy(y + fp, x, (size_t)v->x * sizeof *x);
    for (int i = f - 1; i >= 0; i--) {
        const double *row = s->U + (long)i * v->width;
        int begin = i / BLOCK * BLOCK;
        y[i] = -((down ? down[i] : 0) + dot(fp + v->x - begin, row + begin, y + begin)) / row[i];
    }
    for (int j = 0; j < f; j++) s->step[s->order[rank + j]] = y[j];
    for (int i = 0; i < rank; i++)
        s->step[s->order[i]] = dot(fp + v->x, s->G + (long)i * v->width, y) + (first ? s->offset[i] : 0);
}

static void forward(const struct plan *v, double *memory, int begin, int first, int answers, double *x, double *y)
{
    for (int k = begin; k <= v->N; k++) {
        struct stage s = stage_qp_at(v, memory, k);
        memset(s.step, 0, (size_t)v->width * sizeof *s.step);
        memcpy(s.step + v->u, x, (size_t)v->x * sizeof *x);
        if (k < v->N) {
            step_stage(v, &s, x, answers ? 0 : s.down, first, y);
            advance(v, &s, s.step, first ? s.b : 0, x);
        }
        if (answers) {
            add_scaled(v->width, 1, s.step, s.z);
            continue;
        }
        stage_qp_rows(v, &s, s.step, s.move);
        memcpy(s.move + v->m, s.step, (size_t)v->width * sizeof *x);
    }
}

void stage_qp_forward(const struct plan *v, double *memory, int first, const double *x0)
{
    struct work t = stage_qp_work(v, memory);
    memset(t.t, 0, (size_t)v->x * sizeof *t.t);
    if (first) memcpy(t.t, x0, (size_t)v->nx * sizeof *t.t);
    forward(v, memory, 0, first, 0, t.t, t.y);
}

void stage_qp_answer(const struct plan *v, double *memory, const double *dx)
{
    struct work t = stage_qp_work(v, memory);
    memcpy(t.t, dx, (size_t)v->x * sizeof *t.t);
    forward(v, memory, 1, 0, 1, t.t, t.y);
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
        for (int c = 0; c < v.nx; c++) free[c] /= -row[i];
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
