"""The name that an instance is to have, and the address that the name stands for."""

from collections.abc import Callable

from ganeti_tx.errors import ECode, OpPrereqError, ResolverError
from ganeti_tx.logic.unit import Resolve
from ganeti_tx.model.host_name import host_name_fault
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate

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
            f"The given name ({typed}) does not resolve: {error.reason}; --no-name-check (name_check=false) does without",
            ECode.RESOLVER,
        ) from None
    name = check_name(full)
    if name != typed:
        info(f"- INFO: Resolved given name '{typed}' to '{name}'")
    return name, address


def check_name(name: str) -> str:
    """A name in lower case. @raise OpPrereqError: no host could be called so."""
    lower = name.lower()
    if (fault := host_name_fault(name)) is not None:
        raise OpPrereqError(fault, ECode.INVAL)
    return lower
