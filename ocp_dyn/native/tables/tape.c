/* Tapes: the operations of a function as tables, made once and evaluated for many states (run.c).

   A tape needs no compiler of its own: this library is compiled once for a machine. Operations of one kind stand next to
   each other as a run, so a kind is dispatched once per run; the tables are read in order, which the memory of the machine
   does well, while straight-line code of this size waits for its instructions.

   What bounds the evaluation is the traffic between the processor and its caches. Sums of a product become fused
   multiply-adds, and values that are used once, by the next operation, stay in a register: two to four such operations
   are a chain, which has a loop of its own, reads its operands once and stores its last result. */

#include <stdlib.h>
#include <string.h>

#include "tape.h"

enum { MOST_OPERANDS = 16 }; /* of a chain */

typedef struct { int32_t op, a, b, c; } Value;

typedef struct {
    int values, leaves, size; /* leaves: constants and inputs come first */
    Value *value;
    int *table; /* hash table of values, -1: free */
    int mask;
} Graph;

static unsigned hash(Value v)
{
    uint64_t h = (uint64_t)(uint32_t)v.a * 0x9e3779b97f4a7c15u ^ (uint64_t)(uint32_t)v.b * 0xc2b2ae3d27d4eb4fu;
    h = (h ^ (uint64_t)v.op * 0x165667b19e3779f9u) * 0xff51afd7ed558ccdu;
    return (unsigned)(h >> 32);
}

/* The number of a value; equal values are computed once. */
static int number(Graph *g, int op, int a, int b)
{
    Value v = {op, a, b, -1};
    unsigned k;
    if (op == SQ) v.op = MUL, v.b = a;
    if (op == TWICE) v.op = ADD, v.b = a;
    if (operands(v.op) == 1) v.b = -1;
    if ((v.op == ADD || v.op == MUL || v.op == EQ || v.op == NE) && v.b < v.a) { int s = v.a; v.a = v.b; v.b = s; }
    for (k = hash(v) & (unsigned)g->mask; g->table[k] >= 0; k = (k + 1) & (unsigned)g->mask) {
        const Value *w = &g->value[g->table[k]];
        if (w->op == v.op && w->a == v.a && w->b == v.b) return g->leaves + g->table[k];
    }
    g->table[k] = g->values;
    g->value[g->values] = v;
    return g->leaves + g->values++;
}

/* Values in static single assignment, from instructions that use work variables again. */
static void read_code(Graph *g, long long n, const int32_t *code, int constants, int one, int *slot, int *entry)
{
    long long k;
    for (k = 0; k < n; ++k) {
        const int32_t *c = code + 4 * k; /* operation, result, operands */
        switch (c[0]) {
        case CONSTANT: slot[c[1]] = c[2]; break;
        case INPUT: slot[c[1]] = constants + c[2]; break;
        case OUTPUT: entry[c[1]] = slot[c[2]]; break;
        case SAME: slot[c[1]] = slot[c[2]]; break;
        case INV: slot[c[1]] = number(g, DIV, one, slot[c[2]]); break;
        default: slot[c[1]] = number(g, c[0], slot[c[2]], operands(c[0]) > 1 ? slot[c[3]] : -1);
        }
    }
}

/* Marks the values that outputs need, and merges products that are used once with their sum. */
static void simplify(Graph *g, int entries, const int *entry, char *live, int *uses)
{
    int k, j, first = g->leaves;
    for (j = 0; j < entries; ++j)
        if (entry[j] >= first) live[entry[j] - first] = 1, uses[entry[j] - first] = 2; /* an output is stored */
    for (k = g->values - 1; k >= 0; --k) {
        const Value *v = &g->value[k];
        if (!live[k]) continue;
        if (v->a >= first) live[v->a - first] = 1, uses[v->a - first]++;
        if (v->b >= first) live[v->b - first] = 1, uses[v->b - first]++;
    }
    for (k = 0; k < g->values; ++k) {
        Value *v = &g->value[k];
        int p = v->a - first, q = v->b - first;
        if (!live[k] || (v->op != ADD && v->op != SUB) || v->a == v->b) continue;
        if (q >= 0 && g->value[q].op == MUL && uses[q] == 1) {
            Value fused = {v->op == ADD ? FMA : FNMA, g->value[q].a, g->value[q].b, v->a};
            *v = fused, live[q] = 0;
        } else if (p >= 0 && g->value[p].op == MUL && uses[p] == 1) {
            Value fused = {v->op == ADD ? FMA : FMS, g->value[p].a, g->value[p].b, v->b};
            *v = fused, live[p] = 0;
        }
    }
}

/* Values that are computed one after the other by chains: every value but the last of a chain is used once, by the next.

   before: the value that the chain computes before this one, or -1; at: the operand that it is; inner: 1 if another value
   follows; loop: the loop for the chain up to this value. */
typedef struct {
    int *before, *loop;
    char *at, *inner;
} Chains;

/* The step that continues a chain whose last result is operand `at` of this operation; -1 if there is none. */
static int continued(int op, int at)
{
    switch (op) {
    case ADD: return PLUS;
    case SUB: return at ? -1 : MINUS;
    case MUL: return TIMES;
    case IF_ELSE_ZERO: return at ? KEPT_IF : -1;
    case FMA: return at == 2 ? PLUS_PRODUCT : -1;
    case FMS: return at == 2 ? FROM_PRODUCT : -1;
    case FNMA: return at == 2 ? MINUS_PRODUCT : -1;
    default: return -1;
    }
}

/* The loop for chains of this loop with one step more; -1 if there is none. */
static int longer(int loop, int step)
{
#define MATCHED(name, before, last) if (loop == before && step == last) return name;
    CHAINS(MATCHED)
    return -1;
}

/* Joins values to chains. */
static void join(const Graph *g, const char *live, const int *uses, Chains *c)
{
    int k, j, first = g->leaves;
    for (k = 0; k < g->values; ++k) {
        const Value *v = &g->value[k];
        const int argument[3] = {v->a, v->b, v->c};
        c->before[k] = -1, c->loop[k] = v->op;
        for (j = 2; live[k] && j >= 0; --j) {
            const int a = argument[j] - first, step = continued(v->op, j);
            const int loop = a >= 0 && step >= 0 && uses[a] == 1 ? longer(c->loop[a], step) : -1;
            if (loop > c->loop[k]) c->before[k] = a, c->at[k] = (char)j, c->loop[k] = loop;
        }
        if (c->before[k] >= 0) c->inner[c->before[k]] = 1;
    }
}

/* The operands that a chain reads from the work array, in the order of its steps. Returns their number. */
static int operands_of(const Graph *g, const Chains *c, int last, int *read)
{
    int n = 0, k, j, i;
    for (k = last; k >= 0; k = c->before[k]) {
        const Value *v = &g->value[k];
        const int argument[3] = {v->a, v->b, v->c};
        for (j = operands(v->op) - 1; j >= 0; --j)
            if (c->before[k] < 0 || j != c->at[k]) read[n++] = argument[j];
    }
    for (i = 0, j = n - 1; i < j; ++i, --j) { const int s = read[i]; read[i] = read[j]; read[j] = s; }
    return n;
}

/* Chains of a window that wait for operands, and queues of those that are ready, one for every loop. */
typedef struct {
    int *waits, *edge, *to; /* number of operands that are missing; edge[k] .. edge[k + 1]: chains that use result k */
    int *next, head[LOOPS], tail[LOOPS], ready[LOOPS];
} Queues;

static void enqueue(Queues *q, int loop, int k)
{
    q->next[k] = -1;
    if (q->ready[loop]++) q->next[q->tail[loop]] = k;
    else q->head[loop] = k;
    q->tail[loop] = k;
}

/* Finds which chains of order[low .. high] use the result of which; home: position of every chain in `order`. */
static void connect(const Graph *g, const Chains *c, const int *order, int low, int high, int *home, Queues *q)
{
    int k, j, pass, read[MOST_OPERANDS];
    for (k = low; k < high; ++k) home[order[k]] = k;
    memset(q->edge, 0, sizeof(int) * (size_t)(high - low + 2));
    for (pass = 0; pass < 2; ++pass) { /* counts, then fills */
        for (k = low; k < high; ++k) {
            const int n = operands_of(g, c, order[k], read);
            q->waits[k - low] = 0;
            for (j = 0; j < n; ++j) {
                const int a = read[j] - g->leaves, at = a < 0 ? -1 : home[a];
                if (at < low) continue;
                q->waits[k - low]++;
                if (pass) q->to[q->edge[at - low + 1]++] = k - low;
                else q->edge[at - low + 2]++;
            }
        }
        for (k = 2; !pass && k < high - low + 2; ++k) q->edge[k] += q->edge[k - 1];
    }
}

/* Orders every window of chains so that long runs of one loop arise: it takes all that are ready for the loop that has
   most of them, and those that become ready meanwhile. Returns the number of chains. */
static int schedule(const Graph *g, const char *live, const Chains *c, int window, int *order, int *home, int *sorted,
                    Queues *q)
{
    int k, low, loop, m = 0, done = 0;
    for (k = 0; k < g->values; ++k) {
        home[k] = -1;
        if (live[k] && !c->inner[k]) order[m++] = k;
    }
    for (low = 0; low < m; low += window) {
        const int high = low + window < m ? low + window : m;
        connect(g, c, order, low, high, home, q);
        memset(q->ready, 0, sizeof q->ready);
        for (k = low; k < high; ++k)
            if (!q->waits[k - low]) enqueue(q, c->loop[order[k]], k - low);
        while (done < high) {
            int most = 0;
            for (loop = 1; loop < LOOPS; ++loop)
                if (q->ready[loop] > q->ready[most]) most = loop;
            while (q->ready[most]) {
                const int now = q->head[most];
                q->head[most] = q->next[now], q->ready[most]--;
                sorted[done++] = order[low + now];
                for (k = q->edge[now]; k < q->edge[now + 1]; ++k)
                    if (!--q->waits[q->to[k]]) enqueue(q, c->loop[order[low + q->to[k]]], q->to[k]);
            }
        }
    }
    return m;
}

/* Places of values in the work array, runs and their table of indices: the operands of a chain, then its result. */
typedef struct {
    int places, runs;
    long long table_size;
    int32_t *table;
    Run *run;
} Plan;

static void allocate(const Graph *g, const Chains *c, int m, const int *sorted, int entries, const int *entry, Plan *p,
                     int *last, int *place, int *idle)
{
    int k, j, first = g->leaves, idles = 0, read[MOST_OPERANDS];
    p->places = first;
    for (k = 0; k < g->values; ++k) last[k] = -1, place[k] = -1;
    for (k = 0; k < m; ++k) {
        const int n = operands_of(g, c, sorted[k], read);
        for (j = 0; j < n; ++j)
            if (read[j] >= first) last[read[j] - first] = k;
    }
    for (j = 0; j < entries; ++j) { /* outputs keep their places to the end */
        const int v = entry[j] - first;
        if (v >= 0 && place[v] < 0) place[v] = p->places++, last[v] = m;
    }
    for (k = 0; k < m; ++k) {
        const int v = sorted[k], n = operands_of(g, c, v, read);
        int32_t *t = p->table + p->table_size;
        if (!p->runs || p->run[p->runs - 1].loop != c->loop[v]) p->run[p->runs++].loop = c->loop[v];
        p->run[p->runs - 1].count++;
        for (j = 0; j < n; ++j) t[j] = read[j] < first ? read[j] : place[read[j] - first];
        for (j = 0; j < n; ++j) {
            const int a = read[j] - first;
            if (a >= 0 && last[a] == k) idle[idles++] = place[a], last[a] = -1;
        }
        if (place[v] < 0) place[v] = idles ? idle[--idles] : p->places++;
        t[n] = place[v];
        p->table_size += 1 + n;
    }
}

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* The finished block of memory; null if there is no memory. */
static char *written(const Graph *g, const Plan *p, const char *live, int constants, const double *constant, int entries,
                     const int *entry, const int *place)
{
    Head head = {MAGIC, 0, g->leaves - constants, constants, p->places, entries, 0, p->runs,
                 p->places > 65535, 0, 0, 0, 0};
    char *made;
    long long k;
    for (k = 0; k < g->values; ++k) head.operations += live[k];
    head.constant_at = aligned(sizeof(Head));
    head.entry_at = aligned(head.constant_at + 8 * (int64_t)constants);
    head.run_at = aligned(head.entry_at + 4 * (int64_t)entries);
    head.table_at = aligned(head.run_at + (int64_t)sizeof(Run) * p->runs);
    head.bytes = aligned(head.table_at + (head.wide ? 4 : 2) * (int64_t)p->table_size);
    if (!(made = calloc(1, (size_t)head.bytes))) return 0;
    memcpy(made, &head, sizeof head);
    memcpy(made + head.constant_at, constant, 8 * (size_t)constants);
    for (k = 0; k < entries; ++k)
        ((int32_t *)(void *)(made + head.entry_at))[k] = entry[k] < g->leaves ? entry[k] : place[entry[k] - g->leaves];
    memcpy(made + head.run_at, p->run, sizeof(Run) * (size_t)p->runs);
    if (head.wide) memcpy(made + head.table_at, p->table, 4 * (size_t)p->table_size);
    else
        for (k = 0; k < p->table_size; ++k) ((uint16_t *)(void *)(made + head.table_at))[k] = (uint16_t)p->table[k];
    return made;
}

/* The next `count` numbers of a block of memory. */
static int *part(int **at, size_t count)
{
    int *begin = *at;
    *at += count;
    return begin;
}

/* Makes a tape of n instructions (operation, result, operands), whose work variables number less than `slots`; the
   constant `one` is 1. Returns null if there is no memory. tape_free frees it. */
EXPORT char *tape_make(long long n, const int32_t *code, int slots, int inputs, int constants, const double *constant,
                       int one, int entries, int window)
{
    const size_t N = (size_t)n + 2;
    size_t cells = 16;
    Graph g = {0};
    Chains c = {0};
    Queues q = {0};
    Plan p = {0};
    int *uses, *order, *home, *sorted, *slot, *entry, *at, m;
    char *made, *memory, *live;
    while (cells < 2 * N) cells *= 2;
    memory = calloc(1, N * (sizeof(Value) + sizeof(Run) + 16 * sizeof(int) + 3)
                           + ((size_t)slots + (size_t)entries + cells) * sizeof(int));
    if (!memory) return 0;
    g.value = (Value *)(void *)memory, p.run = (Run *)(void *)(g.value + N), at = (int *)(void *)(p.run + N);
    p.table = part(&at, 4 * N), q.to = part(&at, 3 * N), q.waits = part(&at, N), q.edge = part(&at, N);
    q.next = part(&at, N), uses = part(&at, N), order = part(&at, N), home = part(&at, N), sorted = part(&at, N);
    c.before = part(&at, N), c.loop = part(&at, N);
    slot = part(&at, (size_t)slots), entry = part(&at, (size_t)entries), g.table = part(&at, cells);
    live = (char *)at, c.at = live + N, c.inner = c.at + N;
    g.leaves = inputs + constants, g.mask = (int)cells - 1;
    memset(g.table, -1, cells * sizeof(int));
    read_code(&g, n, code, constants, one, slot, entry);
    simplify(&g, entries, entry, live, uses);
    join(&g, live, uses, &c);
    m = schedule(&g, live, &c, window, order, home, sorted, &q);
    allocate(&g, &c, m, sorted, entries, entry, &p, uses, order, home);
    made = written(&g, &p, live, constants, constant, entries, entry, order);
    free(memory);
    return made;
}

EXPORT void tape_free(char *tape) { free(tape); }
