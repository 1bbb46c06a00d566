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
from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.node.metadata.daemon import MetadataDaemon
from ganeti_tx.node.metadata.facts import guest_facts
from ganeti_tx.node.metadata.interface import interface_to
from ganeti_tx.node.os.catalogue import OsCatalogue
from ganeti_tx.rpc.calls.metadata import InstanceMetadataModify, InstanceMetadataRead
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

log = Logger()

FILE_MODE = 0o640


@define
class Metadata:
    """What is told of instances, and kept for a metadata daemon that is started again; secrets are told, and not kept.

    An instance starts whether it can be told of itself or not: what goes wrong stands in the log.
    """

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    catalogue: OsCatalogue
    daemon: MetadataDaemon

    async def prepare(self, spec: InstanceSpec) -> None:
        """It is about to start, and is not to wait for the daemon then."""
        if communication_nic(spec) is not None:
            await self._try(spec.name, self.daemon.start())

    async def tell(self, spec: InstanceSpec, variables: Mapping[str, str] = {}) -> None:
        """It runs here. @param variables: that OS scripts are told besides."""
        if communication_nic(spec) is None:
            await self.forget(spec.name)  # it may have had such a NIC before
        else:
            await self._try(spec.name, self._tell(spec, variables))

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
        interface = await interface_to(self.runner, str(nic.ip))
        if interface is None:
            raise HypervisorError(f"there is no route to its address {nic.ip}; nobody could tell who asks")
        facts = guest_facts(spec, nic, interface, self.catalogue, variables)
        await self._keep(facts.without_secrets())
        await self.daemon.start()
        await self.daemon.update(facts)

    async def _keep(self, facts: GuestFacts) -> None:
        self.files.mkdir(self.paths.metadata_dir)
        await self.files.write_atomic(self._path(facts.name), msgspec.json.encode(facts), FILE_MODE, sync=False)

    async def _try(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except GanetiError as error:
            log.error("instance {name} is not told of itself: {why}", name=name, why=one_line(error))
        except OSError as error:
            log.error("instance {name} is not told of itself: {why}", name=name, why=reason(error))

    def _path(self, name: str) -> Path:
        return self.paths.metadata_dir / checked_name(name)
