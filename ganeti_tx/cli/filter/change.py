"""gnt-filter add, replace and delete."""

from collections.abc import Sequence

from ganeti_tx.cli.filter.manual import RULES
from ganeti_tx.cli.options import ONE_FILTER, TABLE, Command, Option
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import reason_trail
from ganeti_tx.errors import ExitCode


def add(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Add a rule and print its uuid."""
    return _put(session, options, None)


def replace(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Put a rule in place of another, or add it under the uuid; print the uuid."""
    return _put(session, options, words[0])


def _put(session: Session, options: Parsed, uuid: str | None) -> int:
    if options.priority < 0:
        raise UsageError(f"invalid priority {options.priority}: give a number from 0")
    if not isinstance(options.predicates, list):
        raise UsageError('--predicates is no JSON list; give one such as \'[["jobid", [">", "id", 7]]]\'')
    trail = reason_trail(session, options)
    put = session.client.replace_filter(uuid, options.priority, options.predicates, options.action, trail)
    show(session, [put], lambda: {"uuid": put}, ["uuid"])
    return ExitCode.SUCCESS


def delete(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Delete a rule."""
    session.client.delete_filter(words[0])
    return ExitCode.SUCCESS


RULE = (
    Option(("--priority",), "priority", "rules of lower priority are asked first, from 0", "int", 0),
    Option(("--predicates",), "predicates", "what the jobs are like that the rule is about, as JSON", "json", []),
    Option(
        ("--action",),
        "action",
        "what becomes of them: ACCEPT, CONTINUE, PAUSE, REJECT or 'RATE_LIMIT N'",
        "filteraction",
        "CONTINUE",
    ),
)
ADD = Command(add, (), RULE, manual=RULES, prints=TABLE)
REPLACE = Command(replace, ONE_FILTER, RULE, manual=RULES, prints=TABLE)
DELETE = Command(delete, ONE_FILTER)
