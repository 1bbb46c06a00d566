"""Which nodes the operator means."""

from collections.abc import Iterable, Sequence

from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ECode, OpPrereqError


def full_name(given: str, names: Iterable[str]) -> str:
    """The node of a name, or of its first part where that is nobody else's. @raise OpPrereqError: there is none, or several."""
    known = list(names)
    found = [name for name in known if name == given] or [name for name in known if name.startswith(f"{given}.")]
    if len(found) != 1:
        raise OpPrereqError(f"Node name {given} {'is ambiguous' if found else 'not found'}", ECode.NOENT)
    return found[0]


def full_names(session: Session, given: Sequence[str]) -> list[str]:
    """Each once, in the order in which they were given. @raise OpPrereqError: one is not known."""
    known = [row[0][1] for row in session.client.query("node", ["name"], None)["data"]]
    return list(dict.fromkeys(full_name(name, known) for name in given))


def of_group(session: Session, given: str) -> tuple[str, list[str]]:
    """A group's name, and the names of its nodes. @raise OpPrereqError: there is no such group."""
    chosen = ["|", ["==", "name", given], ["==", "uuid", given]]
    rows = session.client.query("group", ["name", "node_list"], chosen)["data"]
    if not rows:
        raise OpPrereqError(f"Node group name {given} not found", ECode.NOENT)
    [[(_, name), (_, members)]] = rows
    return str(name), sorted(members or ())
