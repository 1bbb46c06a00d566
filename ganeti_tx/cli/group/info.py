"""gnt-group info and show-ispecs-cmd."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.cluster.ispecs import spec_options
from ganeti_tx.cli.options import MANY_GROUPS, TABLE, TREE, Command, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show, show_trees
from ganeti_tx.cli.selection import rows_there
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.tree import Labelled, Parameters, Part, Told, leaf
from ganeti_tx.errors import ExitCode

FIELDS = ("name", "ndparams", "custom_ndparams", "diskparams", "custom_diskparams", "ipolicy", "custom_ipolicy")
Values = Mapping[str, Any]


def show_groups(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """All about groups."""
    groups = _groups(session, names)
    show_trees(session, [_described(group) for group in groups])
    if not groups and session.document is None:
        session.print("")
    return ExitCode.SUCCESS


def _groups(session: Session, names: Sequence[str]) -> list[Values]:
    rows = rows_there(session, "group", FIELDS, names)
    return [{name: value for name, (_, value) in zip(FIELDS, row, strict=True)} for row in rows]


def _described(group: Values) -> Labelled:
    disks, custom = group["diskparams"], group["custom_diskparams"]
    return [
        ("Node group", group["name"]),
        ("Node parameters", _parameters(group["ndparams"], group["custom_ndparams"])),
        (
            "Disk parameters",
            Parameters(((name, _parameters(disks[name], custom.get(name, {}))) for name in sorted(disks)), custom),
        ),
        ("Instance policy", _policy(group["ipolicy"], group["custom_ipolicy"])),
    ]


def _parameters(filled: Values, own: Values) -> Any:
    """Each with where it comes from; a kind without parameters has nothing of its own."""
    if not filled:
        return Told("default ({})", {})
    return Parameters(((name, _origin(name, filled, own)) for name in sorted(filled)), own)


def _origin(name: str, filled: Values, own: Values) -> Told:
    if name in own:
        return Told(leaf(own[name]), own[name])
    return Told(f"default ({leaf(filled[name])})", filled[name])


def _policy(filled: Values, own: Values) -> Labelled:
    own_bounds = "minmax" in own
    bounds = [_bounds(index, pair, own_bounds) for index, pair in enumerate(filled["minmax"])]
    templates = ", ".join(filled["disk-templates"])
    return [
        ("bounds specs", bounds),
        (
            "allowed disk templates",
            Told(templates if "disk-templates" in own else f"default ({templates})", filled["disk-templates"]),
        ),
        *((name, _origin(name, filled, own)) for name in ("vcpu-ratio", "spindle-ratio")),
    ]


def _bounds(index: int, pair: Values, own: bool) -> Labelled:
    lines = [(f"{bound}/{index}", _parameters(pair[bound], pair[bound] if own else {})) for bound in ("max", "min")]
    return Part(lines, pair)


def show_ispecs_cmd(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """The commands that make such groups anew, as far as their bounds of instances go: the usual instance is the cluster's."""
    commands = []
    for group in _groups(session, names):
        policy = group["ipolicy"] if options.include_defaults else group["custom_ipolicy"]
        commands.append(" ".join(["gnt-group add", *spec_options({"minmax": policy.get("minmax")}), group["name"]]))
    show(session, commands, lambda: [{"command": command} for command in commands], ["command"])
    return ExitCode.SUCCESS


INFO = Command(show_groups, MANY_GROUPS, prints=TREE)
SHOW_ISPECS_CMD = Command(
    show_ispecs_cmd,
    MANY_GROUPS,
    (switch("--include-defaults", "include_defaults", "also what comes from the cluster"),),
    prints=TABLE,
)
