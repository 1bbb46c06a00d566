"""A further line behind an error that names a thing which is not there: what was probably meant.

The lines of the error stay Ganeti's, since scripts look for them. Only the commands on the master add this, which may read
all names anyway; other clients, whose rights may not reach so far, get the error alone.
"""

import re
from collections.abc import Iterable, Sequence

from ganeti_tx.cli.completion.arguments import resource_of
from ganeti_tx.cli.completion.names import ClusterNames
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.nearest import did_you_mean

#: So much of an error is looked at.
_READ = 2000
#: How errors speak of what is not there, and how its kind is called where it can be asked for.
_UNKNOWN = re.compile(
    r"(?i)\b(instance|node ?group|node|group|network|OS|filter)(?: name| rule)? (?:'([^']+)'|(\S+)) (?:is )?not (?:known|found)\b"
)
_KINDS = {"instance": "instance", "node group": "group", "nodegroup": "group", "node": "node", "group": "group",
          "network": "network", "os": "os", "filter": "filter"}  # fmt: skip
#: By what things are called that have no name.
_CALLED = {"filter": "uuid"}
_FIELD = re.compile(r"unknown field '([^']+)' in filter")
#: An error that lists what is allowed.
_LISTED = re.compile(
    r"(?:'(?P<quoted>[^']+)'|\.(?P<key>[\w-]+): unknown|: (?P<plain>[\w/-]+) is not known).*?"
    r"(?:allowed are|allowed:|known are|known [\w -]+ parameters are|there are|a job has|choose from) (?P<words>.+)"
)
_EXPECTED = re.compile(r'expected one of (.+), got "([^"]+)"')


def hint(session: Session, text: str) -> str:
    """What may have been meant; empty if that cannot be told."""
    text = text[:_READ]
    if unknown := _UNKNOWN.search(text):
        return _sentence(unknown[2] or unknown[3], _names(session, _KINDS[unknown[1].lower()]))
    if field := _FIELD.search(text):
        return _sentence(field[1], _fields(session))
    if choice := _EXPECTED.search(text):
        return _sentence(choice[2], choice[1].split(", "))
    if listed := _LISTED.search(text):
        typed = listed["quoted"] or listed["key"] or listed["plain"]
        return _sentence(typed, [word.strip("' .") for word in listed["words"].split(",")])
    return ""


def hint_of_fields(session: Session, unknown: Sequence[str]) -> str:
    """The same for fields that the server did not know."""
    known = _fields(session)
    return " ".join(filter(None, (_sentence(name, known) for name in unknown)))


def _sentence(typed: str, known: Iterable[str]) -> str:
    question = did_you_mean(typed, known)
    return f"{question[0].upper()}{question[1:]}" if question else ""


def _names(session: Session, kind: str) -> list[str]:
    """All of a kind; none when they cannot be had, since there is an error to show already."""
    if kind == "os":
        with_variants = [each.word for each in ClusterNames(session.environ).of_kind(kind)]
        return list(dict.fromkeys(word for name in with_variants for word in (name, name.partition("+")[0])))
    try:
        return [str(row[0][1]) for row in session.client.query(kind, [_CALLED.get(kind, "name")], None)["data"]]
    except (GanetiError, OSError):
        return []


def _fields(session: Session) -> list[str]:
    resource = resource_of(session.program, session.command)
    try:
        return [each["name"] for each in session.client.query_fields(resource, None)["fields"]] if resource else []
    except (GanetiError, OSError):
        return []
