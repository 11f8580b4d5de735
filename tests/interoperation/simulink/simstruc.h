/* A stand-in for Simulink's simstruc.h, for tests: the functions of it that the generated S-function calls.
 *
 * Written after their public descriptions. Every call that sets something is recorded, and harness.c reads it.
 */
#ifndef SIMSTRUC_H
#define SIMSTRUC_H

#include <stdlib.h>
#include <string.h>

typedef int int_T;
typedef double real_T;
typedef struct { const char *text; } mxArray;

enum { SS_DOUBLE, SS_SINGLE, COMPLEX_NO = 0, MOST_PORTS = 16 };
#define SS_OPTION_EXCEPTION_FREE_CODE 1u
#define SS_OPTION_WORKS_WITH_CODE_REUSE 2u
#define INHERITED_SAMPLE_TIME -1.0

typedef struct {
    int rows, columns, type, complex, contiguous, feedthrough;
    void *signal;
} StubPort;

typedef struct {
    mxArray parameter;
    int parameters_given, parameters_expected, tunable;
    int inputs, outputs, states, sample_times, dwork_count, dwork_width, dwork_type, iwork_count;
    double sample_time, offset;
    unsigned options;
    StubPort input[MOST_PORTS], output[MOST_PORTS];
    void *dwork;
    int_T *iwork;
    const char *error;
} SimStruct;

#define mxIsChar(array) ((array)->text != 0)
static int mxGetString(const mxArray *array, char *to, int size)
{
    if ((int)strlen(array->text) >= size) return 1;
    strcpy(to, array->text);
    return 0;
}

#define ssSetNumSFcnParams(S, n) ((S)->parameters_expected = (n))
#define ssGetNumSFcnParams(S) ((S)->parameters_expected)
#define ssGetSFcnParamsCount(S) ((S)->parameters_given)
#define ssGetSFcnParam(S, k) (&(S)->parameter + (k))
#define ssSetSFcnParamTunable(S, k, on) ((S)->tunable = (on))
#define ssSetErrorStatus(S, text) ((S)->error = (text))
#define ssSetNumContStates(S, n) ((S)->states += (n))
#define ssSetNumDiscStates(S, n) ((S)->states += (n))
#define ssSetNumInputPorts(S, n) ((S)->inputs = (n), 1)
#define ssSetNumOutputPorts(S, n) ((S)->outputs = (n), 1)
#define ssSetInputPortWidth(S, k, n) ((S)->input[k].rows = (n), (S)->input[k].columns = 1)
#define ssSetOutputPortWidth(S, k, n) ((S)->output[k].rows = (n), (S)->output[k].columns = 1)
#define ssSetInputPortMatrixDimensions(S, k, m, n) ((S)->input[k].rows = (m), (S)->input[k].columns = (n), 1)
#define ssSetOutputPortMatrixDimensions(S, k, m, n) ((S)->output[k].rows = (m), (S)->output[k].columns = (n), 1)
#define ssSetInputPortDataType(S, k, t) ((S)->input[k].type = (t))
#define ssSetOutputPortDataType(S, k, t) ((S)->output[k].type = (t))
#define ssSetInputPortComplexSignal(S, k, c) ((S)->input[k].complex = (c))
#define ssSetOutputPortComplexSignal(S, k, c) ((S)->output[k].complex = (c))
#define ssSetInputPortRequiredContiguous(S, k, on) ((S)->input[k].contiguous = (on))
#define ssSetInputPortDirectFeedThrough(S, k, on) ((S)->input[k].feedthrough = (on))
#define ssGetInputPortSignal(S, k) ((const void *)(S)->input[k].signal)
#define ssGetOutputPortSignal(S, k) ((S)->output[k].signal)
#define ssSetNumDWork(S, n) ((S)->dwork_count = (n))
#define ssSetDWorkWidth(S, k, n) ((S)->dwork_width = (n))
#define ssSetDWorkDataType(S, k, t) ((S)->dwork_type = (t))
#define ssGetDWork(S, k) ((S)->dwork)
#define ssSetNumIWork(S, n) ((S)->iwork_count = (n))
#define ssGetIWork(S) ((S)->iwork)
#define ssSetNumSampleTimes(S, n) ((S)->sample_times = (n))
#define ssSetSampleTime(S, k, t) ((S)->sample_time = (t))
#define ssSetOffsetTime(S, k, t) ((S)->offset = (t))
#define ssSetModelReferenceSampleTimeDefaultInheritance(S) ((void)(S))
#define ssSetOptions(S, flags) ((S)->options = (flags))

#endif
