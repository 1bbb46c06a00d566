"""The families of IP addresses: which an address is of, and which kinds of addresses nodes have."""

from socket import AF_INET, AF_INET6, AF_UNSPEC, AddressFamily

from ganeti_tx.model.ip_address import parsed


def family_of(address: str) -> AddressFamily:
    """Of an IP address."""
    return AF_INET6 if ":" in address else AF_INET


def family_of_version(ip_version: int) -> AddressFamily:
    """IP version 4 or 6 as the system calls it."""
    return AF_INET6 if ip_version == 6 else AF_INET


def version_of(family: int) -> int:
    """The IP version of a family; that of the unspecified one is 4."""
    return 6 if family == AF_INET6 else 4


def family_of_ssconf(text: str) -> AddressFamily:
    """What the simple configuration has under "primary_ip_family": 2 or 10; either family when it has neither."""
    known = {str(int(family)): family for family in (AF_INET, AF_INET6)}
    return known.get(text.strip(), AF_UNSPEC)


def family_name(family: int) -> str:
    """For messages."""
    return {int(AF_INET): "IPv4", int(AF_INET6): "IPv6"}.get(int(family), "IP")


def is_of_family(address: str, family: int) -> bool:
    """Whether an address is of a family; all are of the unspecified one."""
    return family in (AF_UNSPEC, family_of(address))


def every_address(family: AddressFamily) -> str:
    """What a server binds that listens at every address of a machine; the one of IPv6 takes IPv4 as well."""
    return "::" if family == AF_INET6 else "0.0.0.0"


def is_every_address(address: str) -> bool:
    """Whether it is what a server binds that listens at every address."""
    return address in map(every_address, (AF_INET, AF_INET6))


def loopback(family: AddressFamily) -> str:
    """A machine's address for itself."""
    return "::1" if family == AF_INET6 else "127.0.0.1"


def canonical(address: str) -> str:
    """An IP address in the one form in which two of them can be compared. @raise ValueError: it is none."""
    return str(parsed(address))


def is_address(text: str) -> bool:
    """Whether a text is an IP address of either family."""
    try:
        parsed(text)
    except ValueError:
        return False
    return True


def primary_fault(address: str, family: int) -> str | None:
    """Why an address cannot be a node's primary one, or the cluster's own; None when it can."""
    if not is_address(address):
        return f"{address!r} is no IP address"
    if not is_of_family(address, family):
        kind, wanted = family_name(family_of(address)), family_name(family)
        return f"{address} is an {kind} address, but the primary addresses of this cluster are {wanted}"
    if family == AF_INET6 and parsed(address).is_link_local:
        return f"{address} is a link-local address, which means another host on each network"
    return None


def secondary_fault(address: str) -> str | None:
    """Why an address cannot be a node's secondary one, which is IPv4 whatever the primary one is; None when it can."""
    if not is_address(address):
        return f"{address!r} is no IP address"
    if family_of(address) != AF_INET:
        return f"{address} is an IPv6 address, but secondary addresses are IPv4 in every cluster"
    return None


def missing_secondary(family: int) -> str | None:
    """Why a node without a secondary address of its own cannot be; None when its primary one is IPv4 and serves for both."""
    if family != AF_INET6:
        return None
    return "a cluster with IPv6 primary addresses needs an IPv4 secondary address of each node (--secondary-ip)"
