"""Analytic derivatives of inverse and forward dynamics, by recursion.

| module | contents |
|---|---|
| `first` | derivatives of ID and FD by q, qd, and qdd or tau |
| `second` | second derivatives of mu' ID and mu' FD |

Derivatives by q are along tangent steps: d/d(delta) at `integrate(q, delta)`. Those by the entries of q, quaternions
included, are in `ocp_dyn.functions.raw_coordinates`.
"""
