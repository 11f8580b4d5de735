"""Small optimal control problems to copy: one file of at most 40 lines each, with a picture.

`python -m ocp_dyn.problems.small.NAME [--out DIR]` solves a problem in a fraction of a second, prints its cost, and
writes NAME.png. Each problem shows one feature of the library:

| NAME | problem | feature |
|---|---|---|
| `rotor` | quickest half turn of a wheel | free duration, limits of torque |
| `pendulum` | swing-up by the weakest motor | a free parameter that bounds the whole motion |
| `cart_pole` | swing-up of a pole on a cart | a joint without a motor |
| `reach` | two-link arm past a ball | distance to an obstacle, a first guess of your own |
| `lift` | three-link arm lifts a load | a parameter of the model, changed without a new build |
| `throw` | farthest throw of a ball | a cost of the last state |
| `slider_crank` | quickest stroke of a piston | a closed loop |
| `juggling` | a ball on a paddle | a transition of your own, a periodic motion |
| `hopper` | hops on one leg at 1 m/s | phases, a contact, an impact |
| `brachiation` | swing from bar to bar | a free parameter of the design |
"""
