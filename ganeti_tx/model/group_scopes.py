"""Who is kept to node groups by the files of the Remote API, of which nobody else reads more than that."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import frozen

from ganeti_tx.model.expiry import is_past, read_expiry
from ganeti_tx.model.line_file import entries
from ganeti_tx.model.node_files import RAPI_LDAP, RAPI_ROLES, RAPI_TOKENS, RAPI_USERS
from ganeti_tx.model.scope import Scope, read_scope


@frozen(order=True)
class Kept:
    """A user, token or role, or a group of the directory, that has a scope of its own."""

    kind: str
    name: str


#: By the name of each node group, who is kept to it.
GroupScopes = Mapping[str, Sequence[Kept]]
#: A line, cut into a name and the words of rights; None where it has none.
Cut = Callable[[str, float], tuple[str, str] | None]


def kept_text(name: str, kept: Sequence[Kept]) -> str:
    """How many are kept to a node group, for everybody to read: who they are is for who may read the files."""
    counts = Counter(each.kind for each in kept).items()
    told = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts)
    return f"{told} kept to group={name} by the Remote API (on the master 'ganeti-rapi-access scope list' tells which)"


def group_scopes(content: Mapping[str, bytes], now: float) -> GroupScopes:
    """As `kept_by_scope`, of node groups."""
    return {scope.value: kept for scope, kept in kept_by_scope(content, now).items() if scope.kind == "group"}


def kept_by_scope(content: Mapping[str, bytes], now: float) -> Mapping[Scope, Sequence[Kept]]:
    """Of the last line of each name, as far as it can be understood: of the others the Remote API tells.

    @param content: of the files, by their names
    @param now: seconds since the epoch; tokens that have ended are kept to nothing
    """
    found: dict[Scope, list[Kept]] = {}
    for file, (kind, cut) in _LINES.items():
        readable = content.get(file, b"").decode(errors="replace").encode()
        lines = dict(filter(None, (cut(line, now) for _number, line in entries(readable))))
        for name, rights in lines.items():
            for scope in dict.fromkeys(_scopes(rights)):
                found.setdefault(scope, []).append(Kept(kind, name))
    return found


def _scopes(rights: str) -> Iterator[Scope]:
    for word in rights.split(","):
        try:
            yield read_scope(word.strip())
        except ValueError:
            continue


def _of_user(line: str, _now: float) -> tuple[str, str] | None:
    name, *rest = line.split(None, 2)
    return (name, "".join(rest[1:])) if rest else None


def _of_token(line: str, now: float) -> tuple[str, str] | None:
    words = line.split(None, 3)
    try:
        return None if len(words) < 4 or is_past(read_expiry(words[2]), now) else (words[0], words[3])
    except ValueError:
        return None


def _of_role(line: str, _now: float) -> tuple[str, str] | None:
    words = line.removeprefix("@").split(None, 1)
    return (words[0], words[1]) if len(words) > 1 else None


def _of_directory(line: str, _now: float) -> tuple[str, str] | None:
    """Of a setting, "group NAME = RIGHTS", where the case of names does not count."""
    key, _, rights = line.partition("=")
    word, _, name = " ".join(key.split()).partition(" ")
    return (name.lower(), rights) if word == "group" and name else None


_LINES: Mapping[str, tuple[str, Cut]] = {
    RAPI_USERS.pattern: ("user", _of_user),
    RAPI_TOKENS.pattern: ("token", _of_token),
    RAPI_ROLES.pattern: ("role", _of_role),
    RAPI_LDAP.pattern: ("directory group", _of_directory),
}
