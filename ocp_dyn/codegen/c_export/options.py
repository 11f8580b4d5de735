"""Arguments of an export, checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..._base.types import truth
from ..compiled.compile import check_lanes
from ..text.differentiated import kinds
from .project import check_version


@dataclass(frozen=True)
class ExportOptions:
    """Options of `export`; the property `kinds` lists the derivatives.

    external: PREFIX_external.c belongs to the export, in double precision. selections: False: functions that choose
    between values are packed for AVX only, because GCC 12 fails on some of them without it.
    """

    dense: bool = False
    lanes: int = 1
    precision: str = "double"
    derivatives: bool | Iterable[str] = False
    pack: bool = True
    version: str = "1.0.0"
    external: bool = True
    selections: bool = True

    def __post_init__(self) -> None:
        check_lanes(self.lanes, self.precision)
        truth(self.dense, "dense")
        truth(self.pack, "pack")
        check_version(self.version)
        object.__setattr__(self, "derivatives", kinds(self.derivatives))
        if self.derivatives and self.single:
            raise ValueError(
                "derivatives serve CasADi, which loads only double precision: leave out derivatives, or export in "
                "double precision"
            )

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of derivatives."""
        return tuple(self.derivatives)  # type: ignore[arg-type]

    @property
    def single(self) -> bool:
        """Whether all code is in single precision."""
        return self.precision == "single"

    @property
    def convention(self) -> bool:
        """Whether CasADi's calling convention belongs to the export."""
        return self.external and not self.single
