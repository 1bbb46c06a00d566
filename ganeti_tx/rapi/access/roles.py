"""Roles of the administrator's own: "ROLE OPTION[,OPTION...]" lines, with habits and words as in the users file."""

from collections.abc import Mapping

from ganeti_tx.model.line_file import LineError, entries
from ganeti_tx.rapi.access.rights import ADMIN, READONLY, Rights, read_rights

Roles = Mapping[str, Rights]


def parse_roles(data: bytes) -> Roles:
    """Every role by its name, without the "@". @raise LineError: a line cannot be understood."""
    roles: dict[str, Rights] = {}
    for number, line in entries(data):
        try:
            name, rights = _parse_role(line)
            if name in roles:
                raise ValueError(f"role {name!r} is there already")
        except ValueError as error:
            raise LineError(f"line {number}: {error}") from None
        roles[name] = rights
    return roles


def _parse_role(line: str) -> tuple[str, Rights]:
    name, *rest = line.removeprefix("@").split(None, 1)
    if not rest:
        raise ValueError("it gives nothing; a line is ROLE OPTION[,OPTION...]")
    if name in (ADMIN, READONLY):
        raise ValueError(f"role {name!r} is built in and cannot be changed")
    rights = read_rights(rest[0])
    others = rights.roles - {ADMIN, READONLY}
    if others:
        raise ValueError(f"role {name!r} may use the built-in roles only, not @{min(others)}")
    return name, rights
