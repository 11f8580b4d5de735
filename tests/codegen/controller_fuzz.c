/* Hostile inputs and torn memory for an exported controller "ctrl". Ends with status 1 at the first number that is not
 * finite or torque beyond the limit LIMIT, else prints how often each status came. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl_controller.h"

static double q0[CTRL_NQ] = {POSTURE}, qd0[CTRL_NV];
static unsigned long long seed = 88172645463325252ULL;

static unsigned long long drawn(unsigned long long n) /* xorshift (G. Marsaglia, J. Stat. Softw. 8, 2003) */
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (seed >> 11) % n;
}

static double strange(void)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e-308, 0, -1, 1e30, 1e6};
    return values[drawn(sizeof values / sizeof *values)];
}

static int counts[16];

static void check(int status, const double *tau, const double *gains)
{
    int k;
    counts[status & 15]++;
    for (k = 0; k < CTRL_JOINTS; k++)
        if (!(fabs(tau[k]) <= LIMIT)) exit((printf("torque %g, status %d\n", tau[k], status), 1));
    for (k = 0; k < CTRL_JOINTS * 2 * CTRL_NV; k++)
        if (!(fabs(gains[k]) < 1e300)) exit((printf("gain %g, status %d\n", gains[k], status), 1));
}

int main(void)
{
    double *memory = malloc(CTRL_NUMBERS * sizeof(double)), *kept = malloc(CTRL_NUMBERS * sizeof(double));
    double tau[CTRL_JOINTS], gains[CTRL_JOINTS * 2 * CTRL_NV], time = 0;
    int round, k;
    for (k = 0; k < CTRL_NUMBERS; k++) memory[k] = NAN;
    check(ctrl_feedback(memory, q0, qd0, tau, gains), tau, gains); /* before init */
    check(ctrl_feedback(0, q0, qd0, tau, gains), tau, gains);
    ctrl_init(memory);
    check(ctrl_feedback(memory, q0, qd0, tau, gains), tau, gains); /* before reset */
    if (ctrl_prepare(memory, 0, qd0, 0, 0, 0, 0) != CTRL_NO_MEMORY) return 2;
    if (ctrl_reset(memory, 0, q0, qd0)) return 3;
    for (round = 0; round < ROUNDS; round++, time += 0.01) {
        double command[CTRL_COMMAND] = {0.1, 0, 0, HEIGHT, 0, 0, 1}, q[CTRL_NQ], qd[CTRL_NV], feet[CTRL_FEET];
        double schedule[CTRL_SCHEDULE];
        int what = (int)drawn(8);
        memcpy(q, q0, sizeof q);
        memcpy(qd, qd0, sizeof qd);
        for (k = 0; k < CTRL_FEET; k++) feet[k] = 1;
        for (k = 0; k < CTRL_SCHEDULE; k++) schedule[k] = strange();
        memcpy(kept, memory, CTRL_NUMBERS * sizeof(double));
        if (what == 0) q[drawn(CTRL_NQ)] = strange();
        if (what == 1) qd[drawn(CTRL_NV)] = strange();
        if (what == 2) command[drawn(CTRL_COMMAND)] = strange();
        if (what == 3) feet[drawn(CTRL_FEET)] = strange();
        if (what == 4) /* torn memory: some bytes anywhere */
            for (k = 0; k < 40; k++) ((unsigned char *)memory)[drawn(CTRL_NUMBERS * 8ULL)] = (unsigned char)drawn(256);
        if (what == 5) /* torn memory: numbers in the part that one step hands to the next */
            for (k = 0; k < 10; k++) memory[drawn(2000)] = strange();
        ctrl_prepare(memory, what == 6 ? strange() : time, command, what == 7 ? schedule : 0, feet, q, qd);
        check(ctrl_feedback(memory, q, qd, tau, gains), tau, gains);
        check(ctrl_feedback(memory, q, qd, tau, gains), tau, gains); /* without prepare */
        if (what >= 4) memcpy(memory, kept, CTRL_NUMBERS * sizeof(double));
        else { /* a good step ends what a bad input began */
            double good[CTRL_COMMAND] = {0, 0, 0, HEIGHT, 0, 0, 0};
            int status = ctrl_prepare(memory, time, good, 0, 0, q0, qd0);
            status = status ? status : ctrl_feedback(memory, q0, qd0, tau, gains);
            if (!status) continue;
            if (ctrl_reset(memory, time, q0, qd0)) return 4;
            status = ctrl_prepare(memory, time, good, 0, 0, q0, qd0);
            if (status || ctrl_feedback(memory, q0, qd0, tau, gains) > CTRL_CONTRADICTION) return 5;
        }
    }
    for (k = 0; k < 9; k++) printf("%d ", counts[k]);
    printf("\n");
    free(memory);
    free(kept);
    return 0;
}
