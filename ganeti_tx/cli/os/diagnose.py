"""gnt-os diagnose: one job for each node group, shown as one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from ganeti_tx.cli.options import PRIORITY, TREE, Argument, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.progress import follow
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, prepared
from ganeti_tx.errors import ExitCode, GanetiError

_FIELDS = ("name", "hidden", "blacklisted", "node_status", "node_hypervisors")
#: Versions of the OS interface from which on definitions have these (Ganeti 3.0 OS interface table).
API_WITH_VARIANTS, API_WITH_PARAMETERS = 15, 20
#: What a node found, as OP_OS_DIAGNOSE answers: path, valid, message, variants, parameters, API versions, trusted.
Finding = Sequence[Any]
_FOUND = ("path", "valid", "message", "variants", "parameters", "api_versions", "trusted")


@attrs.define
class FoundOs:
    """What all jobs together tell of one OS."""

    name: str
    hidden: bool
    blacklisted: bool
    node_status: dict[str, Sequence[Finding]] = attrs.Factory(dict)
    #: By node, where it has a good definition; None: it is for all of them.
    hypervisors: dict[str, Sequence[str] | None] = attrs.Factory(dict)

    @property
    def counting(self) -> list[Finding]:
        """The definition that counts on each node that has one: the first found."""
        return [found[0] for found in self.node_status.values() if found]

    @property
    def state(self) -> str:
        """Of all nodes together."""
        good = [valid for _path, valid, *_rest in self.counting]
        if len(good) == len(self.node_status) and all(good):
            return "valid"
        return "partial valid" if any(good) else "invalid"

    @property
    def variants(self) -> list[str]:
        """Those that every good definition has."""
        sets = [set(variants) for _path, valid, _message, variants, *_rest in self.counting if valid]
        return sorted(set.intersection(*sets)) if sets else []


def diagnose(session: Session, options: Parsed, groups: Sequence[str]) -> int:
    """Each OS definition and what is wrong with it on which node; failure when one is not valid."""
    oses = merged(*_ask(session, options, groups))
    show(session, (line for os in oses for line in _lines(os)), lambda: [_value(os) for os in oses])
    return ExitCode.SUCCESS if all(os.state == "valid" for os in oses) else ExitCode.FAILURE


def _lines(os: FoundOs) -> Iterator[str]:
    marks = [f" [{word}]" for word, set in (("hidden", os.hidden), ("blacklisted", os.blacklisted)) if set]
    yield f"OS: {os.name} [global status: {os.state}]{''.join(marks)}"
    if os.variants:
        yield f"  Variants: [{', '.join(os.variants)}]"
    yield from _node_lines(os)
    yield ""


def _value(os: FoundOs) -> dict[str, Any]:
    """One OS for programs: what each node found, the first of which counts."""
    return {
        "name": os.name,
        "status": os.state,
        "hidden": os.hidden,
        "blacklisted": os.blacklisted,
        "variants": os.variants,
        "nodes": {
            node: [dict(zip(_FOUND, finding, strict=True)) for finding in found]
            for node, found in os.node_status.items()
        },
        "hypervisors": os.hypervisors,
    }


def _ask(session: Session, options: Parsed, groups: Sequence[str]) -> tuple[list[Any], set[str]]:
    """The rows of all groups' jobs, and the nodes of groups that have no OS at all.

    @raise GanetiError: a job was refused or has failed.
    """
    members = _members(session)
    names = list(groups) or sorted(members)
    ops = [opcode("OP_OS_DIAGNOSE", output_fields=list(_FIELDS), group_name=name) for name in names]
    answers = session.client.submit_many_jobs([[prepared(session, options, op)] for op in ops])
    if refused := [str(answer) for accepted, answer in answers if not accepted]:
        raise GanetiError(refused[0])
    found = {name: follow(session, job_id)[0] for name, (_accepted, job_id) in zip(names, answers, strict=True)}
    bare = {node for name, rows in found.items() if not rows for node in members.get(name, ())}
    return [row for rows in found.values() for row in rows], bare


def _members(session: Session) -> dict[str, list[str]]:
    """The nodes of each group that can be asked, by the group's name."""
    members: dict[str, list[str]] = {}
    answer = session.client.query("node", ["name", "group", "vm_capable", "offline"], None)
    for row in answer["data"]:
        name, group, vm_capable, offline = (value for _status, value in row)
        members.setdefault(group, []).extend([name] if vm_capable and not offline else [])
    return members


def merged(rows: Iterable[Sequence[Any]], bare: Iterable[str] = ()) -> list[FoundOs]:
    """All OSes by name; a node of which nothing is told of an OS that another one has does not have it."""
    oses: dict[str, FoundOs] = {}
    for name, hidden, blacklisted, node_status, hypervisors in rows:
        os = oses.setdefault(name, FoundOs(name, hidden, blacklisted))
        os.node_status.update(node_status)
        os.hypervisors.update(hypervisors)
    nodes = sorted({*bare, *(node for os in oses.values() for node in os.node_status)})
    for os in oses.values():
        os.node_status = {node: os.node_status.get(node, ()) for node in nodes}
    return [oses[name] for name in sorted(oses)]


def _node_lines(os: FoundOs) -> Iterator[str]:
    """The first definition found on a node counts; those further down the search path are hidden by it."""
    for node, found in os.node_status.items():
        if not found:
            yield f"  Node: {node}, status: OS not found"
            continue
        first, *hidden = found
        yield f"  Node: {node}, status: {_finding(os.hypervisors.get(node), *first)}"
        for path, *_rest in hidden:
            yield f"    hidden by it: {path}"


def _finding(
    hypervisors: Sequence[str] | None,
    path: str,
    valid: bool,
    message: str,
    variants: Sequence[str],
    parameters: Sequence[Sequence[str]],
    versions: Sequence[int],
    trusted: bool,
) -> str:
    """What one node found; variants and parameters only where the definition's version of the API knows them."""
    newest = max(versions, default=0)
    marks = [
        _several("API versions", versions, "no API versions declared"),
        *([_several("variants", variants)] if newest >= API_WITH_VARIANTS else []),
        *([_several("parameters", [name for name, *_help in parameters])] if newest >= API_WITH_PARAMETERS else []),
        *([_several("hypervisors", hypervisors)] if hypervisors is not None else []),
        "[trusted]" if trusted else "[untrusted]",
    ]
    return f"{'valid' if valid else f'invalid - {message}'} (path: {path}) {' '.join(marks)}"


def _several(label: str, values: Sequence[object], none: str = "") -> str:
    return f"[{label}: {', '.join(map(str, values))}]" if values else f"[{none or f'no {label}'}]"


DIAGNOSE = Command(diagnose, (Argument("group"),), (PRIORITY,), prints=TREE)
