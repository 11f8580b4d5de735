/* What all steps of a factorization and of a solve use: a clock, memory that grows, and threads. */
#include "worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

double block_ldl_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

/* Makes *memory, a pointer, large enough for `count` elements; what it held is lost. Returns a `failure`. */
int block_ldl_reserve(void *memory, size_t *room, size_t count, size_t size)
{
    size_t needed = (count * size / 64 + 1) * 64;
    void **at = memory;
    if (needed <= *room) return NO_FAILURE;
    free(*at);
    needed += needed / 8 / 64 * 64;
    *at = aligned_alloc(64, needed);
    *room = *at ? needed : 0;
    return *at ? NO_FAILURE : NO_MEMORY;
}

/* The subtrees that one thread works through: first, first + stride, ... */
typedef struct {
    instance *s;
    void (*step)(worker *w);
    int first, stride;
} share;

static void *work_through(void *argument)
{
    const share *part = argument;
    for (int k = part->first; k < part->s->plan->subtrees; k += part->stride) part->step(part->s->workers + k);
    return NULL;
}

/* Runs `step` for every subtree, in several threads if that is worth it and as far as they can be had. */
void block_ldl_in_threads(instance *s, void (*step)(worker *w), int worth)
{
    enum { MOST = 64 };
    pthread_t thread[MOST];
    share part[MOST];
    int threads = s->plan->threads < s->plan->subtrees ? s->plan->threads : s->plan->subtrees, started[MOST] = {0};
    if (threads > MOST) threads = MOST;
    if (!worth) threads = 1;
    for (int k = 0; k < threads; k++) part[k] = (share){s, step, k, threads};
    for (int k = 1; k < threads; k++) started[k] = !pthread_create(thread + k, NULL, work_through, part + k);
    if (threads) work_through(part);
    for (int k = 1; k < threads; k++) {
        if (started[k]) pthread_join(thread[k], NULL);
        else work_through(part + k);
    }
}
