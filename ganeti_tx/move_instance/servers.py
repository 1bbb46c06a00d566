"""The two Remote APIs."""

from pathlib import Path

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.move_instance.command_words import Place
from ganeti_tx.rapi_client import Login, Server, authority_file
from ganeti_tx.rapi_client.trust import SYSTEM

#: Bytes of a password file.
MOST = 64 * 1024


def server_of(place: Place) -> Server:
    """@raise GanetiError: a file cannot be read, or something that was typed cannot be."""
    trust = SYSTEM if place.authority is None else authority_file(place.authority)
    credentials = None if place.user is None else Login(place.user, password_in(place))
    if place.user is None and place.password is not None:
        raise OpPrereqError(f"{place.password} has a password, but no user is given for {place.host}", ECode.INVAL)
    return Server(place.host, place.port, trust=trust, credentials=credentials)


def password_in(place: Place) -> str:
    """The first line of the file. @raise OpPrereqError: there is none."""
    if place.password is None:
        raise OpPrereqError(
            f"there is no password for user {place.user} of {place.host}: give a file that has it", ECode.INVAL
        )
    return first_line(place.password)


def first_line(path: Path) -> str:
    """@raise OpPrereqError: it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MOST).decode().split("\n", 1)[0].rstrip("\r")
    except OSError as error:
        raise OpPrereqError(f"password file {path}: {error.strerror}", ECode.ENVIRON) from None
    except UnicodeDecodeError:
        raise OpPrereqError(f"password file {path}: it is no text", ECode.ENVIRON) from None
