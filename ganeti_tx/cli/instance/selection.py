"""Which instances a command works on: by name, by node, by node group, by tags, or all of the cluster."""

from collections.abc import Sequence
from typing import Any

import attrs

from ganeti_tx.cli.options import Option, constant
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.prompt import confirm_many
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ECode, OpPrereqError

CLUSTER = "cluster"
INSTANCES = "instances"
INSTANCES_BY_TAGS = "instances-by-tags"
GROUPS = "node-groups"
#: Of each mode by nodes, the fields of a node that name its instances.
_NODE_FIELDS = {"nodes": ("pinst_list", "sinst_list"), "nodes-pri": ("pinst_list",), "nodes-sec": ("sinst_list",)}
_BY_TAGS = "-by-tags"

OPTIONS: tuple[Option, ...] = (
    constant("--node", "multi_mode", "nodes", "all instances of the nodes given"),
    constant("--primary", "multi_mode", "nodes-pri", "all instances whose primary node is given"),
    constant("--secondary", "multi_mode", "nodes-sec", "all instances whose secondary node is given"),
    constant("--node-tags", "multi_mode", "nodes-by-tags", "all instances of nodes with one of the tags given"),
    constant("--pri-node-tags", "multi_mode", "nodes-pri-by-tags", "the same for primary nodes"),
    constant("--sec-node-tags", "multi_mode", "nodes-sec-by-tags", "the same for secondary nodes"),
    constant("--tags", "multi_mode", INSTANCES_BY_TAGS, "all instances with one of the tags given"),
    constant("--all", "multi_mode", CLUSTER, "all instances of the cluster"),
    constant(
        "--node-group", "multi_mode", GROUPS, "all instances whose primary node is in one of the node groups given"
    )._replace(own=True),
    constant("--instance", "multi_mode", INSTANCES, "the instances given (this is the usual way)"),
)


@attrs.frozen
class Chosen:
    """The full names of instances, and whether they were chosen as several, which are asked about and told of together."""

    names: Sequence[str]
    several: bool


def chosen_instances(session: Session, options: Parsed, words: Sequence[str], verb: str) -> Chosen:
    """The instances, after a question when there are several and --force-multiple was not given.

    @raise OpPrereqError, UsageError: as `selected_instances`. @raise Declined: the operator said no.
    """
    chosen = selected_instances(session, options, words)
    if chosen.several and not options.force_multi:
        confirm_many(session, chosen.names, "instances", verb, "--force-multiple")
    return chosen


def selected_instances(session: Session, options: Parsed, words: Sequence[str]) -> Chosen:
    """The instances, without a question.

    @raise UsageError: the words do not fit the mode. @raise OpPrereqError: no instance was selected.
    """
    mode = options.multi_mode or INSTANCES
    names = _names(session, mode, words)
    if not names:
        unknown = "".join(f": instance '{word}' not known" for word in words[:1]) if mode == INSTANCES else ""
        raise OpPrereqError(f"Selection filter does not match any instances{unknown}", ECode.INVAL)
    return Chosen(names, mode != INSTANCES or len(names) > 1)


def _names(session: Session, mode: str, words: Sequence[str]) -> list[str]:
    if mode == CLUSTER:
        if words:
            raise UsageError(f"--all takes no arguments, got {words[0]!r}")
        return _instances(session, None)
    if not words:
        what = next(word for word in ("tag", "node group", "node", "instance") if word.replace(" ", "-") in mode)
        raise OpPrereqError(f"No {what} names passed; --all selects all instances", ECode.INVAL)
    if mode == INSTANCES:
        return _named(session, words)
    if mode == INSTANCES_BY_TAGS:
        return _instances(session, _any_of("=[]", "tags", words))
    if mode == GROUPS:
        groups = session.client.query("group", ["name"], _any_of("==", "name", words))["data"]
        return _instances(session, _any_of("==", "pnode.group", [name for ((_status, name),) in groups]))
    by_tags = mode.endswith(_BY_TAGS)
    chosen = _any_of("=[]", "tags", words) if by_tags else _any_of("==", "name", words)
    return _of_nodes(session, _NODE_FIELDS[mode.removesuffix(_BY_TAGS)], chosen)


def _named(session: Session, words: Sequence[str]) -> list[str]:
    """The full names of those that there are; words that name none follow, whose jobs say so, unless there is none at all."""
    found = session.client.query_instances(list(dict.fromkeys(words)), ["name", "uuid"], False)
    unknown = [word for word in dict.fromkeys(words) if not any(_names_it(word, *each) for each in found)]
    return [*(name for name, _uuid in found), *unknown] if found else []


def _names_it(word: str, name: str, uuid: str) -> bool:
    return word == uuid or f"{name}.".lower().startswith(f"{word}.".lower())


def _any_of(operator: str, field: str, values: Sequence[str]) -> list[Any]:
    return ["|", *([operator, field, value] for value in values)]


def _instances(session: Session, chosen: list[Any] | None) -> list[str]:
    return [name for ((_status, name),) in session.client.query("instance", ["name"], chosen)["data"]]


def _of_nodes(session: Session, fields: Sequence[str], chosen: list[Any]) -> list[str]:
    rows = session.client.query("node", fields, chosen)["data"]
    return sorted({name for row in rows for _status, names in row for name in names or ()})
