"""Numbers of a gait: feet, stances and steps of a motion, curves over the stride, measured references, comparison.

A motion is anything with the attributes of `unrolled.Motion`, or of `unrolled.Walk` for strides;
`ocp_dyn.ocp.Solution` has them. Pictures of these numbers are drawn by `viz`.

| module | holds |
|---|---|
| `bodies`, `joint_angles`, `limbs` | sides of bodies, flexions by names and axes, coordinates limb by limb |
| `feet`, `cuts`, `unrolled` | frames of feet, phases cut where compliant feet touch down, step after step |
| `stances`, `stride` | feet on the ground, one stride of one leg |
| `curves`, `figures`, `gait` | curves over the stride, their figures, `Gait` |
| `data`, `reference`, `compare`, `measured/` | measured gaits, and their comparison with a walk |
"""
