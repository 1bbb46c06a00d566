"""Questions to the operator, as Ganeti asks them: the text, the keys with the usual one in brackets, and ? for what they mean."""

import textwrap
from collections.abc import Mapping, Sequence

from ganeti_tx.cli.failures import Declined
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode

WIDTH = 70
YES, NO, HELP = "y", "n", "?"
#: Words for keys.
SPELT = {"yes": YES, "no": NO}
#: How commands end whose question is not answered with yes, as Ganeti's do; all others with a failure.
DECLINED = {
    ("gnt-job", "cancel"): ExitCode.CONFIRMATION,
    ("gnt-job", "change-priority"): ExitCode.CONFIRMATION,
    ("gnt-node", "evacuate"): ExitCode.CONFIRMATION,
    ("gnt-node", "failover"): ExitCode.USAGE,
    ("gnt-node", "migrate"): ExitCode.CONFIRMATION,
    ("gnt-node", "powercycle"): ExitCode.USAGE,
}


def choose(session: Session, text: str, choices: Mapping[str, str], default: str, option: str) -> str:
    """The key that was chosen, of those that are given with what they mean.

    @param option: answers beforehand. @raise Declined: nobody can be asked.
    """
    if not session.interactive:
        raise _declined(session, f"{text}\nNobody can be asked here; {option} answers beforehand")
    keys = "/".join(f"[{key}]" if key == default else key for key in choices)
    question = "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="") for line in text.split("\n"))
    while True:
        typed = session.ask(f"{question}\n{keys}/{HELP}: ").lower() or default
        answer = SPELT.get(typed, typed)
        if answer in choices:
            return answer
        if answer == HELP:
            session.warn("".join(f" {key} - {meaning}\n" for key, meaning in choices.items()))


def confirm(session: Session, text: str, option: str) -> None:
    """Ask whether to go on. @param option: answers beforehand. @raise Declined: the answer is no, or nobody can be asked."""
    _agreed(session, text, option, {YES: "Perform the operation", NO: "Do not perform the operation"})


def confirm_many(session: Session, names: Sequence[str], what: str, verb: str, option: str, also: str = "") -> None:
    """Ask whether an operation may touch all these. @param also: what else is to be known. @raise Declined: it may not."""
    listing = "".join(f"\n  {name}" for name in names)
    known = f"{also}\n" if also else ""
    text = (
        f"The {verb} will operate on {len(names)} {what}.\n{known}Do you want to continue?\nAffected {what}:{listing}"
    )
    _agreed(session, text, option, {YES: f"Yes, execute the {verb}", NO: f"No, abort the {verb}"})


def _agreed(session: Session, text: str, option: str, choices: Mapping[str, str]) -> None:
    if choose(session, text, choices, NO, option) != YES:
        raise _declined(session)


def _declined(session: Session, text: str = "") -> Declined:
    """Whoever has said no need not be told so."""
    return Declined(text, DECLINED.get((session.program, session.command), ExitCode.FAILURE))
