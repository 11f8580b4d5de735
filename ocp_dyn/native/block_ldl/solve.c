/* Solves with the factors: from the leaves of the tree to its roots, and back. */
#include "dense.h"
#include "worker.h"

/* Numbers in the factors from which on threads save more time than their start takes. */
static const double WORTH_THREADS = 3e5;

/* Adds to the right-hand side of a front what a child has left for its rows. */
static void add_carry(const front *c, const factors *child, const factors *g, int own, int delayed, double *v)
{
    int late = child->own - child->eliminated, shift = g->own - own;
    const double *from = child->carry + child->eliminated;
    for (int i = 0; i < late; i++) v[g->place[delayed + i]] += from[i];
    for (int i = 0; i < c->boundary; i++) v[c->up[i] < own ? g->place[c->up[i]] : c->up[i] + shift] += from[late + i];
}

static void forward(const layout *l, factors *all, int number, const double *x)
{
    const front *f = l->front + number;
    factors *g = all + number;
    double *v = g->carry;
    int delayed = f->own + (g->tiles ? g->tiles->leftover : 0);
    for (int i = 0; i < g->size; i++) v[i] = 0;
    for (int c = f->child; c >= 0; c = l->front[c].sibling) {
        add_carry(l->front + c, all + c, g, f->own, delayed, v);
        delayed += all[c].own - all[c].eliminated;
    }
    for (int i = 0; i < g->own; i++) v[i] += x[g->rows[i]];
    block_ldl_tiles_forward(f, g->tiles, x, v);
    for (int i = g->eliminated; i < g->own; i++) v[i] -= x[g->rows[i]]; /* the parent adds it again */
    dense_forward(g->size, g->eliminated, g->F, g->ld, v);
}

static void backward(const layout *l, factors *all, int number, double *x)
{
    const front *f = l->front + number;
    factors *g = all + number;
    double *v = g->carry;
    dense_diagonal(g->eliminated, g->D, v);
    for (int i = g->eliminated; i < g->size; i++) v[i] = x[g->rows[i]];
    dense_backward(g->size, g->eliminated, g->F, g->ld, v);
    for (int i = 0; i < g->eliminated; i++) x[g->rows[i]] = v[i];
    block_ldl_tiles_backward(f, g->tiles, x, v);
}

static void forward_subtree(worker *w)
{
    for (int f = 0; f < w->l->fronts; f++)
        if (w->l->front[f].thread == w->number) forward(w->l, w->s->factors, f, w->s->rhs);
}

static void backward_subtree(worker *w)
{
    for (int f = w->l->fronts - 1; f >= 0; f--)
        if (w->l->front[f].thread == w->number) backward(w->l, w->s->factors, f, w->s->rhs);
}

/* The two numbers of M^-1 (b_s, b_y), with M = [d_s link; link d_y]. */
static void solve_pair(const double *d, double s, double y, double *solved_s, double *solved_y)
{
    double determinant = d[0] * d[2] - d[1] * d[1];
    *solved_s = (d[2] * s - d[1] * y) / determinant;
    *solved_y = (d[0] * y - d[1] * s) / determinant;
}

/* x = D x, with the scales D. */
static void scale(const instance *s, double *x)
{
    for (int i = 0; i < s->n; i++) x[i] *= s->scale[i];
}

/* Solves A x = b in place with the factors of the instance. */
void block_ldl_solve(instance *s, const layout *l, double *x)
{
    double first, second;
    int worth = l->numbers > WORTH_THREADS;
    s->rhs = x;
    scale(s, x);
    for (int p = 0; p < l->pairs; p++) {
        const pair *q = l->pair + p;
        solve_pair(s->corner + 3 * (size_t)p, x[q->s], x[q->y], &first, &second);
        for (int e = q->first; e < q->first + q->count; e++) x[l->column[e]] -= s->J[e] * second;
    }
    block_ldl_in_threads(s, forward_subtree, worth);
    forward_subtree(s->workers + s->plan->subtrees);
    backward_subtree(s->workers + s->plan->subtrees);
    block_ldl_in_threads(s, backward_subtree, worth);
    for (int p = 0; p < l->pairs; p++) {
        const pair *q = l->pair + p;
        double y = x[q->y];
        for (int e = q->first; e < q->first + q->count; e++) y -= s->J[e] * x[l->column[e]];
        solve_pair(s->corner + 3 * (size_t)p, x[q->s], y, x + q->s, x + q->y);
    }
    scale(s, x);
}
