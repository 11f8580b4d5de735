"""`Model` -> OpenSim.

| module | contents |
|---|---|
| `elements` | properties, names, functions; `Ground`: the places of frames in the file; what is lost |
| `joints` | bodies, frames welded to them, joints with their coordinates |
| `paths` | markers, wrap objects, muscles |
| `forces` | springs, limits, formulas, bushings, actuators |
| `constraints` | couplers, points, welds, lines, distances |
"""
