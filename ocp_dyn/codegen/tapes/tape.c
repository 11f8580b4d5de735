/* Tapes: the operations of a function as tables, made once and evaluated for eight states at a time.

   A tape needs no compiler of its own: this file is compiled once for a machine. Operations of one kind that do not depend
   on each other stand next to each other as a run, so a kind is dispatched once per run; the tables are read in order,
   which the memory of the machine does well, while straight-line code of this size waits for its instructions.

   All numbers of a batch lie in one work array of vectors with a state in every lane: constants, inputs, and places of
   values, which are used again after the last use of a value. Sums of a product become fused multiply-adds. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LANES 8
#define EXPORT __attribute__((visibility("default")))
typedef double V __attribute__((vector_size(LANES * sizeof(double))));

/* the order of OPERATIONS in tape.py; after them those that only this file makes */
enum {
    INPUT, CONSTANT, OUTPUT, SAME,
    ADD, SUB, MUL, DIV, NEG, SQ, TWICE, INV,
    LT, LE, EQ, NE, NOT, AND, OR, IF_ELSE_ZERO, FABS, SIGN, FMIN, FMAX,
    SQRT, SIN, COS, TAN, ASIN, ACOS, ATAN, EXP, LOG, SINH, COSH, TANH, ASINH, ACOSH, ATANH, FLOOR, CEIL, ERF, LOG1P, EXPM1,
    POW, FMOD, REMAINDER, COPYSIGN, ATAN2, HYPOT,
    FMA, FMS, FNMA, /* a b + c, a b - c, c - a b */
    KINDS
};

static int operands(int op)
{
    if (op >= FMA) return 3;
    if (op >= POW) return 2;
    if (op >= SQRT || op == NEG || op == NOT || op == FABS || op == SIGN) return 1;
    return 2;
}

/* A tape is one block of memory, which can be kept in a file: this head, then its arrays. */
enum { MAGIC = 0x7a9e01 };
typedef struct {
    int64_t magic, bytes;
    int64_t inputs, constants, places; /* numbers in the work array: constants, inputs, all */
    int64_t entries;                   /* entries of all outputs together */
    int64_t operations, runs;
    int64_t wide;                                         /* 1: indices of 32 bits, else of 16 */
    int64_t constant_at, entry_at, run_at, table_at;         /* offsets of the arrays, in bytes */
} Head;

typedef struct { int32_t op, count; } Run;

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

/* Sorts every window of values by depth within the window, then by kind. Returns the number of live values. */
static int schedule(const Graph *g, const char *live, int window, int *order, int *level, int *home, int *count, int *sorted)
{
    int k, j, s, m = 0, first = g->leaves;
    for (k = 0; k < g->values; ++k)
        if (live[k]) order[m++] = k;
    for (k = 0; k < g->values; ++k) home[k] = -1;
    for (s = 0; s * window < m; ++s) {
        int low = s * window, high = low + window < m ? low + window : m, keys, top = 0;
        for (k = low; k < high; ++k) {
            const Value *v = &g->value[order[k]];
            int deep = 0, arguments[3] = {v->a, v->b, v->c};
            for (j = 0; j < 3; ++j) {
                int a = arguments[j] - first;
                if (a >= 0 && home[a] == s && level[a] >= deep) deep = level[a] + 1;
            }
            level[order[k]] = deep, home[order[k]] = s;
            if (deep > top) top = deep;
        }
        keys = (top + 1) * KINDS;
        memset(count, 0, sizeof(int) * (size_t)(keys + 1));
        for (k = low; k < high; ++k) count[level[order[k]] * KINDS + g->value[order[k]].op + 1]++;
        for (k = 0; k < keys; ++k) count[k + 1] += count[k];
        for (k = low; k < high; ++k) sorted[low + count[level[order[k]] * KINDS + g->value[order[k]].op]++] = order[k];
    }
    return m;
}

/* Places of values in the work array, runs and their table of indices (result, operands). */
typedef struct {
    int places, runs;
    long long table_size;
    int32_t *table;
    Run *run;
} Plan;

static void allocate(const Graph *g, int m, const int *sorted, int window, int entries, const int *entry, Plan *p,
                     int *last, int *place, int *idle)
{
    int k, j, first = g->leaves, idles = 0;
    p->places = first;
    for (k = 0; k < g->values; ++k) last[k] = -1, place[k] = -1;
    for (k = 0; k < m; ++k) {
        const Value *v = &g->value[sorted[k]];
        int arguments[3] = {v->a, v->b, v->c};
        for (j = 0; j < 3; ++j)
            if (arguments[j] >= first) last[arguments[j] - first] = k;
    }
    for (j = 0; j < entries; ++j) { /* outputs keep their places to the end */
        int v = entry[j] - first;
        if (v >= 0 && place[v] < 0) place[v] = p->places++, last[v] = m;
    }
    for (k = 0; k < m; ++k) {
        int v = sorted[k], count = operands(g->value[v].op), arguments[3];
        int32_t *t = p->table + p->table_size;
        arguments[0] = g->value[v].a, arguments[1] = g->value[v].b, arguments[2] = g->value[v].c;
        if (k % window == 0 || p->run[p->runs - 1].op != g->value[v].op) {
            p->run[p->runs].op = g->value[v].op;
            p->run[p->runs++].count = 0;
        }
        p->run[p->runs - 1].count++;
        for (j = 0; j < count; ++j) t[1 + j] = arguments[j] < first ? arguments[j] : place[arguments[j] - first];
        for (j = 0; j < count; ++j) {
            int a = arguments[j] - first;
            if (a >= 0 && last[a] == k) idle[idles++] = place[a], last[a] = -1;
        }
        if (place[v] < 0) place[v] = idles ? idle[--idles] : p->places++;
        t[0] = place[v];
        p->table_size += 1 + count;
    }
}

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* The finished block of memory; null if there is no memory. */
static char *written(const Graph *g, const Plan *p, int m, int constants, const double *constant, int entries,
                     const int *entry, const int *place)
{
    Head head = {MAGIC, 0, g->leaves - constants, constants, p->places, entries, m, p->runs,
                 p->places > 65535, 0, 0, 0, 0};
    char *made;
    long long k;
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

/* Makes a tape of n instructions (operation, result, operands), whose work variables number less than `slots`; the
   constant `one` is 1. Returns null if there is no memory. tape_free frees it. */
EXPORT char *tape_make(long long n, const int32_t *code, int slots, int inputs, int constants, const double *constant,
                       int one, int entries, int window)
{
    size_t N = (size_t)n + 2, cells = 16, counts = ((size_t)window + 1) * KINDS + 1, k;
    int *part[8], *slot, *entry, *count, m;
    char *made, *memory, *live;
    Graph g = {0};
    Plan p = {0};
    while (cells < 2 * N) cells *= 2;
    memory = calloc(1, N * (sizeof(Value) + sizeof(Run) + 12 * sizeof(int) + 1)
                        + ((size_t)slots + (size_t)entries + cells + counts + 2) * sizeof(int));
    if (!memory) return 0;
    g.value = (Value *)(void *)memory, p.run = (Run *)(void *)(g.value + N), p.table = (int32_t *)(void *)(p.run + N);
    part[0] = p.table + 4 * N;
    for (k = 1; k < 8; ++k) part[k] = part[k - 1] + N;
    slot = part[7] + N, entry = slot + slots, count = entry + entries, g.table = count + counts;
    live = (char *)(g.table + cells);
    g.leaves = inputs + constants, g.mask = (int)cells - 1;
    memset(g.table, -1, cells * sizeof(int));
    read_code(&g, n, code, constants, one, slot, entry);
    simplify(&g, entries, entry, live, part[0]);
    m = schedule(&g, live, window, part[1], part[2], part[3], count, part[4]);
    allocate(&g, m, part[4], window, entries, entry, &p, part[5], part[6], part[7]);
    made = written(&g, &p, m, constants, constant, entries, entry, part[6]);
    free(memory);
    return made;
}

EXPORT void tape_free(char *tape) { free(tape); }

/* One value by an operation that is not worth a loop of its own. */
static void other(int op, V *result, const V *first, const V *second)
{
    double a[LANES], b[LANES], y[LANES];
    int l;
    memcpy(a, first, sizeof a), memcpy(b, second, sizeof b);
#define EACH(expression) for (l = 0; l < LANES; ++l) y[l] = expression; break
    switch (op) {
    case LT: EACH(a[l] < b[l] ? 1.0 : 0.0);
    case LE: EACH(a[l] <= b[l] ? 1.0 : 0.0);
    case EQ: EACH(a[l] == b[l] ? 1.0 : 0.0);
    case NE: EACH(a[l] != b[l] ? 1.0 : 0.0);
    case NOT: EACH(a[l] == 0.0 ? 1.0 : 0.0);
    case AND: EACH(a[l] != 0.0 && b[l] != 0.0 ? 1.0 : 0.0);
    case OR: EACH(a[l] != 0.0 || b[l] != 0.0 ? 1.0 : 0.0);
    case IF_ELSE_ZERO: EACH(a[l] != 0.0 ? b[l] : 0.0);
    case FABS: EACH(fabs(a[l]));
    case SIGN: EACH(a[l] > 0.0 ? 1.0 : a[l] < 0.0 ? -1.0 : a[l]);
    case FMIN: EACH(a[l] < b[l] ? a[l] : b[l] == b[l] ? b[l] : a[l]);
    case FMAX: EACH(a[l] > b[l] ? a[l] : b[l] == b[l] ? b[l] : a[l]);
    case SQRT: EACH(sqrt(a[l]));
    case SIN: EACH(sin(a[l]));
    case COS: EACH(cos(a[l]));
    case TAN: EACH(tan(a[l]));
    case ASIN: EACH(asin(a[l]));
    case ACOS: EACH(acos(a[l]));
    case ATAN: EACH(atan(a[l]));
    case EXP: EACH(exp(a[l]));
    case LOG: EACH(log(a[l]));
    case SINH: EACH(sinh(a[l]));
    case COSH: EACH(cosh(a[l]));
    case TANH: EACH(tanh(a[l]));
    case ASINH: EACH(asinh(a[l]));
    case ACOSH: EACH(acosh(a[l]));
    case ATANH: EACH(atanh(a[l]));
    case FLOOR: EACH(floor(a[l]));
    case CEIL: EACH(ceil(a[l]));
    case ERF: EACH(erf(a[l]));
    case LOG1P: EACH(log1p(a[l]));
    case EXPM1: EACH(expm1(a[l]));
    case POW: EACH(pow(a[l], b[l]));
    case FMOD: EACH(fmod(a[l], b[l]));
    case REMAINDER: EACH(remainder(a[l], b[l]));
    case COPYSIGN: EACH(copysign(a[l], b[l]));
    case ATAN2: EACH(atan2(a[l], b[l]));
    default: EACH(hypot(a[l], b[l]));
    }
    memcpy(result, y, sizeof y);
}

#define RUNS(name, INDEX)                                                                                              \
    static const INDEX *name(const Run *run, int runs, const INDEX *t, V *w)                                           \
    {                                                                                                                  \
        int r, k;                                                                                                      \
        for (r = 0; r < runs; ++r) {                                                                                   \
            const int n = run[r].count, op = run[r].op, last = operands(op);                                           \
            switch (op) {                                                                                              \
            case ADD: for (k = 0; k < n; ++k, t += 3) w[t[0]] = w[t[1]] + w[t[2]]; break;                              \
            case SUB: for (k = 0; k < n; ++k, t += 3) w[t[0]] = w[t[1]] - w[t[2]]; break;                              \
            case MUL: for (k = 0; k < n; ++k, t += 3) w[t[0]] = w[t[1]] * w[t[2]]; break;                              \
            case DIV: for (k = 0; k < n; ++k, t += 3) w[t[0]] = w[t[1]] / w[t[2]]; break;                              \
            case NEG: for (k = 0; k < n; ++k, t += 2) w[t[0]] = -w[t[1]]; break;                                       \
            case FMA: for (k = 0; k < n; ++k, t += 4) w[t[0]] = w[t[1]] * w[t[2]] + w[t[3]]; break;                    \
            case FMS: for (k = 0; k < n; ++k, t += 4) w[t[0]] = w[t[1]] * w[t[2]] - w[t[3]]; break;                    \
            case FNMA: for (k = 0; k < n; ++k, t += 4) w[t[0]] = w[t[3]] - w[t[1]] * w[t[2]]; break;                   \
            default: for (k = 0; k < n; ++k, t += 1 + last) other(op, &w[t[0]], &w[t[1]], &w[t[last]]);                \
            }                                                                                                          \
        }                                                                                                              \
        return t;                                                                                                      \
    }

RUNS(narrow, uint16_t)
RUNS(wide, uint32_t)

/* A function of several instances: their rows of inputs and outputs, one array for each input and output. */
typedef struct {
    const char *tape;
    int64_t instances, inputs, outputs;
    const double *const *in;
    const int64_t *in_size;
    double *const *out;
    const int64_t *out_size;
} Job;

static void batch(const Job *job, int64_t start, V *w)
{
    const Head *h = (const Head *)(const void *)job->tape;
    const double *constant = (const double *)(const void *)(job->tape + h->constant_at);
    const int32_t *entry = (const int32_t *)(const void *)(job->tape + h->entry_at);
    const Run *run = (const Run *)(const void *)(job->tape + h->run_at);
    const int lanes = job->instances - start < LANES ? (int)(job->instances - start) : LANES;
    int64_t i, k;
    V *x = w + h->constants;
    int l;
    for (k = 0; k < h->constants; ++k)
        for (l = 0; l < LANES; ++l) w[k][l] = constant[k];
    for (i = 0; i < job->inputs; ++i) {
        const int64_t size = job->in_size[i];
        for (l = 0; l < LANES; ++l) { /* unused lanes repeat the first instance */
            const double *row = job->in[i] + (start + (l < lanes ? l : 0)) * size;
            for (k = 0; k < size; ++k) x[k][l] = row[k];
        }
        x += size;
    }
    if (h->wide) wide(run, (int)h->runs, (const uint32_t *)(const void *)(job->tape + h->table_at), w);
    else narrow(run, (int)h->runs, (const uint16_t *)(const void *)(job->tape + h->table_at), w);
    for (i = 0; i < job->outputs; ++i) {
        const int64_t size = job->out_size[i];
        for (l = 0; l < lanes; ++l) {
            double *row = job->out[i] + (start + l) * size;
            for (k = 0; k < size; ++k) row[k] = w[entry[k]][l];
        }
        entry += size;
    }
}

/* Evaluates all jobs, batch by batch. Several threads may call this with the same jobs and `next`, which begins at 0, each
   with its own work array: every batch is computed by one of them. */
EXPORT void tape_run(long long jobs, const Job *job, int64_t *next, V *work)
{
    int64_t mine = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED), first = 0;
    long long k;
    for (k = 0; k < jobs; ++k) {
        const int64_t batches = (job[k].instances + LANES - 1) / LANES;
        while (mine < first + batches) {
            batch(&job[k], (mine - first) * LANES, work);
            mine = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
        }
        first += batches;
    }
}
