"""How a command gives its result: as text, with colours where a terminal wants them, or as a document for programs."""

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ganeti_tx.cli.options import Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.tree import Labelled, tree_lines


def presented(command: Command, session: Session, options: Parsed, arguments: Sequence[str]) -> int:
    """Run a command as the options ask that its result be given; its exit status.

    @raise OptionError: the options exclude each other.
    """
    given = vars(options)
    session.color = given.get("color", "auto")
    if given.get("output_format") is not None:
        session.document = importlib.import_module("ganeti_tx.cli.documents").document_of(options)
    if given.get("watch") is not None:
        watch = importlib.import_module("ganeti_tx.cli.watch").watch
        return int(watch(session, options.watch, lambda: int(command.run(session, options, arguments))))
    status = int(command.run(session, options, arguments))
    if session.document is not None and not session.emitted and (session.jobs or session.refusals):
        session.emit(_jobs(session))
    return status


def tell_submitted(session: Session, job_id: int) -> None:
    """The job that nobody waits for."""
    if session.document is None:
        session.warn(f"JobID: {job_id}")
    else:
        session.emit(_job(job_id, None))


def _jobs(session: Session) -> Any:
    """What became of them; those that were refused have no number."""
    found = [*(_job(*each) for each in session.jobs.items()), *(_job(None, why) for why in session.refusals)]
    return found[0] if len(found) == 1 else found


def _job(job_id: int | None, error: str | None) -> dict[str, Any]:
    return {"job": job_id, "error": error}


def show(
    session: Session, lines: Iterable[str], value: Callable[[], Any], columns: Sequence[str] | None = None
) -> None:
    """Give a result: its lines to people, its value to programs; only the one that is wanted is made.

    @param columns: the keys of each row, if it has rows.
    """
    if session.document is not None:
        session.emit(value(), columns)
        return
    for line in lines:
        session.print(line)


def show_trees(session: Session, trees: Sequence[Labelled]) -> None:
    """Give nested values, a list of them to programs."""
    lines = (line for tree in trees for line in tree_lines([tree]))
    show(session, lines, lambda: value_of_tree(trees))


def show_tree(session: Session, tree: Labelled) -> None:
    """Give one nested value."""
    show(session, tree_lines(tree), lambda: value_of_tree(tree))


def value_of_tree(tree: Any) -> Any:
    """What programs get of a nested value."""
    return importlib.import_module("ganeti_tx.cli.tree_values").value_of(tree)
