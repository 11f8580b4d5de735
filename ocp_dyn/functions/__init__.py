"""Algorithms as `casadi.Function`s: how `od.function` makes them, and the registry of their inputs and outputs.

| module | contents |
|---|---|
| `function` | `od.function`: named inputs and outputs, built once per model and kept |
| `registry` | the signature of every algorithm of the library |
| `signature`, `quantities` | `Signature` and `Quantity`: inputs, outputs, units and labels of an algorithm |
| `static_arguments` | arguments between the model and q, such as constraint sets |
| `description` | units and names of a Function's arguments, and its display in notebooks |
| `conventions` | gravity, coordinates and axes of forces in words; the digest of a model |
| `checked` | `CheckedFunction`: a Function that checks the arguments of every call |
| `cheapest_equivalent` | choice of the dynamically equivalent model with the fewest operations |
| `attached_derivatives` | analytic derivatives of a Function, where CasADi finds them |
| `analytic_derivatives`, `constrained_second_order` | derivatives by recursions for exports |
| `differentiated_dynamics` | inverse dynamics with its derivatives as one Function |
| `raw_coordinates` | derivatives by the entries of q, quaternions included |
"""
