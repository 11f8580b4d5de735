"""Spatial vectors, rotations, and factors of small or tree-structured matrices.

| module | contents |
|---|---|
| `spatial` | spatial vectors, `Transform`, `Inertia`, articulated-body inertias [RBDA, ch. 2] |
| `rotations` | rotation matrices, quaternions (x, y, z, w), rotation vectors |
| `linalg` | branch-sparse factors L'DL and L'L of H [RBDA, ch. 6], elimination by LU |
| `semidefinite` | factors of semidefinite matrices, by blocks that share few dofs |
"""
