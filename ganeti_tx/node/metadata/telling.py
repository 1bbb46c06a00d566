"""When the metadata daemon is told of instances: when one with a communication NIC starts, changes or ends."""

from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

import msgspec
from attrs import define
from twisted.logger import Logger

from ganeti_tx.errors import GanetiError, HypervisorError, one_line
from ganeti_tx.model.guest_facts import GuestFacts
from ganeti_tx.model.instance_communication import communication_nic
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.answers import answers
from ganeti_tx.node.hypervisor.interfaces import IHypervisor
from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.node.metadata.daemon import MetadataDaemon
from ganeti_tx.node.metadata.facts import guest_facts
from ganeti_tx.node.metadata.interface import interface_to
from ganeti_tx.node.os.catalogue import OsCatalogue
from ganeti_tx.rpc.calls.metadata import InstanceMetadataModify, InstanceMetadataRead
from ganeti_tx.runtime.daemon_names import METADATA
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.told_guests import told_guests

log = Logger()

FILE_MODE = 0o640


@define
class Metadata:
    """What is told of instances, and kept for a metadata daemon that is started again; secrets are told, and not kept.

    An instance starts whether it can be told of itself or not: what goes wrong stands in the log, and is said to who starts it.
    """

    files: IFiles
    paths: Paths
    hypervisors: Mapping[str, IHypervisor]
    catalogue: OsCatalogue
    daemon: MetadataDaemon

    async def resume(self) -> None:
        """The node daemon has been started: whoever stopped both is not to leave instances that run without an answer."""
        for name in told_guests(self.files, self.paths)[:1]:
            await self._try(name, self.daemon.start())

    async def prepare(self, spec: InstanceSpec) -> None:
        """It is about to start, and is not to wait for the daemon then."""
        if communication_nic(spec) is not None:
            await self._try(spec.name, self.daemon.start())

    async def tell(self, spec: InstanceSpec, variables: Mapping[str, str] = {}) -> str | None:
        """See ToldOfInstances."""
        if communication_nic(spec) is not None:
            return await self._try(spec.name, self._tell(spec, variables))
        await self.forget(spec.name)  # it may have had such a NIC before
        return None

    async def check(self, argument: object) -> list[str] | str:
        """The instances that get an answer, or why none does; a check of `node_verify`."""
        return told_guests(self.files, self.paths) if self.daemon.runs() else f"{METADATA} does not run"

    async def forget(self, name: str) -> None:
        """It does not run here any more."""
        path = self._path(name)
        if self.files.exists(path):
            self.files.remove(path)
            if self.daemon.runs():
                await self._try(name, self.daemon.forget(name))

    @answers(InstanceMetadataModify)
    async def modify(self, call: InstanceMetadataModify) -> None:
        """It runs here, and something of it has changed. @raise GanetiError: it cannot be told."""
        if communication_nic(call.instance) is None:
            await self.forget(call.instance.name)
        else:
            await self._tell(call.instance, {})

    @answers(InstanceMetadataRead)
    async def read(self, call: InstanceMetadataRead) -> str:
        """What it has written."""
        return await self.daemon.read(call.instance_name)

    async def _tell(self, spec: InstanceSpec, variables: Mapping[str, str]) -> None:
        nic = communication_nic(spec)
        assert nic is not None
        interface = await interface_to(self.hypervisors, spec, nic)
        if interface is None:
            raise HypervisorError(f"no interface of this node leads to its NIC {nic.uuid}; nobody could tell who asks")
        facts = guest_facts(spec, nic, interface, self.catalogue, variables)
        await self._keep(facts.without_secrets())
        await self.daemon.start()
        await self.daemon.update(facts)

    async def _keep(self, facts: GuestFacts) -> None:
        self.files.mkdir(self.paths.metadata_dir)
        await self.files.write_atomic(self._path(facts.name), msgspec.json.encode(facts), FILE_MODE, sync=False)

    async def _try(self, name: str, work: Coroutine[Any, Any, None]) -> str | None:
        """What went wrong."""
        try:
            await work
        except (GanetiError, OSError) as error:
            why = reason(error) if isinstance(error, OSError) else one_line(error)
            fault = f"instance {name} is not told of itself: {why}"
            log.error("{fault}", fault=fault)
            return fault
        return None

    def _path(self, name: str) -> Path:
        return self.paths.metadata_dir / checked_name(name)
