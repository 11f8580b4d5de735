"""A Simulink S-function of an export: simulink/sfun_PREFIX.c, whose parameter names the function that a block calls.

All inputs and outputs of a block are dense signals of the argument's shape, and matrices are stored by columns, as in
Simulink. Arguments that the C functions store otherwise pass through work memory of the block.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..kernels.interface import Argument, Entry
from ..kernels.names import filled, printable

_ACCESS = """
/* the function that parameter 1 of the block names; a null pointer if there is none */
static const Function *chosen(SimStruct *S)
{
    char name[128];
    int k;
    const mxArray *parameter = ssGetSFcnParam(S, 0);
    if (!mxIsChar(parameter) || mxGetString(parameter, name, (int)sizeof name)) return 0;
    for (k = 0; k < FUNCTIONS; ++k)
        if (strcmp(name, functions[k].name) == 0) return &functions[k];
    return 0;
}

/* whether the C function stores an argument in another order than Simulink does */
static int differs(const Argument *a)
{
    return a->layout != BY_COLUMNS;
}

static int numbers_of(const Argument *a)
{
    return a->layout == SPARSE ? a->size : a->rows * a->columns;
}

/* position in a signal, which is stored by columns, of number k of an argument of the C function */
static int place(const Argument *a, int k)
{
    if (a->layout == SPARSE) return a->row[k] + a->col[k] * a->rows;
    return a->layout == BY_ROWS ? k / a->columns + k % a->columns * a->rows : k;
}
"""

_SIZES = """
static void mdlInitializeSizes(SimStruct *S)
{
    const Function *f;
    int k, port, work = 1;
    ssSetNumSFcnParams(S, 1);
    if (ssGetNumSFcnParams(S) != ssGetSFcnParamsCount(S)) return; /* Simulink reports it */
    ssSetSFcnParamTunable(S, 0, 0);
    f = chosen(S);
    if (!f) {
        ssSetErrorStatus(S, MESSAGE);
        return;
    }
    ssSetNumContStates(S, 0);
    ssSetNumDiscStates(S, 0);
    if (!ssSetNumInputPorts(S, ports_of(f->arguments, f->inputs))) return;
    if (!ssSetNumOutputPorts(S, ports_of(f->arguments + f->inputs, f->outputs))) return;
    for (k = port = 0; k < f->inputs; ++k) {
        const Argument *a = &f->arguments[k];
        if (a->rows * a->columns == 0) continue;
        if (a->columns == 1) ssSetInputPortWidth(S, port, a->rows);
        else if (!ssSetInputPortMatrixDimensions(S, port, a->rows, a->columns)) return;
        ssSetInputPortDataType(S, port, NUMBERS);
        ssSetInputPortComplexSignal(S, port, COMPLEX_NO);
        ssSetInputPortRequiredContiguous(S, port, 1);
        ssSetInputPortDirectFeedThrough(S, port, 1);
        ++port;
    }
    for (k = port = 0; k < f->outputs; ++k) {
        const Argument *a = &f->arguments[f->inputs + k];
        if (a->rows * a->columns == 0) continue;
        if (a->columns == 1) ssSetOutputPortWidth(S, port, a->rows);
        else if (!ssSetOutputPortMatrixDimensions(S, port, a->rows, a->columns)) return;
        ssSetOutputPortDataType(S, port, NUMBERS);
        ssSetOutputPortComplexSignal(S, port, COMPLEX_NO);
        ++port;
    }
    for (k = 0; k < f->inputs + f->outputs; ++k)
        if (differs(&f->arguments[k])) work += numbers_of(&f->arguments[k]);
    ssSetNumDWork(S, 1); /* arguments that the C function stores in another order */
    ssSetDWorkWidth(S, 0, work);
    ssSetDWorkDataType(S, 0, NUMBERS);
    ssSetNumIWork(S, 1); /* index of the function */
    ssSetNumSampleTimes(S, 1);
    ssSetOptions(S, SS_OPTION_EXCEPTION_FREE_CODE | SS_OPTION_WORKS_WITH_CODE_REUSE);
}

static void mdlInitializeSampleTimes(SimStruct *S)
{
    ssSetSampleTime(S, 0, INHERITED_SAMPLE_TIME);
    ssSetOffsetTime(S, 0, 0.0);
    ssSetModelReferenceSampleTimeDefaultInheritance(S);
}

#define MDL_START
static void mdlStart(SimStruct *S)
{
    ssGetIWork(S)[0] = (int_T)(chosen(S) - functions);
}
"""

_OUTPUTS = """
static void mdlOutputs(SimStruct *S, int_T tid)
{
    const Function *f = &functions[ssGetIWork(S)[0]];
    const Real *inputs[MOST_INPUTS];
    Real *outputs[MOST_OUTPUTS], *work = (Real *)ssGetDWork(S, 0);
    int j, k, port;
    (void)tid;
    for (k = port = 0; k < f->inputs; ++k) {
        const Argument *a = &f->arguments[k];
        inputs[k] = 0;
        if (a->rows * a->columns == 0) continue;
        inputs[k] = (const Real *)ssGetInputPortSignal(S, port++);
        if (!differs(a)) continue;
        for (j = 0; j < numbers_of(a); ++j) work[j] = inputs[k][place(a, j)];
        inputs[k] = work;
        work += numbers_of(a);
    }
    for (k = port = 0; k < f->outputs; ++k) {
        const Argument *a = &f->arguments[f->inputs + k];
        outputs[k] = 0;
        if (a->rows * a->columns == 0) continue;
        outputs[k] = differs(a) ? work : (Real *)ssGetOutputPortSignal(S, port);
        if (differs(a)) work += numbers_of(a);
        ++port;
    }
    if (f->call(inputs, outputs)) {
        ssSetErrorStatus(S, "the C function failed");
        return;
    }
    for (k = port = 0; k < f->outputs; ++k) {
        const Argument *a = &f->arguments[f->inputs + k];
        Real *signal;
        if (a->rows * a->columns == 0) continue;
        signal = (Real *)ssGetOutputPortSignal(S, port++);
        if (!differs(a)) continue;
        for (j = 0; j < a->rows * a->columns; ++j) signal[j] = 0;
        for (j = 0; j < numbers_of(a); ++j) signal[place(a, j)] = outputs[k][j];
    }
}

static void mdlTerminate(SimStruct *S)
{
    (void)S;
}

#ifdef MATLAB_MEX_FILE
#include "simulink.c"
#else
#include "cg_sfun.h"
#endif
"""


def sources(prefix: str, entries: Sequence[Entry], names: Sequence[str]) -> list[str]:
    """Names of the C files that the S-function needs: those for single states."""
    needed = {f"{prefix}.c", f"{prefix}_casadi.c", *(f"{entry.public}.c" for entry in entries)}
    return [name for name in names if name in needed]


def _blocks(entries: Sequence[Entry]) -> list[Entry]:
    """The functions that blocks may call: all but derivatives for CasADi."""
    return [entry for entry in entries if not entry.derivative]


def s_function(mark: str, prefix: str, entries: Sequence[Entry]) -> str:
    """simulink/sfun_PREFIX.c."""
    blocks = _blocks(entries)
    real = blocks[0].real
    number = "SS_DOUBLE" if real == "double" else "SS_SINGLE"
    message = f"sfun_{prefix}: parameter 1 must be the name of a function: {', '.join(e.name for e in blocks)}"
    lines = [f"/* {mark}: Simulink block for the functions of {prefix}.h.", " *"]
    lines += [f" * The block's S-function is sfun_{prefix}; its parameter is the name of a function, in quotes:", " *"]
    for entry in blocks:
        lines += [
            *filled([f"'{entry.name}'", *(_port(entry, a) for a in entry.arguments if a.rows * a.columns)], "; "),
            " *",
        ]
    lines += [
        " * Matrices are dense signals. The block has direct feedthrough, no states, and inherits its sample time. */"
    ]
    lines += ["", f"#define S_FUNCTION_NAME sfun_{prefix}", "#define S_FUNCTION_LEVEL 2", "", "#include <string.h>", ""]
    lines += ['#include "simstruc.h"', "", f'#include "{prefix}.h"', "", f"#define NUMBERS {number}"]
    lines += [f'#define MESSAGE "{printable(message)}"', f"typedef {real} Real;", ""]
    lines += ["enum { BY_COLUMNS, BY_ROWS, SPARSE };", "", "typedef struct {", "    int rows, columns, size, layout;"]
    lines += [
        "    const int *row, *col; /* of sparse ones */",
        "} Argument;",
        "",
        "typedef struct {",
        "    const char *name;",
        "    int inputs, outputs;",
    ]
    lines += [
        "    const Argument *arguments;",
        "    int (*call)(const Real *const *arg, Real *const *res);",
        "} Function;",
        "",
    ]
    lines += [f"int {entry.public}_arrays(const {real} *const *arg, {real} *const *res);" for entry in blocks]
    for entry in blocks:
        lines += ["", f"static const Argument {entry.name}_arguments[] = {{"]
        lines += [f"    {_row(entry, a)} /* {a.name} */" for a in entry.arguments] or [
            "    {0, 0, 0, BY_COLUMNS, 0, 0},"
        ]
        lines += ["};"]
    lines += ["", "static const Function functions[] = {"]
    for entry in blocks:
        counts = f"{len(entry.inputs)}, {len(entry.outputs)}"
        lines.append(f'    {{"{entry.name}", {counts}, {entry.name}_arguments, {entry.public}_arrays}},')
    most = [
        max(1, *(len(side) for side in sides), 1)
        for sides in zip(*((e.inputs, e.outputs) for e in blocks), strict=True)
    ]
    lines += ["};", "", f"enum {{ FUNCTIONS = {len(blocks)}, MOST_INPUTS = {most[0]}, MOST_OUTPUTS = {most[1]} }};"]
    ports = ["", "/* number of the arguments that are not empty: Simulink has no empty signals */"]
    ports += ["static int ports_of(const Argument *a, int count)", "{", "    int k, ports = 0;"]
    ports += ["    for (k = 0; k < count; ++k) ports += a[k].rows * a[k].columns > 0;", "    return ports;", "}"]
    return "\n".join([*lines, *ports]) + "\n" + _ACCESS + _SIZES + _OUTPUTS


def _port(entry: Entry, a: Argument) -> str:
    """Words for one input or output: "input 1: q [30]"."""
    side = entry.inputs if a.is_input else entry.outputs
    number = 1 + [other for other in side if other.rows * other.columns].index(a)
    shape = f"{a.rows}" if a.columns == 1 else f"{a.rows} x {a.columns}"
    return f"{'input' if a.is_input else 'output'} {number}: {a.name} [{shape}]"


def _row(entry: Entry, a: Argument) -> str:
    """The C initializer of one argument."""
    tables = [entry.table(a, kind) for kind in ("row", "col")] if a.layout == "sparse" and a.size else ["0", "0"]
    layout = {"row-major": "BY_ROWS", "sparse": "SPARSE"}.get(a.layout, "BY_COLUMNS")
    return f"{{{a.rows}, {a.columns}, {a.size}, {layout}, {tables[0]}, {tables[1]}}},"


def build_script(mark: str, prefix: str, names: Sequence[str]) -> str:
    """simulink/build_sfun_PREFIX.m: the call of mex."""
    files = " ".join(f"'../{name}'" for name in names)
    lines = [f"% {mark}: compiles the S-function sfun_{prefix} in this folder.", ""]
    lines += ["here = cd(fileparts(mfilename('fullpath')));", "restore = onCleanup(@() cd(here));"]
    lines += [f"sources = {{{files}}};", f"mex('-I..', 'CFLAGS=$CFLAGS -std=c99', 'sfun_{prefix}.c', sources{{:}});"]
    return "\n".join(lines) + "\n"
