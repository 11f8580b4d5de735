/* The loops over the chains of runs; included once for every form of a batch. Defined before: NAME, the vector T with all
   lanes of a value, and the type INDEX of the table.

   `nought` is -0.0 in all lanes: a b + nought is a b, rounded as a product is, in a form that no compiler fuses with the
   sum that follows. So chains have the results of their steps computed one by one. */

#define A(j) w[t[j]]
#define PRODUCT(i, j) A(i) * A(j)
#define FIRST PRODUCT(0, 1) + nought
#define WHERE(a, b) (T)((Bits)((a) != nought) & (Bits)(b)) /* b where a is not zero, else 0 */
#define LOOP(count, value)                                                                                             \
    for (k = 0; k < n; ++k, t += count + 1) w[t[count]] = value;                                                       \
    break

static void NAME(const Run *run, int64_t runs, const INDEX *t, T *w)
{
    const T nought = *(const volatile T *)(const volatile void *)NOUGHT;
    typedef __typeof__(nought != nought) Bits;
    int64_t r;
    for (r = 0; r < runs; ++r) {
        const int n = run[r].count, op = run[r].loop, last = operands(op);
        int k;
        switch (op) {
        case ADD: LOOP(2, A(0) + A(1));
        case SUB: LOOP(2, A(0) - A(1));
        case MUL: LOOP(2, PRODUCT(0, 1));
        case DIV: LOOP(2, A(0) / A(1));
        case NEG: LOOP(1, -A(0));
        case FMA: LOOP(3, PRODUCT(0, 1) + A(2));
        case FMS: LOOP(3, PRODUCT(0, 1) - A(2));
        case FNMA: LOOP(3, A(2) - PRODUCT(0, 1));
        case IF_ELSE_ZERO: LOOP(2, WHERE(A(0), A(1)));
        case M_P: LOOP(4, FIRST + PRODUCT(2, 3));
        case M_N: LOOP(4, FIRST - PRODUCT(2, 3));
        case F_P: LOOP(5, PRODUCT(0, 1) + A(2) + PRODUCT(3, 4));
        case F_N: LOOP(5, PRODUCT(0, 1) + A(2) - PRODUCT(3, 4));
        case N_P: LOOP(5, A(2) - PRODUCT(0, 1) + PRODUCT(3, 4));
        case N_N: LOOP(5, A(2) - PRODUCT(0, 1) - PRODUCT(3, 4));
        case F_PLUS: LOOP(4, PRODUCT(0, 1) + A(2) + A(3));
        case F_TIMES: LOOP(4, (PRODUCT(0, 1) + A(2)) * A(3));
        case ADD_P: LOOP(4, A(0) + A(1) + PRODUCT(2, 3));
        case ADD_PLUS: LOOP(3, A(0) + A(1) + A(2));
        case ADD_TIMES: LOOP(3, (A(0) + A(1)) * A(2));
        case M_P_P: LOOP(6, FIRST + PRODUCT(2, 3) + PRODUCT(4, 5));
        case M_P_N: LOOP(6, FIRST + PRODUCT(2, 3) - PRODUCT(4, 5));
        case M_P_FROM: LOOP(6, PRODUCT(4, 5) - (FIRST + PRODUCT(2, 3)));
        case M_P_PLUS: LOOP(5, FIRST + PRODUCT(2, 3) + A(4));
        case M_P_MINUS: LOOP(5, FIRST + PRODUCT(2, 3) - A(4));
        case M_P_TIMES: LOOP(5, (FIRST + PRODUCT(2, 3)) * A(4));
        case M_P_IF: LOOP(5, WHERE(A(4), FIRST + PRODUCT(2, 3)));
        case M_N_P: LOOP(6, FIRST - PRODUCT(2, 3) + PRODUCT(4, 5));
        case M_N_N: LOOP(6, FIRST - PRODUCT(2, 3) - PRODUCT(4, 5));
        case M_N_PLUS: LOOP(5, FIRST - PRODUCT(2, 3) + A(4));
        case F_P_P: LOOP(7, PRODUCT(0, 1) + A(2) + PRODUCT(3, 4) + PRODUCT(5, 6));
        case F_P_PLUS: LOOP(6, PRODUCT(0, 1) + A(2) + PRODUCT(3, 4) + A(5));
        case M_P_P_P: LOOP(8, FIRST + PRODUCT(2, 3) + PRODUCT(4, 5) + PRODUCT(6, 7));
        default:
            for (k = 0; k < n; ++k, t += last + 1)
                other(op, sizeof(T) / sizeof(double), (double *)&A(last), (const double *)&A(0), (const double *)&A(last - 1));
        }
    }
}

#undef NAME
#undef T
#undef INDEX
