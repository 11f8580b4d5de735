/* Least squares of markers on a tree of bodies, and damped Newton steps, frame by frame;
   see recordings/fitting/newton_steps.py.

   The markers under every body make it a body of a mechanism: its mass is the sum of their weights. Composite sums of
   subtrees then give the gradient, the Gauss-Newton matrix, which is the mass matrix of that mechanism, and the terms
   that bend it to the matrix of Newton. Matrices of a frame hold the lower triangle, (nv, nv) row by row, and are zero
   where neither dof carries the other; they are factored as L' L, which keeps these zeros. */
#include <math.h>
#include <string.h>

typedef long long integer;
#define API __attribute__((visibility("default")))

enum { MASS, FIRST, SECOND = 4, FORCE = 10, OUTER = 13, SUMS = 22 };
/* Sums over the markers under a body: w, w P, w P P' (xx yy zz xy xz yz), f = w e, P f' row by row. */

struct tree {
    integer nb, nv, markers, rows;         /* bodies without the ground, dofs, markers, constraint rows */
    const int *parent, *dof_body, *before; /* of bodies; of dofs: their bodies, and the dof that carries them, or -1 */
    const int *bodies;                     /* of markers */
    const double *points;                  /* of markers in their bodies (markers, 3) */
};

struct frame {
    const double *poses, *y, *weights;             /* of one frame; see newton_steps.py */
    const double *slope, *stiffness, *phi, *G;     /* of measured coordinates, and constraint rows */
    const unsigned char *fixed, *low, *high;       /* dofs that are fixed, at their lower, at their upper limit */
};

static void cross(const double *a, const double *b, double *x)
{
    x[0] = a[1] * b[2] - a[2] * b[1];
    x[1] = a[2] * b[0] - a[0] * b[2];
    x[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The sums of all subtrees; half the weighted sum of squares. */
static double add_markers(const struct tree *t, const struct frame *f, double *sums)
{
    double cost = 0;
    memset(sums, 0, (t->nb + 1) * SUMS * sizeof *sums);
    for (integer k = 0; k < t->markers; k++) {
        double w = f->weights[k];
        if (w <= 0) continue;
        integer b = t->bodies[k];
        const double *r = t->points + 3 * k, *y = f->y + 3 * k;
        double P[3] = {r[0], r[1], r[2]}, *s = sums + SUMS * b;
        if (b) {
            const double *X = f->poses + 12 * (b - 1);
            for (int i = 0; i < 3; i++) P[i] = X[9 + i] + dot(X + 3 * i, r);
        }
        double e[3] = {P[0] - y[0], P[1] - y[1], P[2] - y[2]};
        cost += 0.5 * w * dot(e, e);
        s[MASS] += w;
        for (int i = 0; i < 3; i++) {
            double h = w * P[i], force = w * e[i];
            s[FIRST + i] += h;
            s[SECOND + i] += h * P[i];
            s[FORCE + i] += force;
            for (int j = 0; j < 3; j++) s[OUTER + 3 * j + i] += P[j] * force;
        }
        s[SECOND + 3] += w * P[0] * P[1];
        s[SECOND + 4] += w * P[0] * P[2];
        s[SECOND + 5] += w * P[1] * P[2];
    }
    for (integer b = t->nb; b > 0; b--)
        for (int i = 0; i < SUMS; i++) sums[SUMS * t->parent[b] + i] += sums[SUMS * b + i];
    return cost;
}

/* Twists [w; s] of all dofs at the world's origin (nv, 6). */
static void set_twists(const struct tree *t, const double *poses, double *twists)
{
    const double *w = poses + 15 * t->nb, *v = w + 3 * t->nv;
    for (integer d = 0; d < t->nv; d++, w += 3, v += 3) {
        double lever[3], *out = twists + 6 * d;
        cross(w, poses + 12 * (t->dof_body[d] - 1) + 9, lever);
        for (int i = 0; i < 3; i++) {
            out[i] = w[i];
            out[3 + i] = v[i] - lever[i];
        }
    }
}

/* Gradient (nv), Gauss-Newton matrix H and what Newton's matrix has beyond it, B (nv, nv). */
static void set_matrices(const struct tree *t, const double *sums, const double *twists, double *g, double *H,
                         double *B)
{
    integer nv = t->nv;
    for (integer j = 0; j < nv; j++) {
        const double *a = sums + SUMS * t->dof_body[j], *w = twists + 6 * j, *s = w + 3;
        const double *h = a + FIRST, *Q = a + SECOND, *F = a + FORCE, *O = a + OUTER;
        double momentum[3], moment[3], bend[3], x[3], trace = Q[0] + Q[1] + Q[2];
        cross(w, h, momentum);
        for (int i = 0; i < 3; i++) momentum[i] += a[MASS] * s[i];
        cross(h, s, moment);
        moment[0] += trace * w[0] - (Q[0] * w[0] + Q[3] * w[1] + Q[4] * w[2]);
        moment[1] += trace * w[1] - (Q[3] * w[0] + Q[1] * w[1] + Q[5] * w[2]);
        moment[2] += trace * w[2] - (Q[4] * w[0] + Q[5] * w[1] + Q[2] * w[2]);
        cross(s, F, bend); /* the sum of v x f over the markers, with v = s + w x P */
        trace = O[0] + O[4] + O[8];
        for (int i = 0; i < 3; i++) bend[i] += dot(O + 3 * i, w) - w[i] * trace;
        x[0] = O[5] - O[7], x[1] = O[6] - O[2], x[2] = O[1] - O[3]; /* the sum of P x f */
        g[j] = dot(w, x) + dot(s, F);
        for (integer i = j; i >= 0; i = t->before[i]) {
            const double *u = twists + 6 * i;
            H[nv * j + i] = dot(u, moment) + dot(u + 3, momentum);
            B[nv * j + i] = dot(u, bend);
        }
    }
}

/* A = L' L in place, along the tree; 0 if a pivot is not positive. */
static int factored(const struct tree *t, double *A)
{
    integer nv = t->nv;
    for (integer k = nv - 1; k >= 0; k--) {
        double *row = A + nv * k;
        if (!(row[k] > 0)) return 0;
        row[k] = sqrt(row[k]);
        for (integer i = t->before[k]; i >= 0; i = t->before[i]) row[i] /= row[k];
        for (integer i = t->before[k]; i >= 0; i = t->before[i])
            for (integer j = i; j >= 0; j = t->before[j]) A[nv * i + j] -= row[i] * row[j];
    }
    return 1;
}

static void solve(const struct tree *t, const double *L, double *x) /* x = (L' L)^-1 x */
{
    integer nv = t->nv;
    for (integer k = nv - 1; k >= 0; k--) {
        x[k] /= L[nv * k + k];
        for (integer i = t->before[k]; i >= 0; i = t->before[i]) x[i] -= L[nv * k + i] * x[k];
    }
    for (integer k = 0; k < nv; k++) {
        for (integer i = t->before[k]; i >= 0; i = t->before[i]) x[k] -= L[nv * k + i] * x[i];
        x[k] /= L[nv * k + k];
    }
}

/* v = -A^-1 (g + J' l), with l of J v = -phi; Y (rows, nv) and S (rows, rows) are work space. 0 if S is not definite. */
static int constrained(const struct tree *t, const struct frame *f, const double *L, const unsigned char *held,
                       double scale, double *Y, double *S, double *l, double *v)
{
    integer nv = t->nv, c = t->rows;
    for (integer r = 0; r < c; r++) {
        double *y = Y + nv * r;
        for (integer i = 0; i < nv; i++) y[i] = held[i] ? 0.0 : f->G[nv * r + i];
        solve(t, L, y);
    }
    for (integer r = 0; r < c; r++) {
        const double *J = f->G + nv * r;
        double size = 0, off = f->phi[r];
        for (integer i = 0; i < nv; i++)
            if (!held[i]) size += J[i] * J[i], off += J[i] * v[i];
        for (integer s = 0; s <= r; s++) {
            double sum = 0;
            for (integer i = 0; i < nv; i++)
                if (!held[i]) sum += J[i] * Y[nv * s + i];
            S[c * r + s] = sum;
        }
        S[c * r + r] += size > 0 ? 1e-12 * size / fmax(scale, 1e-300) : 1.0;
        l[r] = size > 0 ? off : 0.0;
    }
    for (integer r = 0; r < c; r++) { /* S = C C' in place, then l = S^-1 l */
        for (integer s = 0; s <= r; s++) {
            double sum = S[c * r + s];
            for (integer k = 0; k < s; k++) sum -= S[c * r + k] * S[c * s + k];
            if (s == r && !(sum > 0)) return 0;
            S[c * r + s] = s == r ? sqrt(sum) : sum / S[c * s + s];
        }
        for (integer k = 0; k < r; k++) l[r] -= S[c * r + k] * l[k];
        l[r] /= S[c * r + r];
    }
    for (integer r = c - 1; r >= 0; r--) {
        for (integer k = r + 1; k < c; k++) l[r] -= S[c * k + r] * l[k];
        l[r] /= S[c * r + r];
        for (integer i = 0; i < nv; i++) v[i] -= Y[nv * r + i] * l[r];
    }
    return 1;
}

/* The step with some dofs held: by Newton's matrix where it is definite, else by that of Gauss and Newton. */
static int held_step(const struct tree *t, const struct frame *f, const double *g, const double *H, const double *B,
                     double mu, double scale, const unsigned char *held, double *A, double *Y, double *S, double *l,
                     double *v)
{
    integer nv = t->nv;
    for (int newton = 1; newton >= 0; newton--) {
        for (integer i = 0; i < nv; i++) {
            double own = H[nv * i + i], *a = A + nv * i;
            int idle = own <= 1e-12 * scale; /* no marker moves it: it stays, or follows its constraint */
            for (integer j = i; j >= 0; j = t->before[j])
                a[j] = held[i] || held[j] ? 0.0 : H[nv * i + j] + newton * B[nv * i + j];
            a[i] = held[i] ? fmax(scale, 1e-300)
                 : idle    ? 1e-8 * scale + 1e-300
                           : a[i] + mu * own + 1e-12 * scale;
        }
        if (!factored(t, A)) continue;
        for (integer i = 0; i < nv; i++) v[i] = held[i] ? 0.0 : -g[i];
        solve(t, A, v);
        if (!t->rows || constrained(t, f, A, held, scale, Y, S, l, v)) return 1;
    }
    return 0;
}

/* The step of one frame. Dofs are held at a limit that it would pass: without constraints those which the gradient
   drives there, and always those which the step does. */
static int step(const struct tree *t, const struct frame *f, const double *g, const double *H, const double *B,
                double mu, unsigned char *held, double *A, double *Y, double *S, double *l, double *v)
{
    integer nv = t->nv, more = 1;
    double scale = 0;
    for (integer i = 0; i < nv; i++) {
        scale = fmax(scale, H[nv * i + i]);
        held[i] = f->fixed[i] || (!t->rows && ((f->low[i] && g[i] > 0) || (f->high[i] && g[i] < 0)));
    }
    while (more) {
        if (!held_step(t, f, g, H, B, mu, scale, held, A, Y, S, l, v)) return 0;
        more = 0;
        for (integer i = 0; i < nv; i++)
            if (!held[i] && ((f->low[i] && v[i] < 0) || (f->high[i] && v[i] > 0))) held[i] = 1, more = 1;
    }
    return 1;
}

/* Costs (frames) and steps (frames, nv) at poses of bodies. slope, stiffness (frames, nv): of measured coordinates, or
   null. mu (frames): damping. space: 2 nv + rows (nv + rows + 1) + 22 (nb + 1) + 6 nv + 3 nv^2 numbers. found (frames):
   whether there is a step. */
API void fitting_steps(integer frames, const struct tree *t, const double *poses, const double *y,
                       const double *weights, const double *slope, const double *stiffness, const double *phi,
                       const double *G, const unsigned char *fixed, const unsigned char *low,
                       const unsigned char *high, const double *mu, double *space, double *cost, double *v,
                       unsigned char *found)
{
    integer nv = t->nv, c = t->rows;
    double *g = space, *l = g + nv, *S = l + c, *Y = S + c * c, *sums = Y + c * nv;
    double *twists = sums + SUMS * (t->nb + 1), *H = twists + 6 * nv, *B = H + nv * nv, *A = B + nv * nv;
    unsigned char *held = (unsigned char *)(A + nv * nv);
    for (integer n = 0; n < frames; n++) {
        struct frame f = {poses + n * (15 * t->nb + 6 * nv), y + 3 * n * t->markers, weights + n * t->markers,
                          slope, stiffness, phi + n * c, G + n * c * nv, fixed, low + n * nv, high + n * nv};
        cost[n] = add_markers(t, &f, sums);
        set_twists(t, f.poses, twists);
        set_matrices(t, sums, twists, g, H, B);
        if (slope)
            for (integer i = 0; i < nv; i++) {
                g[i] += slope[n * nv + i];
                H[nv * i + i] += stiffness[n * nv + i];
            }
        found[n] = (unsigned char)step(t, &f, g, H, B, mu[n], held, A, Y, S, l, v + n * nv);
        if (!found[n]) memset(v + n * nv, 0, nv * sizeof *v);
    }
}

/* Gradients (frames, nv) and matrices (frames, nv, nv) H and B, for tests. */
API void fitting_matrices(integer frames, const struct tree *t, const double *poses, const double *y,
                          const double *weights, double *space, double *cost, double *g, double *H, double *B)
{
    integer nv = t->nv;
    double *sums = space, *twists = sums + SUMS * (t->nb + 1);
    for (integer n = 0; n < frames; n++) {
        struct frame f = {.poses = poses + n * (15 * t->nb + 6 * nv), .y = y + 3 * n * t->markers,
                          .weights = weights + n * t->markers};
        cost[n] = add_markers(t, &f, sums);
        set_twists(t, f.poses, twists);
        set_matrices(t, sums, twists, g + n * nv, H + n * nv * nv, B + n * nv * nv);
    }
}
