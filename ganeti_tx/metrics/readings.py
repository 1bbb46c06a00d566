"""Counts on their way from one process to another."""

from collections.abc import Iterator

import msgspec

#: Raised when readers of the version before could take a reading for something else.
VERSION = 1


class Value(msgspec.Struct, frozen=True, array_like=True):
    """One series of a counter or a gauge."""

    labels: tuple[str, ...]
    value: float


class Spread(msgspec.Struct, frozen=True, array_like=True):
    """One series of a histogram: how many fell between each two bounds, from the lowest; zeros at the end are left out."""

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    sum: float


class Readings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Series by the names of their metrics. Those of the same name and labels, from several processes, add up."""

    version: int = VERSION
    values: dict[str, list[Value]] = {}
    spreads: dict[str, list[Spread]] = {}

    def __bool__(self) -> bool:
        return bool(self.values or self.spreads)

    def __len__(self) -> int:
        """How many series there are."""
        return sum(map(len, self.values.values())) + sum(map(len, self.spreads.values()))

    def pieces(self, most: int) -> "Iterator[Readings]":
        """The same in parts of at most so many series each."""
        for name, values in self.values.items():
            for start in range(0, len(values), most):
                yield Readings(values={name: values[start : start + most]})
        for name, spreads in self.spreads.items():
            for start in range(0, len(spreads), most):
                yield Readings(spreads={name: spreads[start : start + most]})
