"""Plans and figures on their way between Python and the library in C, by a library that computes nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from ocp_dyn.native.libraries import BLOCK_LDL
from ocp_dyn.native.library import NativeLibrary
from ocp_dyn.native.toolchain import find_compiler
from ocp_dyn.ocp.solvers.block_ldl import library

EMPTY = """#define API __attribute__((visibility("default")))
static int ended, current;
API int block_ldl_begin(int n, int x, int fronts, const int *f, const int *r, const int *t, const int *p, const int *h,
                        int k)
{ return n + 3 * x + 10 * fronts + 100 * f[0] + 1000 * r[1] + 10000 * t[1] + 100000 * p[0] + 1000000 * h[0] - k; }
API int block_ldl_use(int id) { int before = current; current = id; return before; }
API void block_ldl_end(int id) { ended = id; }
API void block_ldl_stats(int id, double *out) { for (int k = 0; k < 16; k++) out[k] = id + k + ended + 0.25; }
API void block_ldl_watch(void *f) {}
API void ma27id_(void) {}
API void ma27ad_(void) {}
API void ma27bd_(void) {}
API void ma27cd_(void) {}
"""


class Plan:
    front, role, tile = np.array([3, 0]), np.array([0, 2]), np.array([-1, 1])
    parent, thread, threads, primal = np.array([2]), np.array([1]), 7, 2


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_plans_and_figures_pass_unchanged(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "empty.c").write_text(EMPTY)
    loaded, reason = NativeLibrary("empty", BLOCK_LDL.signatures, tmp_path).obtain(wait=True)
    assert reason == ""
    made = library.BlockLDL(loaded)
    number = 2 + 3 * 2 + 10 + 300 + 2000 + 10000 + 200000 + 1000000 - 7
    with made.planned(Plan()) as figures:
        assert figures() == library.Figures(
            *(type(zero)(number + k + 0.25) for k, zero in enumerate(library.Figures()))
        )
    assert figures().factorizations == 2 * number  # block_ldl_end has had it
    assert loaded.functions.block_ldl_use(4) == 0
    with made.planned(Plan()):
        assert loaded.functions.block_ldl_use(5) == 0
    assert loaded.functions.block_ldl_use(0) == 4  # that of the run around it
    summary = library.Figures(4, 2.0, 8, 1.0, threads=3).summary()
    assert (summary["factorization_ms"], summary["solve_ms"], summary["threads"]) == (500.0, 125.0, 3)
    wrong = Plan()
    wrong.tile = np.zeros(3)
    with pytest.raises(ValueError, match="front, role and tile of one size"), made.planned(wrong):
        pass
    wrong = Plan()
    wrong.threads = 10**8
    with pytest.raises(RuntimeError, match="refuses the plan"), made.planned(wrong):
        pass
