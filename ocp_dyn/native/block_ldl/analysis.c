/* The memory of an analysis and of its layout, and the end of an analysis that finds no layout. */
#include "analysis.h"

#include <stdlib.h>

/* Memory of a layout, freed as a whole. */
typedef struct block {
    struct block *next;
    double aligned; /* what follows is aligned for every type used here */
} block;

void *block_ldl_take(analysis *a, size_t count, size_t size)
{
    block *b = calloc(1, sizeof(block) + (count ? count : 1) * size);
    if (!b) longjmp(a->escape, NO_MEMORY);
    b->next = a->l->blocks;
    a->l->blocks = b;
    return b + 1;
}

void block_ldl_refuse(analysis *a) { longjmp(a->escape, WRONG_STRUCTURE); }

void block_ldl_forget(layout *l)
{
    while (l && l->blocks) {
        block *b = l->blocks;
        l->blocks = b->next;
        free(b);
    }
    free(l);
}
