"""The one table of node calls, found in the modules of `rpc.calls`."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import iter_modules

from ganeti_tx.rpc import calls
from ganeti_tx.rpc.calls.base import NodeCall


def declared() -> Iterator[type[NodeCall[object]]]:
    """The calls of each module; a class that leaves open what it answers is a base of others."""
    for found in iter_modules(calls.__path__):
        module = import_module(f"{calls.__name__}.{found.name}")
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, NodeCall) and not vars(kind).get("__parameters__"):
                yield kind


def by_name(kinds: Iterable[type[NodeCall[object]]]) -> dict[str, type[NodeCall[object]]]:
    """Calls by their name on the wire. @raise ValueError: two have the same."""
    found: dict[str, type[NodeCall[object]]] = {}
    for kind in kinds:
        if found.setdefault(kind.name, kind) is not kind:
            raise ValueError(f"two node calls are named {kind.name}: {found[kind.name].__name__} and {kind.__name__}")
    return found


CALLS = by_name(declared())
