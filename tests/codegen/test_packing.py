"""Packed kernels: what shares a statement, that the results stay the same to the last bit, and that it pays."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.codegen.text import driver
from ocp_dyn.codegen.text.bundles import bundles
from ocp_dyn.codegen.text.emit import emit
from ocp_dyn.codegen.text.packed import signed
from ocp_dyn.codegen.text.pairs import Bundle, pairs, shapes
from ocp_dyn.codegen.text.placement import place
from ocp_dyn.codegen.text.values import CONSTANT, INPUT, Value, values_of
from ocp_dyn.joints import FloatingBase, Revolute
from ocp_dyn.mechanism.builder import ModelBuilder
from tests.codegen.test_emit import load, needs_compiler, one, operations

EXACT = ("-O1", "-march=native", "-ffp-contract=off")


def limbs(count: int, joints: int = 3, seed: int = 3) -> od.Model:
    """A trunk with `count` limbs that differ by numbers only, in general position."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder("limbs")
    for k in range(-1, count):
        for j in range(joints if k >= 0 else 1):
            axes, trunk = rng.normal(size=(3, 3)), k < 0
            builder.add_body(
                f"limb{k}_{j}", FloatingBase() if trunk else Revolute(rng.normal(size=3)),
                "world" if trunk else f"limb{k}_{j - 1}" if j else "limb-1_0",
                mass=rng.uniform(1, 2), com=rng.normal(size=3), inertia=axes @ axes.T + 20 * np.eye(3),
                origin=rng.normal(size=3) * (not trunk), rotation=od.rpy_matrix(rng.normal(size=3)),
            )  # fmt: skip
    return builder.build()


def mirrored(count: int) -> od.Model:
    """A trunk with `count` legs of three joints, images of the first by reflections of x and y."""
    builder = ModelBuilder("mirrored")
    builder.add_body("trunk", FloatingBase(), mass=10, com=[0.1, 0, 0.2], inertia=np.diag([1.0, 2.0, 2.5]))
    for k in range(count):
        signs = np.array([1 - k // 2 * 2, 1 - k % 2 * 2, 1])
        inertia = np.array([[3.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.5]]) * np.outer(signs, signs)
        for j, (axis, origin) in enumerate((("x", [0.4, 0.2, 0]), ("y", [0.1, 0.08, 0]), ("y", [0.02, 0.03, -0.3]))):
            builder.add_body(
                f"leg{k}_{j}", Revolute(axis), f"leg{k}_{j - 1}" if j else "trunk", origin=signs * origin,
                mass=1.2, com=signs * [0.01, 0.02, -0.1], inertia=0.01 * inertia,
            )  # fmt: skip
    return builder.build()


def live(f: ca.Function) -> tuple[list[Value], list[int]]:
    values, stores = values_of(f, "f")
    needed = {v for _, _, v in stores}
    for v in range(len(values) - 1, -1, -1):
        if v in needed and values[v].operation >= 0:
            needed |= set(values[v].arguments)
    return values, [v for v in sorted(needed) if values[v].operation >= 0]


def check_bundles(values: list[Value], found: list[Bundle], alive: list[int]) -> None:
    """Bundles have no common members, one operation each, their operands, and an order of statements."""
    members = [v for bundle in found for v in bundle.lanes]
    assert len(members) == len(set(members))
    for bundle in found:
        assert bundle.signs or len({values[v].operation for v in bundle.lanes}) == 1
        for k, (v, operands) in enumerate(zip(bundle.lanes, zip(*bundle.operands, strict=True), strict=True)):
            assert sorted(operands) == sorted(values[v].arguments)
            if values[v].operation == ca.OP_SUB and not bundle.signs:
                assert operands == values[v].arguments
            elif bundle.signs:
                first = operands == values[v].arguments or values[v].operation == ca.OP_ADD
                second = operands != values[v].arguments or values[v].operation == ca.OP_ADD
                assert (bundle.signs[0][k] > 0, bundle.signs[1][k] > 0) == (first, second)
    of = {v: bundle.lanes for bundle in found for v in bundle.lanes}
    waiting, done = set(alive), {v for v, value in enumerate(values) if value.operation < 0}
    while waiting:
        ready = {v for v in waiting if all(a in done for u in of.get(v, (v,)) for a in values[u].arguments)}
        assert ready, "no order of statements computes the bundles"
        waiting -= ready
        done |= ready


def same_bits(f: ca.Function, tmp_path, rng, states: int = 20, scale: float = 1.0) -> None:
    plain, packed = (
        load(driver.single_source(emit(f, "k", pack=pack), "double"), tmp_path, flags=EXACT) for pack in (False, True)
    )
    for _ in range(states):
        numbers = [rng.normal(size=f.numel_in(i)) for i in range(f.n_in())]
        inputs = [scale * x if scale else np.sign(x) for x in numbers]
        results = [[np.full(f.numel_out(j), 7.0) for j in range(f.n_out())] for _ in range(2)]
        one(plain, inputs, results[0])
        one(packed, inputs, results[1])
        for a, b in zip(*results, strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


@pytest.mark.parametrize("algorithm", [od.inverse_dynamics, od.forward_dynamics])
@pytest.mark.slow
def test_two_limbs_share_their_statements(algorithm):
    """At least four fifths of the operations that two legs add to those of the trunk come in pairs."""
    f = od.function(algorithm, mirrored(2))
    packing = emit(f, "k", pack=True).packing
    assert packing is not None
    in_legs = emit(f, "k").statements - emit(od.function(algorithm, mirrored(0)), "k").statements
    assert packing.operations == emit(f, "k").statements
    assert packing.statements < packing.operations - 0.4 * in_legs
    assert packing.vectors.keys() == {2, 4}
    assert packing.moves < 0.06 * packing.operations


@pytest.mark.slow
def test_four_limbs_share_statements_of_four_lanes():
    packing = emit(od.function(od.inverse_dynamics, mirrored(4)), "k", pack=True).packing
    assert packing is not None
    assert packing.vectors[4] > 5 * packing.vectors.get(2, 0)
    assert packing.statements < 0.4 * packing.operations
    three = emit(od.function(od.inverse_dynamics, mirrored(3)), "k", pack=True).packing
    assert three is not None
    assert three.vectors[4] < 0.1 * three.vectors[2], "the third leg has no partner, so four lanes are for angles"


@needs_compiler
@pytest.mark.slow
def test_limbs_give_the_same_bits(rng, tmp_path):
    same_bits(od.function(od.inverse_dynamics, limbs(3)), tmp_path, rng)


@needs_compiler
@pytest.mark.slow
def test_long_code_gives_the_same_bits(rng, tmp_path):
    same_bits(od.function(od.forward_dynamics, mirrored(4)), tmp_path, rng)


def random_function(rng: np.random.Generator, copies: int) -> ca.Function:
    """Random expressions of many operations, `copies` times with other inputs, mixed at some places."""
    x, z = ca.SX.sym("x", 5 * copies), ca.SX.sym("z", 3)
    plan = [(int(rng.integers(0, 14)), *map(int, rng.integers(0, 400, size=2))) for _ in range(100)]
    parts = [[*ca.vertsplit(x[k::copies]), *ca.vertsplit(z), ca.SX(0.5 + k)] for k in range(copies)]
    for step, (kind, i, j) in enumerate(plan):
        for own, other in zip(parts, (*parts[1:], parts[0]), strict=True):
            a, b = own[i % len(own)], (other if step % 40 == 39 else own)[j % len(own) - 1]
            bounded = a / (1 + a * a)
            own.append(
                [a + b, a - b, bounded * b, a - b * bounded, b + a, ca.sin(a), ca.cos(a), ca.sin(b) + ca.cos(a),
                 ca.fmin(a, b), ca.fmax(a, b), ca.if_else(a > b, a, 2 * b), ca.fabs(a), ca.exp(-a * a), -a / (2 + b * b)
                 ][kind]
            )  # fmt: skip
    return ca.Function("f", [x, z], [ca.vcat([p for part in parts for p in part[::5]]), ca.vcat(parts[0][-3:]), x[:2]])


@needs_compiler
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.slow
def test_random_expressions_give_the_same_bits(tmp_path, seed):
    rng = np.random.default_rng(seed)
    f = random_function(rng, copies=1 + seed % 4)
    values, alive = live(f)
    check_bundles(values, bundles(values, alive), alive)
    same_bits(f, tmp_path, rng, scale=3.0)


@needs_compiler
@pytest.mark.slow
def test_every_operation_in_vectors(tmp_path, rng):
    """Two copies of every operation, at special numbers; those of libm stay alone."""
    f = operations()
    x = ca.SX.sym("x", 4)
    twice = ca.Function("f", [x], [f(x[0], x[1]), f(x[2], x[3])])
    plain, packed = (
        load(driver.single_source(emit(twice, "k", pack=pack), "double"), tmp_path, flags=EXACT)
        for pack in (False, True)
    )
    special = [0.0, -0.0, 1.0, -1.0, 0.3, 2.0, np.nan, np.inf, 1e5]
    for _ in range(200):
        inputs = [rng.choice(special, size=4)]
        results = [[np.zeros(f.numel_out(0)) for _ in range(2)] for _ in range(2)]
        one(plain, inputs, results[0])
        one(packed, inputs, results[1])
        np.testing.assert_array_equal(results[0], results[1])


@needs_compiler
@pytest.mark.parametrize("angles", [1, 5])
@pytest.mark.slow
def test_angles_of_inputs_come_in_blocks(tmp_path, rng, angles):
    """Angles that are inputs, sums of inputs, and sines of sines, which no block may hold; results that are angles."""
    x = ca.SX.sym("x", angles)
    sums = ca.cumsum(x)
    values = ca.vertcat(ca.sin(x), ca.cos(sums), ca.sin(ca.sin(x)), ca.cos(sums) * ca.sin(x), ca.tan(x))
    f = ca.Function("f", [x], [values, x, sums])
    kernel = emit(f, "k", pack=True)
    assert kernel.text.count("angles_(") == -(-(2 * angles - 1) // 4) * (angles > 1)
    same_bits(f, tmp_path, rng)
    same_bits(f, tmp_path, rng, scale=1e6, states=3)  # beyond the emitted reduction


def horner(b: ca.SX, x: ca.SX, start: int) -> ca.SX:
    """Products and sums deeper than the shapes that the search compares."""
    for k in range(start, start + 6):
        b = b * x[k] + x[k + 6]
    return b


@needs_compiler
def test_angles_with_different_ends(tmp_path, rng):
    """Pairs of values, one of which needs a value that comes later in the function."""
    x = ca.SX.sym("x", 30)
    angles = horner(x[24] * x[25], x, 0), horner(x[26] - x[27], x, 12)
    same_bits(ca.Function("f", [x], [ca.sin(ca.vcat(angles))]), tmp_path, rng)


@needs_compiler
@pytest.mark.slow
def test_an_early_angle_beside_a_later_one(tmp_path, rng):
    """Sines and cosines of one shape, of which only one belongs to a block: it is computed once, and stays in its place
    until the last chunk."""
    x = ca.SX.sym("x", 28)
    angles = ca.vertcat(horner(x[24] * x[25], x, 0), horner(ca.exp(x[26]), x, 12))
    sines, cosines = ca.sin(angles), ca.cos(angles)
    late = ca.vcat(
        [
            horner(s * c, x, start)
            for s, c, start in zip(ca.vertsplit(sines), ca.vertsplit(cosines), (0, 12), strict=True)
        ]
    )
    f = ca.Function("f", [x], [late, ca.sin(x[5]) + cosines, sines, chain(400, 2)(x[:4]) * ca.vertcat(sines, sines)])
    text = emit(f, "k", pack=True).chunks
    assert len(text) > 2
    same_bits(f, tmp_path, rng)


@needs_compiler
def test_only_sines_or_cosines_of_a_block(tmp_path, rng):
    x = ca.SX.sym("x", 6)
    f = ca.Function("f", [x], [ca.sin(x[:4]), ca.cos(x[3:])])
    same_bits(f, tmp_path, rng)
    packing = emit(f, "k", pack=True).packing
    assert packing is not None
    assert (packing.operations, packing.statements, packing.vectors) == (7, 3, {4: 3})


@needs_compiler
@pytest.mark.slow
def test_null_inputs_and_outputs(tmp_path, rng):
    f = od.function(od.inverse_dynamics, limbs(2))
    library = load(driver.single_source(emit(f, "k", pack=True), "double"), tmp_path)
    q, tau = rng.normal(size=f.numel_in(0)), np.zeros(f.numel_out(0))
    one(library, [q, None, None], [tau])
    np.testing.assert_allclose(tau, f(q, 0, 0).full().ravel(), rtol=1e-12, atol=1e-12)
    one(library, [q, None, None], [None])


@needs_compiler
@pytest.mark.slow
def test_processors_without_wide_vectors(tmp_path, rng):
    """Four lanes by two vectors of two, as the compiler divides them."""
    f = od.function(od.inverse_dynamics, mirrored(4))
    library = load(driver.single_source(emit(f, "k", pack=True), "double"), tmp_path, flags=("-O1",))
    inputs, tau = [rng.normal(size=f.numel_in(i)) for i in range(3)], np.zeros(f.numel_out(0))
    one(library, inputs, [tau])
    np.testing.assert_allclose(tau, f(*inputs).full().ravel(), rtol=1e-11, atol=1e-11)


def test_nothing_is_packed_where_nothing_is_alike():
    x = ca.SX.sym("x", 3)
    f = ca.Function("f", [x], [x[0] + x[1] * x[2], ca.exp(x[0]) - x[2]])
    kernel, plain = emit(f, "k", pack=True), emit(f, "k")
    assert kernel.packing is None
    assert kernel.text == plain.text
    assert emit(ca.Function("f", [x], [x[:2], ca.SX(2, 2)]), "k", pack=True).packing is None


def chain(length: int, copies: int) -> ca.Function:
    """Recursions of one step, whose values are all alike."""
    x = ca.SX.sym("x", 2 * copies)
    ends = []
    for k in range(copies):
        a, b = x[2 * k], x[2 * k + 1]
        for _ in range(length):
            a, b = b * a + 0.5, a - b
        ends += [a, b]
    return ca.Function("f", [x], [ca.vcat(ends)])


@pytest.mark.slow
def test_values_that_depend_on_each_other_do_not_share_a_statement():
    for copies in (1, 2):
        values, alive = live(chain(200, copies))
        found = pairs(values, alive)
        check_bundles(values, found, alive)
        assert len(found) >= (copies - 1) * 0.95 * len(alive) / 2


def test_a_pair_of_which_one_value_follows_from_the_other_is_refused():
    """Shapes to the depth of the search agree, but 1 needs 0."""
    x = ca.SX.sym("x", 3)
    a = x[0] * x[1]
    for _ in range(40):
        a = ca.sqrt(a) + x[2]
    values, alive = live(ca.Function("f", [x], [a]))
    check_bundles(values, pairs(values, alive), alive)
    assert pairs(values, alive) == []


def test_shapes():
    """x0 y + 2, x1 y + 3, x1 y - 3 and y + 2."""
    values = [Value(INPUT, (0, 0)), Value(INPUT, (0, 1)), Value(INPUT, (1, 0)), Value(CONSTANT, (), 2.0)]
    values += [Value(CONSTANT, (), 3.0), Value(ca.OP_MUL, (0, 2)), Value(ca.OP_MUL, (2, 1)), Value(ca.OP_ADD, (3, 5))]
    values += [Value(ca.OP_ADD, (6, 4)), Value(ca.OP_SUB, (6, 4)), Value(ca.OP_ADD, (2, 3)), Value(ca.OP_SUB, (4, 6))]
    one_level, two = shapes(values, (1, 2))
    assert one_level[0] == one_level[1] != one_level[2]
    assert one_level[3] == one_level[4]
    assert two[5] == two[6]
    assert two[7] == two[8] != two[10]
    assert len({two[9], two[11], two[7]}) == 3, "the order of operands matters to a difference"


def test_pairs_that_cost_more_moves_than_they_save():
    """Two sums of four unlike products: each gains a statement and needs two moves, and one more to be read."""
    x = ca.SX.sym("x", 8)
    p, q = ca.exp(x[0]) + ca.log(x[1]), ca.exp(x[2]) + ca.log(x[3])
    values, alive = live(ca.Function("f", [x], [ca.atan2(p, q)]))
    assert pairs(values, alive) == []
    values, alive = live(ca.Function("f", [x], [x[:4] * x[4:] + 2]))
    assert {len(bundle.lanes) for bundle in bundles(values, alive)} == {4}


def test_products_stay_beside_their_sums():
    """A product that one plain sum uses costs nothing; in a vector it would cost a statement and a move."""
    x = ca.SX.sym("x", 6)
    products = x[1] * x[3], x[0] * x[2]  # both vectors of operands can be loaded
    f = ca.Function("f", [x], [ca.exp(products[0] + ca.exp(x[4])), ca.log(x[5] - products[1])])
    values, alive = live(f)
    assert pairs(values, alive) == []


@needs_compiler
@pytest.mark.slow
def test_operands_of_differences_are_not_exchanged(tmp_path, rng):
    """p0 - q0 beside q1 - p1, and p0 + q0 beside p1 - q1, between pairs."""
    x = ca.SX.sym("x", 8)
    p, q = x[:2] * x[2:4], x[4:6] * x[6:]
    d = ca.vertcat(p[0] - q[0], q[1] - p[1])
    e = ca.vertcat(p[0] + q[0], p[1] - q[1])
    f = ca.Function("f", [x], [p / (1 + q * q), (d * d + p) * d, (e * q + 2) / e])
    same_bits(f, tmp_path, rng)
    same_bits(f, tmp_path, rng, scale=0)  # zeros with their signs
    values, alive = live(f)
    found = pairs(values, alive)
    check_bundles(values, found, alive)
    assert ca.OP_DIV in {values[bundle.lanes[0]].operation for bundle in found}


@pytest.mark.parametrize("signs", [((1, 1), (1, -1)), ((1, -1), (1, 1)), ((1, -1), (-1, 1))])
def test_signs_of_sums(signs):
    """a + b, a - b and b - a, equal also in the signs of zeros."""
    text = signed(Bundle((5, 6), ((1, 2), (3, 4)), signs)).format("a", "b")
    for a, b in ((1.5, 1.5), (0.0, 0.0), (-0.0, 0.0), (0.0, -0.0), (2.0, -3.0)):
        for lane, (first, second) in enumerate(zip(*signs, strict=True)):
            code = re.sub(r"\(\(V2\)\{(-?1), (-?1)\}\)", rf"\{lane + 1}", text)
            value, expected = eval(code, {"a": a, "b": b}), first * a + second * b
            assert (value, np.signbit(value)) == (expected, np.signbit(expected))


def test_units_are_stored_side_by_side():
    groups = [(0, 1), (2,), (3,), (4, 5), (6,)]
    arguments = [(), (), (0,), (1,), (), (), (4, 5, 2)]
    placed = place(groups, arguments, 2, units={0: (0, 1), 1: (0, 1), 4: (4, None, 5, None), 5: (4, None, 5, None)})
    assert placed.slots[1] == placed.slots[0] + 1
    assert placed.slots[0] % 2 == 0
    assert placed.slots[5] == placed.slots[4] + 2
    assert placed.slots[4] % 4 == 0
    assert placed.size % 4 == 0
    kept = place([(0,), (1,)], [(), ()], 1, stored=[1])
    assert kept.slots == {1: 0}
