/* Products of matrices: the innermost loops of the recursion. */
#include "lanes.h"

/* Y = Y0 + sign sum_k a_k' x_k for one tile, or the sum alone if sign is zero; left, right: where the ROWS numbers a_k,
   and x_k, begin in A and in X. */
INLINE void tile(int wide, int inner, const whole *left, const whole *right, const double *A, const double *X,
                 const double *Y0, int ld0, double *Y, int ldy, int rows, double sign)
{
    lane sum[ROWS][WIDE];
    UNROLL for (int r = 0; r < ROWS; r++)
        UNROLL for (int t = 0; t < wide; t++) sum[r][t] = (lane){0};
    for (int k = 0; k < inner; k++) {
        const double *a = A + left[k], *x = X + right[k];
        lane here[WIDE];
        UNROLL for (int t = 0; t < wide; t++) here[t] = load(x + t * LANES);
        UNROLL for (int r = 0; r < ROWS; r++)
            UNROLL for (int t = 0; t < wide; t++) sum[r][t] += a[r] * here[t];
    }
    UNROLL for (int r = 0; r < ROWS; r++) {
        if (r >= rows) continue;
        UNROLL for (int t = 0; t < wide; t++) {
            double *y = Y + r * ldy + t * LANES;
            if (sign == 0) store(y, sum[r][t]);
            else store(y, load(Y0 + r * ld0 + t * LANES) + sign * sum[r][t]);
        }
    }
}

static void tile_of(int wide, int inner, const whole *left, const whole *right, const double *A, const double *X,
                    const double *Y0, int ld0, double *Y, int ldy, int rows, double sign)
{
    if (wide == 1) tile(1, inner, left, right, A, X, Y0, ld0, Y, ldy, rows, sign);
    if (wide == 2) tile(2, inner, left, right, A, X, Y0, ld0, Y, ldy, rows, sign);
    if (wide >= 3) tile(WIDE, inner, left, right, A, X, Y0, ld0, Y, ldy, rows, sign);
}

/* Bits of the blocks that `count` numbers from column j on touch. */
INLINE mask blocks(int j, int count)
{
    int first = j / BLOCK, last = (j + count - 1) / BLOCK;
    mask bits = 0;
    for (int b = first; b <= last; b++) bits |= 1ULL << b;
    return bits;
}

/* Those of `count` rows that are not zero in one of these blocks; returns their number. */
INLINE int chosen(int count, mask needed, const whole *left, const whole *right, const mask *masks, struct chosen *to)
{
    int many = 0;
    for (int k = 0; k < count; k++) {
        to->left[many] = left[k];
        to->right[many] = right[k];
        to->mask[many] = masks[k];
        many += (masks[k] & needed) != 0;
    }
    return many;
}

void stage_qp_product(const double *base, const struct product *p, int rows, int columns, int upper, double *Y,
                      int ldy, struct chosen *some)
{
    const double *from = p->from ? p->from : Y;
    const int ldf = p->from ? p->ldf : ldy;
    const whole *left = p->mask ? some[1].left : p->left, *right = p->mask ? some[1].right : p->right;
    int rest, own = 0, many = p->inner;
    for (int i = 0; i < rows; i += BLOCK) {
        if (p->mask) own = chosen(p->inner, blocks(i, 1), p->left, p->right, p->mask, some);
        for (int j = upper ? i : 0; (rest = (columns - j) / LANES) > 0;) {
            int wide = rest > 4 || rest == WIDE ? WIDE : rest > 2 ? 2 : rest;
            if (p->mask)
                many = chosen(own, blocks(j, wide * LANES), some->left, some->right, some->mask, some + 1);
            for (int r = i; r < rows && r < i + BLOCK; r += ROWS)
                tile_of(wide, many, left, right, base + r, base + j, from + (long)r * ldf + j, ldf,
                        Y + (long)r * ldy + j, ldy, rows - r, p->sign);
            j += wide * LANES;
        }
    }
}
