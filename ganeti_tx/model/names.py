"""Names that people choose for groups and networks; unlike hosts' they stand in no resolver."""

from ganeti_tx.errors import ECode, OpPrereqError

MAX_NAME_LENGTH = 255


def check_name(kind: str, name: str) -> None:
    """It fits into a line of text, as files of the cluster have one for each.

    @raise OpPrereqError: wrong_input.
    """
    if len(name) > MAX_NAME_LENGTH:
        raise OpPrereqError(
            f"{kind} name {name[:20]!r}... is too long: {len(name)} characters, at most {MAX_NAME_LENGTH}", ECode.INVAL
        )
    if not name.isprintable() or name != name.strip() or not name:
        raise OpPrereqError(
            f"{kind} name {name!r}: only printable characters are allowed, and no spaces around them", ECode.INVAL
        )
