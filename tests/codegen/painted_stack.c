/* Measures the stack memory that a function of a library changes: painted_stack LIBRARY FUNCTION BATCH SIZE...
 *
 * The function runs in a thread of its own, on a stack that is filled with one byte just before the call and is read
 * just after it: how threads begin and end takes stack too, up to 2 KB by the version of the C library. BATCH: 1 for
 * functions of many states, 0 for one state. SIZE: numbers of all arguments, in order. Prints the bytes between the
 * caller and the deepest changed byte.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SIZE = 8 << 20, MOST = 24, STATES = 5, PAINT = 0xA5, FRAME = 128 };

typedef int (*One)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
typedef int (*Many)(long long, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);

static One one;
static Many many;
static void *a[MOST];
static char *stack, *caller;
static volatile char *deepest; /* volatile: loops over it call no memset */

static __attribute__((noinline)) void call(void)
{
    caller = (char *)__builtin_frame_address(0);
    if (many)
        many(STATES, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]);
    else
        one(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
}

static void *run(void *nothing)
{
    char *frame = (char *)__builtin_frame_address(0) - FRAME; /* of this function, at most */
    for (deepest = stack; deepest < frame; ++deepest) *deepest = (char)PAINT;
    call();
    for (deepest = stack; deepest < frame && *deepest == (char)PAINT; ++deepest) {
    }
    return nothing;
}

int main(int count, char **words)
{
    pthread_attr_t attributes;
    pthread_t thread;
    long k, j;
    void *library = dlopen(words[1], RTLD_NOW);
    void *found = library ? dlsym(library, words[2]) : 0;
    if (!found) {
        puts(dlerror());
        return 1;
    }
    if (atoi(words[3])) *(void **)&many = found;
    else *(void **)&one = found;
    for (k = 4; k < count; ++k) {
        double *numbers = calloc(STATES * (size_t)atol(words[k]) + 8, sizeof(double));
        for (j = 0; j < STATES * atol(words[k]); ++j) numbers[j] = (j % 7 + 1) * (j % 5 ? 0.1 : 1e6);
        a[k - 4] = numbers;
    }
    stack = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, SIZE);
    if (pthread_create(&thread, &attributes, run, 0) || pthread_join(thread, 0)) return 1;
    printf("%ld\n", (long)(caller - deepest));
    return 0;
}
