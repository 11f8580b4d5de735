/* Products of matrices: the innermost loops of the recursion. */
#include "lanes.h"

/* Y += sum_k a_k' x_k for one tile, or Y = if it is fresh; list: where the ROWS numbers a_k begin,
   and where x_k begins. */
INLINE void tile(int wide, int inner, const struct pair *list, const double *panel, const double *X, double *Y, int ldy,
                 int rows, int fresh)
{
    lane sum[ROWS][WIDE];
    UNROLL for (int r = 0; r < ROWS; r++)
        UNROLL for (int t = 0; t < wide; t++) {
            if (fresh || r >= rows) sum[r][t] = (lane){0};
            else sum[r][t] = load(Y + r * ldy + t * LANES);
        }
    for (int k = 0; k < inner; k++) {
        const double *a = panel + list[k].panel, *x = X + list[k].right;
        lane here[WIDE];
        UNROLL for (int t = 0; t < wide; t++) here[t] = load(x + t * LANES);
        UNROLL for (int r = 0; r < ROWS; r++)
            UNROLL for (int t = 0; t < wide; t++) sum[r][t] += a[r] * here[t];
    }
    UNROLL for (int r = 0; r < ROWS; r++) {
        if (r >= rows) continue;
        UNROLL for (int t = 0; t < wide; t++) store(Y + r * ldy + t * LANES, sum[r][t]);
    }
}

static void tile_of(int wide, int inner, const struct pair *list, const double *panel, const double *X, double *Y,
                    int ldy, int rows, int fresh)
{
    if (wide == 1) tile(1, inner, list, panel, X, Y, ldy, rows, fresh);
    if (wide == 2) tile(2, inner, list, panel, X, Y, ldy, rows, fresh);
    if (wide >= 3) tile(WIDE, inner, list, panel, X, Y, ldy, rows, fresh);
}

/* Bits of the blocks that `count` vectors from column j on touch. */
INLINE mask blocks(int j, int count)
{
    int first = j / BLOCK, last = (j + count * LANES - 1) / BLOCK;
    mask bits = 0;
    for (int b = first; b <= last; b++) bits |= 1ULL << b;
    return bits;
}

/* The rows that touch the block of column i, with this part of them, times their weights; returns their number. */
static int packed(const double *base, const struct product *p, int i, double *panel, struct pair *pairs, mask *masks)
{
    mask own = 1ULL << i / BLOCK;
    int many = 0;
    for (int k = 0; k < p->inner; k++) {
        const double *a = base + p->left[k] + i;
        double weight = p->weight[k], *to = panel + many * BLOCK;
        if (weight == 0 || (p->mask && !(p->mask[k] & own))) continue;
        UNROLL for (int r = 0; r < BLOCK; r += LANES) store(to + r, weight * load(a + r));
        if (p->mask) masks[many] = p->mask[k];
        pairs[many].panel = many * BLOCK;
        pairs[many++].right = p->right[k];
    }
    return many;
}

void stage_qp_product(const double *base, const struct product *p, int rows, int columns, int upper, double *Y,
                      int ldy, const struct product_work *work)
{
    struct pair *all = work->list, *some = all + p->inner;
    int left;
    for (int i = 0; i < rows; i += BLOCK) {
        int many = packed(base, p, i, work->panel, all, work->masks), last = rows - i < BLOCK ? rows - i : BLOCK;
        for (int j = upper ? i : 0; (left = (columns - j) / LANES) > 0;) {
            int wide = left > 4 || left == WIDE ? WIDE : left > 2 ? 2 : left, n = many;
            const struct pair *pairs = all;
            if (p->mask) {
                mask needed = blocks(j, wide);
                pairs = some;
                n = 0;
                for (int q = 0; q < many; q++) {
                    some[n] = all[q];
                    n += (work->masks[q] & needed) != 0;
                }
            }
            for (int r = 0; r < last; r += ROWS)
                tile_of(wide, n, pairs, work->panel + r, base + j, Y + (long)(i + r) * ldy + j, ldy, last - r,
                        p->fresh);
            j += wide * LANES;
        }
    }
}
