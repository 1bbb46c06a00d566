"""The name that an instance is to have."""

from collections.abc import Callable

from ganeti_tx.errors import ECode, OpPrereqError, ResolverError
from ganeti_tx.logic.instance.create_plan import check_name
from ganeti_tx.logic.unit import Resolve


async def resolved_name(given: str, resolve: Resolve, info: Callable[[str], None]) -> tuple[str, str]:
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
