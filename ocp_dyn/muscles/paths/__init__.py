"""Paths of muscles: exact geometry in numbers, for many configurations at once, and polynomials fitted to it.

| module | contents |
|---|---|
| `bodies` | poses of the bodies along a path, motions of the dofs that it crosses |
| `wrapping` | lines over cylinders, spheres and tori |
| `ellipsoids` | lines over ellipsoids along sections by planes, as in OpenSim |
| `geodesics` | shortest lines over ellipsoids |
| `routes` | the way of a path over several wrap objects |
| `geometry` | length and moment arms of a path |
| `wrenches` | wrenches of a unit tension on what lies beyond a joint |
| `lines` | points of a path, to draw it |
| `trials` | configurations at which paths are tried, and points inside wrap objects |
| `polynomials` | products of Chebyshev polynomials, on numbers and expressions |
| `fits` | polynomials of fewest terms that are right to a tolerance |
| `smooth` | the smooth forms of all paths of a model, and their cache |
"""
