"""`python -m scripts.checks.moco_tracking MODEL.osim COORDINATES.sto LOADS.xml`: a tracked half stride judged by Moco.

Solves `problems.muscle_walk.tracking` with the ranges of OpenSim Moco's example of a walk in two dimensions, and gives
its solution to the same statement in Moco as a guess: 24 intervals of Hermite-Simpson, whose midpoints are those of
OpenSim's own rates at the nodes. Moco runs in a process of its own, OPENSIM_PYTHON if this environment variable names
the Python that has it, and tells objective, terms and violation at the guess and after --iterations of its solver.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from problems.muscle_walk import tracking
from scripts.common import command_line

LEG = {"hip_flexion": (-10, 60), "knee_angle": (-50, 0), "ankle_angle": (-15, 25)}
RANGES = [("pelvis_tilt", -20, -10), ("pelvis_tx", 0, 1), ("pelvis_ty", 0.75, 1.25), ("lumbar", 0, 20)]
RANGES += [(f"{name}_{side}", low, high) for name, (low, high) in LEG.items() for side in "lr"]
"""Limits of the coordinates in the example [degrees, m]."""

RUN = """
import json, math, re, sys
import numpy as np
import opensim as osim
model_file, coordinates, loads, given_file, iterations = sys.argv[1:]
given = json.load(open(given_file))
track = osim.MocoTrack()
reference = osim.TableProcessor(coordinates)
reference.append(osim.TabOpLowPassFilter(6))
processor = osim.ModelProcessor(model_file)
track.setModel(processor)
track.setStatesReference(reference)
track.set_states_global_tracking_weight(1)
track.set_allow_unused_references(True)
track.set_track_reference_position_derivatives(True)
track.set_apply_tracked_states_to_guess(True)
track.set_initial_time(0.0)
track.set_final_time(given['t'][-1])
study = track.initialize()
problem = study.updProblem()
model = processor.process()
state = model.initSystem()
names = [model.getStateVariableNames().getitem(k) for k in range(model.getNumStateVariables())]
period = osim.MocoPeriodicityGoal('period')
problem.addGoal(period)
for name in names:
    image = re.sub('_r', '_l', name) if '_r' in name else re.sub('_l', '_r', name)
    if image != name:
        period.addStatePair(osim.MocoPeriodicityGoalPair(name, image))
    elif not name.endswith('pelvis_tx/value'):
        period.addStatePair(osim.MocoPeriodicityGoalPair(name))
period.addControlPair(osim.MocoPeriodicityGoalPair('/lumbarAct'))
osim.MocoControlGoal.safeDownCast(problem.updGoal('control_effort')).setWeight(10)
contact = osim.MocoContactTrackingGoal('contact', 1)
contact.setExternalLoadsFile(loads)
for side, group in (('r', 'Right_GRF'), ('l', 'Left_GRF')):
    spheres = osim.StdVectorString()
    for part in ('Heel', 'Front'):
        spheres.append(f'contact{part}_{side}')
    contact.addContactGroup(spheres, group)
contact.setProjection('plane')
contact.setProjectionVector(osim.Vec3(0, 0, 1))
problem.addGoal(contact)
for name in names:
    if name.endswith('/value'):
        limits = given['ranges'][name.split('/')[-2]]
        problem.setStateInfo(name, limits)
actuators = [osim.Actuator.safeDownCast(part) for part in model.getComponentsList()]
controls = [part.getAbsolutePathString() for part in actuators if part is not None]
solver = osim.MocoCasADiSolver.safeDownCast(study.updSolver())
names = list(solver.getGuess().getStateNames())  # files of guesses are read in this order
X = np.column_stack([given['states'][name.split('/')[-2] + '/' + name.split('/')[-1]] for name in names])
U = np.column_stack([given['controls'][name[1:]] for name in controls])
t = np.array(given['t'])
rates = np.zeros_like(X)
for k in range(len(t)):
    state.setTime(t[k])
    for j, name in enumerate(names):
        model.setStateVariableValue(state, name, X[k, j])
    model.realizeVelocity(state)
    model.setControls(state, osim.Vector.createFromMat(U[k].copy()))
    model.realizeAcceleration(state)
    rates[k] = [model.getStateVariableDerivativeValue(state, name) for name in names]
def dense(nodes, middle):
    rows = np.zeros((2 * len(t) - 1, *nodes.shape[1:]))
    rows[::2], rows[1::2] = nodes, middle
    return rows
half = lambda x: (x[1:] + x[:-1]) / 2
X = dense(X, half(X) + np.diff(t)[:, None] / 8 * (rates[:-1] - rates[1:]))
table = np.column_stack([dense(t, half(t)), X, dense(U, half(U))])
head = f'inDegrees=no\\nnum_states={len(names)}\\nnum_controls={len(controls)}\\n'
head += ''.join(f'num_{name}=0\\n' for name in ('multipliers', 'derivatives', 'slacks', 'parameters'))
head += 'DataType=double\\nversion=3\\nendheader\\n'
with open(given_file + '.sto', 'w') as out:
    out.write(head + '\\t'.join(['time', *names, *controls]) + '\\n')
    out.writelines('\\t'.join(map(repr, map(float, row))) + '\\n' for row in table)
solver.set_optim_convergence_tolerance(1e-4)
solver.set_optim_constraint_tolerance(1e-4)
solver.set_optim_max_iterations(int(iterations))
solver.set_parallel(0)
solver.setGuessFile(given_file + '.sto')
found = study.solve()
if found.isSealed():
    found.unseal()
terms = {name: found.getObjectiveTerm(name) for name in found.getObjectiveTermNames()}
print('RESULT' + json.dumps([found.getStatus(), found.getNumIterations(), found.getObjective(), terms]))
"""

NEAR = "mu_strategy monotone\nmu_init 1e-6\nbound_push 1e-9\nbound_frac 1e-9\n"
"""Options of IPOPT with which Moco's solver begins at its guess, from the file ipopt.opt."""


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("files", nargs=3, type=Path, metavar="FILE", help="model, coordinates, external loads")
    parser.add_argument("--iterations", type=int, default=0, help="of Moco's solver, 9 s each")
    options = parser.parse_args()
    model, coordinates, loads = files = [str(path.resolve()) for path in options.files]
    walk = tracking(model, coordinates, loads, ranges=RANGES).solve(progress=False)
    print(f"here: {walk.status}, {walk.stats['iterations']} iterations, {walk.objective:.6f}, {dict(walk.cost)}")
    body = walk.model
    states = {f"{name}/value": walk.q[:, k].tolist() for k, name in enumerate(body.q_names)}
    states |= {f"{name}/speed": walk.qd[:, k].tolist() for k, name in enumerate(body.q_names)}
    states |= {f"{name}/activation": walk["activation"][:, k].tolist() for k, name in enumerate(body.muscle_names)}
    controls = {name: walk["excitation"][:, k].tolist() for k, name in enumerate(body.muscle_names)}
    back = walk.tau[:, body.qd_names.index("lumbar")]
    controls["lumbarAct"] = [*back, back[0]]
    limits = zip(body.q_names, body.dofs.q_lower.tolist(), body.dofs.q_upper.tolist(), strict=True)
    given = {
        "t": (walk.t * 0.470089 / walk.t[-1]).tolist(), "states": states, "controls": controls,
        "ranges": {name: pair for name, *pair in limits},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "ipopt.opt").write_text(NEAR)
        (place / "given.json").write_text(json.dumps(given))
        command = [os.environ.get("OPENSIM_PYTHON", sys.executable), "-c", RUN, *files, "given.json"]
        done = subprocess.run(
            [*command, str(options.iterations)], cwd=place, capture_output=True, text=True, check=False
        )
    log = done.stdout + done.stderr
    shown = ("RESULT", "Constraint violation", "   0  ", "Error")
    print(*(line for line in log.splitlines() if line.startswith(shown)), sep="\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
