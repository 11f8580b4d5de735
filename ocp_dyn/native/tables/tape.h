/* What the making of tapes (tape.c) and their evaluation (run.c) share: the operations, and the form of a tape. */

#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* the order of OPERATIONS in tape.py; after them those that only this library makes */
enum {
    INPUT, CONSTANT, OUTPUT, SAME,
    ADD, SUB, MUL, DIV, NEG, SQ, TWICE, INV,
    LT, LE, EQ, NE, NOT, AND, OR, IF_ELSE_ZERO, FABS, SIGN, FMIN, FMAX,
    SQRT, SIN, COS, TAN, ASIN, ACOS, ATAN, EXP, LOG, SINH, COSH, TANH, ASINH, ACOSH, ATANH, FLOOR, CEIL, ERF, LOG1P, EXPM1,
    POW, FMOD, REMAINDER, COPYSIGN, ATAN2, HYPOT,
    FMA, FMS, FNMA, /* a b + c, a b - c, c - a b */
    KINDS
};

/* Steps that follow another one in a chain and have its result r as an operand; the first step is an operation. */
enum {
    PLUS = KINDS, MINUS, TIMES, KEPT_IF,                     /* r + a, r - a, r a, r where a is not zero */
    PLUS_PRODUCT, MINUS_PRODUCT, FROM_PRODUCT, STEPS /* r + a b, r - a b, a b - r */
};

/* Chains of several steps that have a loop of their own: the chain without its last step, and this step. */
#define CHAINS(CHAIN)                                                                                                  \
    CHAIN(M_P, MUL, PLUS_PRODUCT)                                                                                      \
    CHAIN(M_N, MUL, MINUS_PRODUCT)                                                                                     \
    CHAIN(F_P, FMA, PLUS_PRODUCT)                                                                                      \
    CHAIN(F_N, FMA, MINUS_PRODUCT)                                                                                     \
    CHAIN(N_P, FNMA, PLUS_PRODUCT)                                                                                     \
    CHAIN(N_N, FNMA, MINUS_PRODUCT)                                                                                    \
    CHAIN(F_PLUS, FMA, PLUS)                                                                                           \
    CHAIN(F_TIMES, FMA, TIMES)                                                                                         \
    CHAIN(ADD_P, ADD, PLUS_PRODUCT)                                                                                    \
    CHAIN(ADD_PLUS, ADD, PLUS)                                                                                         \
    CHAIN(ADD_TIMES, ADD, TIMES)                                                                                       \
    CHAIN(M_P_P, M_P, PLUS_PRODUCT)                                                                                    \
    CHAIN(M_P_N, M_P, MINUS_PRODUCT)                                                                                   \
    CHAIN(M_P_FROM, M_P, FROM_PRODUCT)                                                                                 \
    CHAIN(M_P_PLUS, M_P, PLUS)                                                                                         \
    CHAIN(M_P_MINUS, M_P, MINUS)                                                                                       \
    CHAIN(M_P_TIMES, M_P, TIMES)                                                                                       \
    CHAIN(M_P_IF, M_P, KEPT_IF)                                                                                        \
    CHAIN(M_N_P, M_N, PLUS_PRODUCT)                                                                                    \
    CHAIN(M_N_N, M_N, MINUS_PRODUCT)                                                                                   \
    CHAIN(M_N_PLUS, M_N, PLUS)                                                                                         \
    CHAIN(F_P_P, F_P, PLUS_PRODUCT)                                                                                    \
    CHAIN(F_P_PLUS, F_P, PLUS)                                                                                         \
    CHAIN(M_P_P_P, M_P_P, PLUS_PRODUCT)

#define NAMED(name, before, step) name,
enum { BEFORE_CHAINS = STEPS - 1, CHAINS(NAMED) LOOPS };

/* A tape is one block of memory, which can be kept in a file: this head, then its arrays. */
enum { MAGIC = 0x7a9e02 };
typedef struct {
    int64_t magic, bytes;
    int64_t inputs, constants, places; /* numbers in the work array: constants, inputs, all */
    int64_t entries;                   /* entries of all outputs together */
    int64_t operations, runs;
    int64_t wide;                                      /* 1: indices of 32 bits, else of 16 */
    int64_t constant_at, entry_at, run_at, table_at; /* offsets of the arrays, in bytes */
} Head;

/* Chains of the same steps, one after the other; loop: the operation of chains of one step, or a name of CHAINS. */
typedef struct { int32_t loop, count; } Run;

/* Number of operands of an operation. */
static inline int operands(int op)
{
    if (op >= FMA) return 3;
    if (op >= POW) return 2;
    if (op >= SQRT || op == NEG || op == NOT || op == FABS || op == SIGN) return 1;
    return 2;
}
