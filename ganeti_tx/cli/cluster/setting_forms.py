"""How `gnt-cluster info` shows the values of settings."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ganeti_tx.cli.tree import Labelled
from ganeti_tx.model.settings.setting import Form

Info = dict[str, Any]
Number = Callable[[Any], str]


def _collectors(cluster: Info, active: Mapping[str, bool], number: Number) -> Mapping[str, Labelled]:
    interval = cluster["data_collector_interval"]
    return {
        name: [("active", runs), ("interval", f"{interval[name] / 1e6:.3f}s" if name in interval else None)]
        for name, runs in active.items()
    }


def _uid_pool(cluster: Info, ranges: Sequence[Sequence[int]], number: Number) -> str:
    """As --uid-pool takes it."""
    return ", ".join(number(low) if low == high else f"{number(low)}-{number(high)}" for low, high in ranges or ())


def _policy(cluster: Info, ipolicy: Info, number: Number) -> Labelled:
    """Bounds first, each pair with its number, what is left after them."""
    return [
        ("bounds specs", [_bounds(*numbered) for numbered in enumerate(ipolicy.get("minmax", ()))]),
        ("std", ipolicy.get("std")),
        ("allowed disk templates", ", ".join(ipolicy.get("disk-templates", ()))),
        *((key, ipolicy[key]) for key in ("vcpu-ratio", "spindle-ratio") if key in ipolicy),
    ]


def _bounds(index: int, pair: Mapping[str, Any]) -> Labelled:
    return [(f"{bound}/{index}", pair[bound]) for bound in ("min", "max")]


#: Each takes all that is told of the cluster, the value, and how numbers are written.
FORMS: Mapping[Form, Callable[[Info, Any, Number], Any]] = {
    Form.AS_IS: lambda cluster, value, number: value,
    Form.COLLECTORS: _collectors,
    Form.ENABLED: lambda cluster, value, number: {name: value[name] for name in cluster["enabled_hypervisors"]},
    Form.NUMBER: lambda cluster, value, number: number(value),
    Form.OR_NOTHING: lambda cluster, value, number: value or "",
    Form.POLICY: _policy,
    Form.UIDS: _uid_pool,
    Form.WORDS: lambda cluster, value, number: ", ".join(value),
    Form.WORDS_OR_NONE: lambda cluster, value, number: ", ".join(value) or "(none)",
}
