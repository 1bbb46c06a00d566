"""The users file of Ganeti: "USER PASSWORD [OPTION[,OPTION...]]" lines (Ganeti 3.0 RAPI table, auth)."""

from collections.abc import Mapping

from attrs import frozen

from ganeti_tx.model.line_file import LineError, entries
from ganeti_tx.rapi.access.passwords import Password, read_password
from ganeti_tx.rapi.access.rights import Rights, read_rights

Users = Mapping[str, "User"]


@frozen
class User:
    """Somebody with a password of his own."""

    name: str
    password: Password
    rights: Rights


def parse_users(data: bytes) -> Users:
    """Everybody in a users file by name; of two lines for one user the last counts.

    @raise LineError: a line cannot be understood.
    """
    users = {}
    for number, line in entries(data):
        try:
            user = _parse_user(line)
        except ValueError as error:
            raise LineError(f"line {number}: {error}") from None
        users[user.name] = user
    return users


def _parse_user(line: str) -> User:
    words = line.split(None, 2)
    if len(words) < 2:
        raise ValueError("the password is missing; a line is USER PASSWORD [OPTION[,OPTION...]]")
    if ":" in words[0]:
        raise ValueError("a user name has no colon in it, as clients could not send it")
    return User(words[0], read_password(words[1]), _read_options(words[2] if len(words) > 2 else ""))


def _read_options(text: str) -> Rights:
    """The rights in the last column, which no error quotes: it may be the end of a password with a space in it."""
    try:
        return read_rights(text)
    except ValueError:
        raise ValueError(
            "an option cannot be understood; after USER PASSWORD come read, write, @ROLE, RESOURCE[:METHOD], tag=TAG or "
            "group=NAME with commas between"
        ) from None
