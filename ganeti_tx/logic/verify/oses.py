"""Whether the nodes of a group have the same OS definitions, and good ones (reference: verify.json, ENODEOS)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told, value
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.os import OsReport

finding = partial(Verdict, VerifyCode.ENODEOS)


def listed(values: Iterable[object]) -> str:
    """As Ganeti prints them."""
    return f"[{', '.join(map(str, values))}]"


#: What must be the same everywhere, as it is told.
COMPARED: tuple[tuple[str, Callable[[OsReport], str]], ...] = (
    ("OS API version", lambda report: listed(sorted(report.api_versions))),
    ("OS variants list", lambda report: listed(sorted(report.variants))),
    ("OS parameters", lambda report: listed(sorted(f"{name}: {about}" for name, about in report.parameters))),
    ("OS trusted", lambda report: str(report.trusted)),
    ("OS hypervisors", lambda report: "all" if report.hypervisors is None else listed(sorted(report.hypervisors))),
)


def by_name(reports: Sequence[OsReport]) -> dict[str, list[OsReport]]:
    """The definitions, the one that counts first."""
    found: dict[str, list[OsReport]] = {}
    for report in reports:
        found.setdefault(report.name, []).append(report)
    return found


def reference_node(scene: GroupScene, told: Told) -> Node | None:
    """With whose definitions all others are compared: the first that has told its own."""
    hosts = (node for node in scene.online if node.vm_capable)
    return next((node for node in hosts if value(told.oses.get(node.name)) is not None), None)


def judge_oses(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of each definition by itself, and beside the reference node's."""
    outcome = told.oses.get(node.name)
    if outcome is None or outcome.error is not None:
        yield finding(node.name, "node hasn't returned valid OS data")
        return
    reference = reference_node(scene, told)
    assert reference is not None
    own, theirs = by_name(outcome.get()), by_name(told.oses[reference.name].get())
    for name, reports in own.items():
        yield from judge_alone(node, name, reports)
        if reports[0].valid and node is not reference:
            yield from judge_beside(node, reports[0], reference, theirs.get(name))
    missing = sorted(set(theirs) - set(own))
    text = f"OSes present on reference node {reference.name} but missing on this node: {', '.join(missing)}"
    yield finding(node.name, text, bool(missing))


def judge_alone(node: Node, name: str, reports: Sequence[OsReport]) -> Iterator[Verdict]:
    """Whether the first counts, and is good."""
    first = reports[0]
    yield finding(node.name, f"Invalid OS {name} (located at {first.path}): {first.diagnose}", not first.valid)
    paths = ", ".join(report.path for report in reports)
    text = f"OS '{name}' has multiple entries (first one shadows the rest): {paths}"
    yield finding(node.name, text, len(reports) > 1)


def judge_beside(node: Node, report: OsReport, reference: Node, theirs: Sequence[OsReport] | None) -> Iterator[Verdict]:
    """What is different."""
    if theirs is None:
        yield finding(node.name, f"Extra OS {report.name} not present on reference node ({reference.name})")
    elif theirs[0].valid:
        for kind, told in COMPARED:
            here, there = told(report), told(theirs[0])
            text = f"{kind} for {report.name} differs from reference node {reference.name}: {here} vs. {there}"
            yield finding(node.name, text, here != there)


SUBJECTS = (Subject(judge_oses, of_hosts=True),)
