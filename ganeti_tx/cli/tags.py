"""list-tags, add-tags and remove-tags of all that has tags; the program tells the kind."""

from collections.abc import Callable, Sequence

from ganeti_tx.cli.options import MANY_WORDS, ONE_WORD, PRIORITY, SUBMITTING, TABLE, TAGS_SOURCE, Argument, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.cli.tag_kinds import CLUSTER, kind_of
from ganeti_tx.cli.text_files import read_text
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError


def _kind(session: Session) -> str:
    return kind_of(session.program.removeprefix("gnt-"))


def _named(session: Session, words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The object's name, empty for the cluster, and the words behind it."""
    return ("", words) if _kind(session) == CLUSTER else (words[0], words[1:])


def list_tags(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The tags, sorted, one a line."""
    name, _rest = _named(session, words)
    tags = sorted(session.client.query_tags(_kind(session), name))
    show(session, tags, lambda: [{"tag": tag} for tag in tags], ["tag"])
    return ExitCode.SUCCESS


def _change(op_id: str) -> Callable[[Session, Parsed, Sequence[str]], int]:
    done = "added" if op_id == "OP_TAGS_SET" else "removed"

    def change(session: Session, options: Parsed, words: Sequence[str]) -> int:
        """Submit the change of the tags given and read from a file."""
        name, typed = _named(session, words)
        tags = [*typed, *_tags_from(session, options.tags_source)]
        if not tags:
            raise OpPrereqError(
                f"No tags to be {done}: none were given, neither as arguments nor with --from", ECode.INVAL
            )
        run_opcode(session, options, opcode(op_id, kind=_kind(session), name=name or None, tags=tags))
        return ExitCode.SUCCESS

    return change


def search(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Each tag of the cluster that a pattern is found in, with its object's path; failure when there is none."""
    found = run_opcode(session, options, opcode("OP_TAGS_SEARCH", pattern=words[0]))
    rows = sorted(found)
    lines = (f"{path} {tag}" for path, tag in rows)
    show(session, lines, lambda: [{"path": path, "tag": tag} for path, tag in rows], ["path", "tag"])
    return ExitCode.SUCCESS if found else ExitCode.FAILURE


def _tags_from(session: Session, source: str | None) -> list[str]:
    if source is None:
        return []
    return [line.strip() for line in read_text(source, session.stdin).splitlines() if line.strip()]


_CHANGING = (TAGS_SOURCE, PRIORITY, *SUBMITTING)
_ONE_NAMED = (Argument("name", 1, 1),)
_NAME_AND_TAGS = (*_ONE_NAMED, Argument("tag"))

SEARCH = Command(search, ONE_WORD, (PRIORITY,), prints=TABLE)
LIST_OF_CLUSTER = Command(list_tags, prints=TABLE)
ADD_TO_CLUSTER = Command(_change("OP_TAGS_SET"), MANY_WORDS, _CHANGING)
REMOVE_FROM_CLUSTER = Command(_change("OP_TAGS_DEL"), MANY_WORDS, _CHANGING)
LIST_OF_NAMED = Command(list_tags, _ONE_NAMED, prints=TABLE)
ADD_TO_NAMED = Command(_change("OP_TAGS_SET"), _NAME_AND_TAGS, _CHANGING)
REMOVE_FROM_NAMED = Command(_change("OP_TAGS_DEL"), _NAME_AND_TAGS, _CHANGING)
