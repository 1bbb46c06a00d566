"""The name that an instance is to have, and the address that the name stands for."""

import re
from collections.abc import Callable

from ganeti_tx.errors import ECode, OpPrereqError, ResolverError
from ganeti_tx.logic.unit import Resolve
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate

#: Words separated by dots, as RFC 1123 has host names.
HOST_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")

Info = Callable[[str], None]


async def new_name(op: OpInstanceCreate, resolve: Resolve, info: Info) -> tuple[str, str | None]:
    """The full name of a new instance, and its address if the name is to be checked. @raise OpPrereqError: it cannot be."""
    return (
        await resolved_name(op.instance_name, resolve, info) if op.name_check else (check_name(op.instance_name), None)
    )


async def resolved_name(given: str, resolve: Resolve, info: Info) -> tuple[str, str]:
    """The full name of what was typed, and its address. @raise OpPrereqError: no host could be or is called so."""
    typed = check_name(given)
    try:
        full, address = await resolve(typed)
    except ResolverError as error:
        raise OpPrereqError(
            f"the name of instance {typed} does not resolve ({error}); --no-name-check (name_check=false) does without",
            ECode.RESOLVER,
        ) from None
    name = check_name(full)
    if name != typed:
        info(f"- INFO: Resolved given name '{typed}' to '{name}'")
    return name, address


def check_name(name: str) -> str:
    """A name in lower case. @raise OpPrereqError: no host could be called so."""
    lower = name.lower()
    if not HOST_NAME.fullmatch(lower):
        raise OpPrereqError(
            f"not a host name: {name[:260]!r}; allowed are letters, digits, - and . between", ECode.INVAL
        )
    return lower
