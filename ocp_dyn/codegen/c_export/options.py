"""Arguments of an export, checked."""

from __future__ import annotations

from dataclasses import dataclass

from ..._base.types import truth
from .project import check_version


@dataclass(frozen=True)
class ExportOptions:
    """Options of `export`, with the kinds of derivatives as names, and lanes as a number.

    external: PREFIX_external.c belongs to the export, in double precision. selections: False: functions that choose
    between values are packed for AVX only, because GCC 12 fails on some of them without it.
    """

    dense: bool = False
    lanes: int = 1
    precision: str = "double"
    kinds: tuple[str, ...] = ()
    pack: bool = True
    version: str = "1.0.0"
    external: bool = True
    selections: bool = True

    def __post_init__(self) -> None:
        truth(self.dense, "dense")
        truth(self.pack, "pack")
        check_version(self.version)
        if self.kinds and self.single:
            raise ValueError(
                "derivatives serve CasADi, which loads only double precision: leave out derivatives, or export in "
                "double precision"
            )

    @property
    def single(self) -> bool:
        """Whether all code is in single precision."""
        return self.precision == "single"

    @property
    def convention(self) -> bool:
        """Whether CasADi's calling convention belongs to the export."""
        return self.external and not self.single
