/* A stand-in for Simulink's simulink.c, which a MEX file includes last: runs one block for a test.
 *
 * run_block(name, input arrays, output arrays, report): steps of Simulink in their order, twice with two blocks in turn;
 * report: number of inputs, of outputs, then rows, columns, type, feedthrough of every port. Returns 0 if all is well.
 */
#include <stdio.h>

static int same_memory_untouched(const char *memory, size_t from, size_t to)
{
    for (; from < to; ++from)
        if (memory[from] != 0x5A) return 0;
    return 1;
}

static int prepared(SimStruct *S, const char *name, void **in, void **out)
{
    int k;
    size_t size;
    memset(S, 0, sizeof *S);
    S->parameter.text = name;
    S->parameters_given = 1;
    mdlInitializeSizes(S);
    if (S->error) return 0;
    mdlInitializeSampleTimes(S);
    size = (size_t)S->dwork_width * (S->dwork_type == SS_DOUBLE ? 8 : 4);
    S->dwork = malloc(size + 16);
    memset(S->dwork, 0x5A, size + 16);
    S->iwork = calloc((size_t)S->iwork_count, sizeof(int_T));
    for (k = 0; k < S->inputs; ++k) S->input[k].signal = in[k];
    for (k = 0; k < S->outputs; ++k) S->output[k].signal = out[k];
    mdlStart(S);
    return 1;
}

int run_block(const char *name, const char *other, void **in, void **out, int *report)
{
    SimStruct block, second;
    void *scratch_in[MOST_PORTS], *scratch_out[MOST_PORTS];
    int k;
    size_t size;
    for (k = 0; k < MOST_PORTS; ++k) scratch_in[k] = calloc(4096, 8), scratch_out[k] = calloc(4096, 8);
    if (!prepared(&block, name, in, out)) {
        puts(block.error);
        fflush(stdout);
        return 1;
    }
    if (!prepared(&second, other, scratch_in, scratch_out)) return 2;
    mdlOutputs(&second, 0);
    mdlOutputs(&block, 0);
    mdlOutputs(&second, 0);
    if (block.error || second.error || block.states || block.sample_times != 1 || block.sample_time != -1.0) return 3;
    if (block.tunable || !(block.options & SS_OPTION_EXCEPTION_FREE_CODE)) return 4;
    size = (size_t)block.dwork_width * (block.dwork_type == SS_DOUBLE ? 8 : 4);
    if (!same_memory_untouched(block.dwork, size, size + 16)) return 5;
    *report++ = block.inputs, *report++ = block.outputs;
    for (k = 0; k < block.inputs + block.outputs; ++k) {
        const StubPort *port = k < block.inputs ? &block.input[k] : &block.output[k - block.inputs];
        if (k < block.inputs && !port->contiguous) return 6;
        *report++ = port->rows, *report++ = port->columns, *report++ = port->type, *report++ = port->feedthrough;
    }
    mdlTerminate(&block);
    return 0;
}

int too_many_parameters(void)
{
    SimStruct block;
    memset(&block, 0, sizeof block);
    block.parameters_given = 2;
    mdlInitializeSizes(&block);
    return block.inputs;
}
