"""How `gnt-cluster info` shows the values of settings."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ganeti_tx.cli.tree import Labelled, Part, Told
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.settings.setting import Form

Info = dict[str, Any]
Number = Callable[[Any], Told]


def _collectors(cluster: Info, active: Mapping[str, bool], number: Number) -> Mapping[str, Labelled]:
    interval = cluster["data_collector_interval"]
    return {name: [("active", runs), ("interval", _interval(interval.get(name)))] for name, runs in active.items()}


def _interval(microseconds: float | None) -> Told | None:
    """Seconds, for programs, too."""
    return None if microseconds is None else Told(f"{microseconds / 1e6:.3f}s", microseconds / 1e6)


def _enabled(cluster: Info, hvparams: Mapping[str, Mapping[str, Any]], number: Number) -> dict[str, dict[str, Any]]:
    """With the parameters that nobody has set and Ganeti does not know, so that everybody can find them."""
    return {name: {**_unset(name), **hvparams[name]} for name in cluster["enabled_hypervisors"]}


def _unset(hypervisor: str) -> dict[str, Told]:
    known = {kind.value: declared for kind, declared in HYPERVISORS.items()}
    unset = known[hypervisor].unset if hypervisor in known else {}
    return {name: Told(f"default ({value})", value) for name, value in unset.items()}


def _uid_pool(cluster: Info, ranges: Sequence[Sequence[int]], number: Number) -> Told:
    """As --uid-pool takes it; programs get pairs."""
    text = ", ".join(number(low) if low == high else f"{number(low)}-{number(high)}" for low, high in ranges or ())
    return Told(text, ranges or [])


def _policy(cluster: Info, ipolicy: Info, number: Number) -> Labelled:
    """Bounds first, each pair with its number, what is left after them."""
    return [
        ("bounds specs", [_bounds(*numbered) for numbered in enumerate(ipolicy.get("minmax", ()))]),
        ("std", ipolicy.get("std")),
        ("allowed disk templates", _words(ipolicy.get("disk-templates", ()))),
        *((key, ipolicy[key]) for key in ("vcpu-ratio", "spindle-ratio") if key in ipolicy),
    ]


def _bounds(index: int, pair: Mapping[str, Any]) -> Labelled:
    return Part([(f"{bound}/{index}", pair[bound]) for bound in ("min", "max")], pair)


def _words(words: Sequence[str], none: str = "") -> Told:
    return Told(", ".join(words) or none, list(words))


#: Each takes all that is told of the cluster, the value, and how numbers are written.
FORMS: Mapping[Form, Callable[[Info, Any, Number], Any]] = {
    Form.AS_IS: lambda cluster, value, number: value,
    Form.COLLECTORS: _collectors,
    Form.ENABLED: _enabled,
    Form.NUMBER: lambda cluster, value, number: number(value),
    Form.POLICY: _policy,
    Form.UIDS: _uid_pool,
    Form.WORDS: lambda cluster, value, number: _words(value),
    Form.WORDS_OR_NONE: lambda cluster, value, number: _words(value, "(none)"),
}
