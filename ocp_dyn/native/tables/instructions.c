/* The instructions of a CasADi Function, read through its own methods, whose addresses the caller gives.

   They are const methods of a C++ class. Under the C++ ABI of Linux they are called like C functions that have the
   object as first argument, and a std::vector of integers is three pointers, which the caller frees. */

#include <stdint.h>
#include <stdlib.h>

#include "tape.h"

typedef struct { long long *begin, *end, *room; } Numbers; /* std::vector<casadi_int> */

typedef struct {
    long long (*operation)(const void *, long long);
    Numbers (*input)(const void *, long long), (*output)(const void *, long long);
    double (*constant)(const void *, long long);
} Methods;

/* Writes the first and the last of some numbers, 0 if there are none, and frees them. */
static void ends(Numbers x, int32_t *first, int32_t *last)
{
    *first = x.end > x.begin ? (int32_t)x.begin[0] : 0;
    *last = x.end > x.begin ? (int32_t)x.end[-1] : 0;
    free(x.begin);
}

/* Fills n rows (operation, result, operands) of the instructions of f; a constant fills the last two. `constant` and
   `output` are CasADi's numbers of these operations; of an output the last operand is its place. */
EXPORT void tape_instructions(const void *f, const Methods *of, long long n, int constant, int output, int32_t *row)
{
    long long k;
    for (k = 0; k < n; ++k, row += 4) {
        union { double value; int32_t half[2]; } number;
        int32_t place;
        row[0] = (int32_t)of->operation(f, k);
        ends(of->output(f, k), row + 1, &place);
        if (row[0] == constant) {
            number.value = of->constant(f, k);
            row[2] = number.half[0], row[3] = number.half[1];
            continue;
        }
        ends(of->input(f, k), row + 2, row + 3);
        if (row[0] == output) row[3] = place;
    }
}
