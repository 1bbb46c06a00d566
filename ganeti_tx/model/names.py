"""Names that people choose for groups, networks, disks and NICs; unlike hosts' they stand in no resolver."""

from collections.abc import Collection, Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.params.kinds import to_int

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


def check_device_name(kind: str, name: str | None, others: Collection[str | None]) -> None:
    """It fits into a line, means no index, and none of the others has it; without a name all is well.

    @raise OpPrereqError: wrong_input, or already_exists for one that another has.
    """
    if name is None:
        return
    check_name(kind, name)
    if to_int(name) is not None:
        raise OpPrereqError(f"{kind} cannot be named {name!r:.100}: that is an index", ECode.INVAL)
    if name in others:
        raise OpPrereqError(f"{kind} cannot be named {name!r:.100}: another one of the instance is", ECode.NOTUNIQUE)


def check_device_names(kind: str, names: Sequence[str | None]) -> None:
    """All of an instance's. @raise OpPrereqError: one is not allowed."""
    for place, name in enumerate(names):
        check_device_name(f"{kind}/{place}", name, names[:place])
