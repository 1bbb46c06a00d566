"""Arguments: names of the kind that a command declares, or that is known of the program."""

from collections.abc import Sequence

from ganeti_tx.cli.completion.names import INames
from ganeti_tx.cli.completion.offer import Candidate, Offer, begun, words
from ganeti_tx.cli.options import ONE_FILE, Argument
from ganeti_tx.cli.tag_kinds import CLUSTER, kind_of

_NAMES = frozenset({"filter", "group", "instance", "network", "node", "os"})
#: Kinds of arguments that the shell knows best.
_OF_SHELL = frozenset({"command", ONE_FILE[0].kind})
#: Commands that make what they are given a name for, so that none that is there fits.
_NEW = frozenset({("gnt-group", "add"), ("gnt-network", "add"), ("gnt-node", "group-add"), ("gnt-backup", "import")})
#: What commands take of which the declaration says only that it is a word.
_WORDS = {("gnt-backup", "remove"): "instance", ("gnt-cluster", "epo"): "node"}
#: Commands that are only about jobs that have not ended.
_OF_RUNNING = frozenset({"cancel", "change-priority", "wait", "watch"})
#: Whose fields a command is about, where it is not the program's noun.
_RESOURCES = {
    ("gnt-debug", "locks"): "lock",
    ("gnt-node", "group-list"): "group",
    ("gnt-node", "list-storage"): "",
    ("gnt-node", "volumes"): "",
}


def resource_of(program: str, command: str) -> str:
    """Whose fields -o and list-fields mean; empty if they are not a query's."""
    noun = program.removeprefix("gnt-")
    return _RESOURCES.get((program, command), {"backup": "export"}.get(noun, noun))


def argument_offer(
    program: str, command: str, declared: Sequence[Argument], before: Sequence[str], typed: str, names: INames
) -> Offer:
    """What may stand for the next argument. @param before: the arguments that stand already."""
    wanted = _at(declared, len(before))
    if wanted is None:
        return Offer()
    if wanted.choices:
        return begun(words(wanted.choices), typed)
    if wanted.kind in _OF_SHELL:
        return Offer(files=True)
    had = set(before)
    found = () if _is_new(program, command, before) else _names(program, command, wanted, before, names)
    return begun(Offer(tuple(each for each in found if each.word not in had)), typed)


def _at(declared: Sequence[Argument], place: int) -> Argument | None:
    """The argument at a place."""
    for argument in declared:
        if argument.most is None or place < argument.most:
            return argument
        place -= argument.most
    return None


def _is_new(program: str, command: str, before: Sequence[str]) -> bool:
    return (program, command) in _NEW or (command.endswith("rename") and bool(before))


def _names(program: str, command: str, wanted: Argument, before: Sequence[str], names: INames) -> Sequence[Candidate]:
    noun = program.removeprefix("gnt-")
    if command == "list-fields":
        return names.fields(resource_of(program, command))
    if command == "remove-tags" and (wanted.kind == "tag" or noun == CLUSTER):
        return names.tags(kind_of(noun), before[0] if noun != CLUSTER else "")
    if wanted.kind == "jobid":
        return names.of_kind("running" if command in _OF_RUNNING else "job")
    kind = wanted.kind if wanted.kind in _NAMES else _WORDS.get((program, command))
    if wanted.kind == "name" and noun in _NAMES:
        kind = noun
    return names.of_kind(kind) if kind else ()
