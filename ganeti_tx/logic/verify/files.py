"""Whether the files that nodes have alike are there, and the same: by their digests, told in Ganeti's words."""

from collections.abc import Iterator, Mapping, Sequence

from ganeti_tx.model.node import Node
from ganeti_tx.model.node_files import COMPARED, NodeFile

#: The digest of each file that a node has, by its path.
Digests = Mapping[str, str]


def file_faults(nodes: Sequence[Node], master: str, told: Mapping[str, Digests]) -> list[str]:
    """What is wrong with each file.

    @param master: the master's name. @param told: what each node that answered has, the master among them.
    """
    return [
        fault
        for file in COMPARED
        for fault in _faults(file, [each for each in nodes if each.name in told], master, told)
    ]


def _faults(file: NodeFile, nodes: Sequence[Node], master: str, told: Mapping[str, Digests]) -> Iterator[str]:
    holders = [node.name for node in nodes if file.is_for(candidate=node.master_candidate)]
    having = [node.name for node in nodes if file.path in told[node.name]]
    missing = sorted(set(holders) - set(having))
    if master in having and missing:
        yield f"File {file.path} is missing from node(s) {', '.join(missing)}"
    elif missing and set(holders) & set(having):  # the master sends to nobody what it does not have
        lacking = ", ".join(missing)
        yield f"File {file.path} is optional, but it must exist on all or no nodes (not found on {lacking})"
    if surplus := sorted(set(having) - set(holders)):
        yield f"File {file.path} should not exist on node(s) {', '.join(surplus)}"
    variants: dict[str, list[str]] = {}
    for name in sorted(having):
        variants.setdefault(told[name][file.path], []).append(name)
    if len(variants) > 1:
        each = (f"variant {number} on {', '.join(names)}" for number, names in enumerate(variants.values(), 1))
        yield f"File {file.path} found with {len(variants)} different checksums ({'; '.join(each)})"
