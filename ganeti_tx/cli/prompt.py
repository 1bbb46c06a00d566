"""Questions to the operator."""

from collections.abc import Sequence

from ganeti_tx.cli.failures import Declined
from ganeti_tx.cli.session import Session


def confirm(session: Session, text: str, option: str) -> None:
    """Ask whether to go on. @param option: answers beforehand. @raise Declined: the answer is no, or nobody can be asked."""
    if not session.interactive:
        raise Declined(f"{text}\nNobody can be asked here; {option} answers beforehand")
    while (answer := session.ask(f"{text} [y/N]: ").lower()) not in ("y", "yes", "n", "no", ""):
        session.warn(f"{answer!r} is no answer: type y or n")
    if answer not in ("y", "yes"):
        raise Declined("Aborted on request")


def confirm_many(session: Session, names: Sequence[str], what: str, verb: str, option: str) -> None:
    """Ask whether an operation may touch all these. @raise Declined: it may not."""
    listing = "".join(f"\n  {name}" for name in names)
    confirm(session, f"The {verb} will operate on {len(names)} {what}.\nAffected {what}:{listing}\nContinue?", option)
