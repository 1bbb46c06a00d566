"""What must be true of the network before a cluster is made on it, or a node added to it."""

from pathlib import Path
from socket import AddressFamily

from ganeti_tx.bootstrap.problems import Problems, check_address
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.model.ip_address import parsed
from ganeti_tx.model.ip_family import missing_secondary, primary_fault, secondary_fault
from ganeti_tx.model.params.nic import NicParams
from ganeti_tx.runtime.addresses import interface_with
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.ping import answers

SYS_NET = Path("/sys/class/net")


def choose_netdev(settings: InitSettings, primary_ip: str, problems: Problems) -> str:
    """The interface for the cluster's address: the one asked for, or what instances are connected to, if it is there
    (Ganeti's default), or the one that has the node's address.
    """
    if settings.master_netdev:
        fine = (SYS_NET / settings.master_netdev).exists()
        problems.unless(fine, f"there is no network device {settings.master_netdev!r} (--master-netdev)")
        return str(settings.master_netdev)
    link = str(settings.nicparams.get("link") or NicParams().link)
    netdev = link if (SYS_NET / link).exists() else interface_with(primary_ip)
    if netdev is None:
        problems.add(f"there is no network device {link!r} for the cluster's address; give one with --master-netdev")
        return ""
    return netdev


def check_not_loopback(paths: Paths, problems: Problems, what: str, address: str) -> None:
    """Other nodes must reach the address, unless the whole cluster is on one machine, below roots of its own."""
    if address and paths.root == Path("/") and parsed(address).is_loopback:
        problems.add(
            f"{what} resolves to {address}, which is an address of the loopback network that no other node reaches; "
            f"give it its own address in {paths.etc_hosts} or DNS"
        )


def check_primary(paths: Paths, problems: Problems, what: str, address: str, family: AddressFamily) -> None:
    """Other nodes can reach a node there, or the cluster."""
    if address and (fault := primary_fault(address, family)) is not None:
        problems.add(f"{what}: {fault}")
    check_not_loopback(paths, problems, what, address)


def check_secondary(problems: Problems, what: str, address: str | None, family: AddressFamily) -> None:
    """It is IPv4 and this machine's; without one the primary address serves, where that is IPv4, too."""
    fault = missing_secondary(family) if address is None else secondary_fault(address)
    if fault is not None:
        problems.add(f"{what}: {fault}")
    elif address is not None:
        check_address(problems, "the secondary address", address, 0)


def check_unused(problems: Problems, what: str, address: str) -> None:
    """No host has an address that is going to be the cluster's."""
    if address and answers(address):
        problems.add(f"{what}: the address {address} is active already: a host answers there")
