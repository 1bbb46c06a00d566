"""What the parameters of an instance come down to on this node: its program, its addresses, and what the cluster allows."""

from typing import Any

import msgspec
from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.ip_family import family_of_ssconf, is_address, version_of
from ganeti_tx.model.value_form import is_interface
from ganeti_tx.node.hypervisor.cluster_setting import cluster_setting, users_may_shut_down
from ganeti_tx.node.hypervisor.kvm.parameters import with_program
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

COMMAND_TIMEOUT = 30.0
#: The parameters that say where a display listens: an address, the name of an interface, or (VNC) a directory for a socket.
BIND_PARAMETERS = ("vnc_bind_address", "spice_bind")


@frozen
class OnThisNode:
    """Fills in what only the node knows."""

    paths: Paths
    files: IFiles
    runner: IProcessRunner

    async def settled(self, params: KvmParams) -> KvmParams:
        """The same parameters, for this node. @raise HypervisorError: an interface is not here or has no address."""
        version = params.spice_ip_version or version_of(
            family_of_ssconf(cluster_setting(self.files, self.paths, "primary_ip_family"))
        )
        changes: dict[str, Any] = {
            name: await self._address(name, getattr(params, name), version) for name in BIND_PARAMETERS
        }
        changes["user_shutdown"] = params.user_shutdown and users_may_shut_down(self.files, self.paths)
        return msgspec.structs.replace(with_program(params, self.files.exists), **changes)

    async def faults(self, params: KvmParams) -> list[str]:
        """Which place is not here where a display shall listen."""
        try:
            await self.settled(params)
        except HypervisorError as error:
            return [str(error)]
        return []

    async def _address(self, parameter: str, bind: str, version: int) -> str:
        if is_address(bind) or not is_interface(bind):  # what is neither, and no directory, is refused elsewhere
            return bind
        result = await self.runner.run(
            ["ip", "-json", f"-{version}", "address", "show", "dev", bind], timeout=COMMAND_TIMEOUT
        )
        if not result.succeeded:
            raise HypervisorError(
                f"{parameter}: {bind} is neither an IP address nor an interface of this node ({result.describe()})"
            )
        address = first_address(result.stdout)
        if address is None:
            raise HypervisorError(f"{parameter}: interface {bind} has no IPv{version} address on this node")
        return address


def first_address(printed: bytes) -> str | None:
    """The first address of an interface that is no link-local one, as the program ip prints it. None: it has none."""
    try:
        interfaces = msgspec.json.decode(printed)
        found = [each for interface in interfaces for each in interface.get("addr_info", [])]
        return next((str(each["local"]) for each in found if each.get("scope") != "link"), None)
    except (msgspec.DecodeError, AttributeError, KeyError, TypeError):
        return None
