"""What the settings of a network must be, whether it is made or changed; a fault is the request's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Network, IPv6Network

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import AddressPoolError, ECode, OpPrereqError
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.ip_address import parsed_range6, parsed_v6
from ganeti_tx.model.names import check_name
from ganeti_tx.model.network import Network
from ganeti_tx.model.opcodes.addresses import AddressText
from ganeti_tx.model.settings.checks import mac_prefix


async def check_free(config: IConfig, name: str) -> None:
    """@raise OpPrereqError: it cannot be a name, or a network has it; upper and lower case are the same."""
    check_name("network", name)
    for held in await config.networks():
        if name.lower() == held.name.lower():
            raise OpPrereqError(
                f"Desired network name '{name}' already exists as a network (UUID: {held.uuid})", ECode.EXISTS
            )


@contextmanager
def of_pool(network: Network) -> Iterator[None]:
    """@raise OpPrereqError: what is asked of the network's pool cannot be."""
    try:
        yield
    except AddressPoolError as error:
        raise OpPrereqError(f"network {network.name}: {error}", ECode.INVAL) from None


def as_text(given: AddressText | None) -> str | None:
    """An address of a request as the configuration keeps it."""
    return None if given is None else str(given)


def check_range(kind: Callable[..., IPv4Network | IPv6Network], text: str) -> None:
    """@raise OpPrereqError: the network's address has bits that are an address's in it."""
    try:
        kind(text)
    except ValueError as error:  # such as "10.7.0.1/24 has host bits set"
        raise OpPrereqError(
            f"not a network: {error}; as network it is {kind(text, strict=False)}", ECode.INVAL
        ) from None


def check_prefix(given: str | None) -> str | None:
    """The first half of the MAC addresses in it, in lower case. @raise OpPrereqError: it is none."""
    return None if given is None else mac_prefix("mac_prefix", given)


def lies_in(gateway6: str, network6: str) -> bool:
    """Whether an address is one of an IPv6 range."""
    return parsed_v6(gateway6) in parsed_range6(network6)


def check_v6(network6: str | None, gateway6: str | None) -> None:
    """@raise OpPrereqError: the range is none, or the gateway is not in it."""
    if network6 is not None:
        check_range(parsed_range6, network6)
    if gateway6 is None:
        return
    if network6 is None:
        raise OpPrereqError(f"gateway6 {gateway6} needs network6, the IPv6 range that it is in", ECode.INVAL)
    if not lies_in(gateway6, network6):
        raise OpPrereqError(f"{network6} does not contain gateway6 {gateway6}", ECode.INVAL)


def check_inside(pool: AddressPool, address: str, what: str) -> None:
    """@raise OpPrereqError: an address is not in the network."""
    if not pool.holds(address):
        raise OpPrereqError(f"{what} {address}: {pool.range()} does not contain {address}", ECode.INVAL)
