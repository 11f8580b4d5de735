/* Dense kernels of the factorization; described in dense.h. */
#include "dense.h"

#include <math.h>
#include <string.h>

long dense_work(long n, long m) { return 2 * (n + m) + 8; }
long dense_update_work(long m, long n, long k) { return 8 + 0 * (m + n + k); }

void dense_update(long m, long n, long k, const double *A, long lda, const double *B, long ldb, double *C, long ldc,
                  int lower, double *work)
{
    (void)work;
    for (long j = 0; j < n; j++)
        for (long p = 0; p < k; p++)
            for (long i = lower ? j : 0; i < m; i++) C[i + j * ldc] -= A[i + p * lda] * B[j + p * ldb];
}

static double at(const double *F, long ld, long i, long j) { return i >= j ? F[i + j * ld] : F[j + i * ld]; }

static void interchange(double *F, long ld, long rows, long a, long b, int *order)
{
    double t;
    if (a == b) return;
    if (a > b) { long c = a; a = b; b = c; }
    int o = order[a]; order[a] = order[b]; order[b] = o;
    for (long j = 0; j < a; j++) t = F[a + j * ld], F[a + j * ld] = F[b + j * ld], F[b + j * ld] = t;
    for (long i = a + 1; i < b; i++) t = F[i + a * ld], F[i + a * ld] = F[b + i * ld], F[b + i * ld] = t;
    for (long i = b + 1; i < rows; i++) t = F[i + a * ld], F[i + a * ld] = F[i + b * ld], F[i + b * ld] = t;
    t = F[a + a * ld], F[a + a * ld] = F[b + b * ld], F[b + b * ld] = t;
}

static long largest(const double *F, long ld, long k, long n, long c, double *value)
{
    long r = -1;
    *value = 0;
    for (long i = k; i < n; i++)
        if (i != c && fabs(at(F, ld, i, c)) > *value) *value = fabs(at(F, ld, i, c)), r = i;
    return r;
}

/* Size of the pivot at k (k, k+1): 1, 2, or 0 if neither rows nor boundary allow it. */
static int try_one(double *F, long ld, long k, long rows, double bound, double tiny)
{
    double d = F[k + k * ld];
    if (!(fabs(d) > tiny)) return 0;
    for (long i = k + 1; i < rows; i++)
        if (!(fabs(F[i + k * ld]) <= bound * fabs(d))) return 0;
    return 1;
}

static int try_two(double *F, long ld, long k, long rows, double bound, double tiny)
{
    double a = F[k + k * ld], b = F[k + 1 + k * ld], c = F[k + 1 + (k + 1) * ld];
    if (!(fabs(b) > tiny)) return 0;
    double det = (a / b) * (c / b) - 1;
    if (det == 0) return 0;
    for (long i = k + 2; i < rows; i++) {
        double x = F[i + k * ld], y = F[i + (k + 1) * ld];
        double p = ((c / b) * x - y) / (b * det), q = ((a / b) * y - x) / (b * det);
        if (!(fabs(p) <= bound && fabs(q) <= bound)) return 0;
    }
    return 1;
}

long dense_front(long n, long m, double *F, long ld, double threshold, double tiny, int *order, double *D,
                 long *negative, double *work)
{
    long rows = n + m, k = 0, q = n, last = -1;
    double bound = 1 / threshold, *x = work, *y = work + rows;
    *negative = 0;
    for (long j = 0; j < rows; j++)
        for (long i = j; i < rows; i++)
            if (!(fabs(F[i + j * ld]) < INFINITY)) return -1;
    for (long i = 0; i < n; i++) order[i] = (int)i, D[2 * i] = D[2 * i + 1] = 0;
    while (k < n) {
        if (k == q) { /* every candidate was tried: once more if that has changed anything */
            if (last == k) break;
            last = k, q = n;
        }
        double lambda, sigma;
        long p = k, r = largest(F, ld, k, n, k, &lambda), s = 1;
        if (r >= 0 && fabs(F[k + k * ld]) < 0.64 * lambda)
            for (;;) {
                long next = largest(F, ld, k, n, r, &sigma);
                if (fabs(F[r + r * ld]) >= 0.64 * sigma) { p = r; break; }
                if (sigma <= lambda) { s = 2; break; }
                p = r, r = next, lambda = sigma;
            }
        interchange(F, ld, rows, k, p, order);
        if (s == 2) interchange(F, ld, rows, k + 1, r == k ? p : r, order);
        if (!(s == 2 ? try_two(F, ld, k, rows, bound, tiny) : try_one(F, ld, k, rows, bound, tiny))) {
            q--;
            interchange(F, ld, rows, k, q, order);
            continue;
        }
        if (q < k + s) q = k + s;
        double *f = F + k * ld, *g = f + ld;
        if (s == 1) {
            double d = f[k];
            D[2 * k] = d;
            *negative += d < 0;
            for (long i = k + 1; i < rows; i++) x[i] = f[i], f[i] /= d;
            for (long j = k + 1; j < rows; j++)
                for (long i = j; i < rows; i++) F[i + j * ld] -= f[i] * x[j];
        } else {
            double a = f[k], b = f[k + 1], c = g[k + 1], det = (a / b) * (c / b) - 1;
            D[2 * k] = a, D[2 * k + 1] = b, D[2 * k + 2] = c;
            *negative += det < 0 ? 1 : a < 0 ? 2 : 0;
            f[k + 1] = 0;
            for (long i = k + 2; i < rows; i++) {
                x[i] = f[i], y[i] = g[i];
                f[i] = ((c / b) * x[i] - y[i]) / (b * det), g[i] = ((a / b) * y[i] - x[i]) / (b * det);
            }
            for (long j = k + 2; j < rows; j++)
                for (long i = j; i < rows; i++) F[i + j * ld] -= f[i] * x[j] + g[i] * y[j];
        }
        k += s;
    }
    return k;
}

void dense_forward(long rows, long e, const double *L, long ld, double *x)
{
    for (long j = 0; j < e; j++)
        for (long i = j + 1; i < rows; i++) x[i] -= L[i + j * ld] * x[j];
}

void dense_diagonal(long e, const double *D, double *x)
{
    for (long j = 0; j < e; j++)
        if (D[2 * j + 1] == 0)
            x[j] /= D[2 * j];
        else {
            double a = D[2 * j], b = D[2 * j + 1], c = D[2 * j + 2], det = (a / b) * (c / b) - 1, u = x[j], v = x[j + 1];
            x[j] = ((c / b) * u - v) / (b * det);
            x[j + 1] = ((a / b) * v - u) / (b * det);
            j++;
        }
}

void dense_backward(long rows, long e, const double *L, long ld, double *x)
{
    for (long j = e - 1; j >= 0; j--)
        for (long i = j + 1; i < rows; i++) x[j] -= L[i + j * ld] * x[i];
}
