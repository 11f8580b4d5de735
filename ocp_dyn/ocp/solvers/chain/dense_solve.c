/* Solves with the factor of one front; described in dense.h. */
#include "dense.h"
#include "lanes.h"

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
