"""Bringing one state of the configuration to one node: what that lacks, in the order in which it must come."""

import attrs
from twisted.logger import Logger

from ganeti_tx.errors import ProgrammerError
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.cluster import UploadFile, WriteRapiFiles, WriteSsconfFiles, WriteSshFiles
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.ssconf_files import write_ssconf
from ganeti_tx.wconfd.key_files import key_files
from ganeti_tx.wconfd.listed_files import ListedFiles, read_listed_files, with_denied
from ganeti_tx.wconfd.node_copies import NodeCopies, State

log = Logger()

#: Seconds that a node has for a transfer, and the bytes that it must take in each further second.
TRANSFER_LIMIT = 30.0
SLOWEST = 256 * 1024


@attrs.define(eq=False)
class Transfer:
    """Sends, and notes what has arrived. @ivar faults: why files that all nodes shall have cannot be sent."""

    rpc: INodeRpc
    files: IFiles
    paths: Paths
    own_name: str
    faults: tuple[str, ...] = ()

    async def bring(self, node: Node, copies: NodeCopies, state: State) -> None:
        """All of a state that the node does not have. @raise RpcError: it does not take it. @raise OSError: nor does our disk."""
        if node.name == self.own_name:
            await write_ssconf(self.files, self.paths, state.ssconf)
            await self._write_ssh(node, copies, state)  # root's files are its node daemon's matter
            return
        if state.rapi_files is not None and copies.has_rapi_files != state.rapi_files:
            # before the configuration, by which a vote tells who may become the master
            files = WriteRapiFiles(files=dict(state.rapi_files), serial=state.serial)
            await self.rpc.call(node, files, TRANSFER_LIMIT)
            copies.has_rapi_files = state.rapi_files
        if node.master_candidate and copies.has_config < state.serial:
            path = str(Paths().config_file)  # the node puts it below its own root
            limit = TRANSFER_LIMIT + len(state.data) / SLOWEST
            await self.rpc.call(node, UploadFile(path=path, data=state.data, serial=state.serial), limit)
            copies.has_config = state.serial
        if copies.has_ssconf != state.ssconf:
            await self.rpc.call(node, WriteSsconfFiles(values=state.ssconf, serial=state.serial), TRANSFER_LIMIT)
            copies.has_ssconf = state.ssconf
        await self._write_ssh(node, copies, state)
        if not copies.has_keys:
            copies.has_keys = True
            for call in key_files(self.files, self.paths, node):
                await self._send_key(node, call)
            for other in (await self._read_listed(state)).calls:
                await self.rpc.call(node, other, TRANSFER_LIMIT)

    async def _send_key(self, node: Node, call: UploadFile) -> None:
        """A node on which an older version runs goes without what that does not know."""
        try:
            await self.rpc.call(node, call, TRANSFER_LIMIT)
        except NodeCallError as error:
            if not isinstance(error.cause, ProgrammerError):
                raise
            log.warn("{error}; an older version of this program runs there", error=str(error))

    async def _read_listed(self, state: State) -> ListedFiles:
        """The files that are not the cluster's own; those that cannot be sent are told of, once while they stay the same."""
        found = read_listed_files(self.files, self.paths, state.config)
        if found.denied:
            own = next(node for node in state.config.nodes.values() if node.name == self.own_name)
            found = await with_denied(found, self.rpc, own)
        for fault in found.faults if found.faults != self.faults else ():
            log.error("{fault}", fault=fault)
        self.faults = found.faults
        return found

    async def _write_ssh(self, node: Node, copies: NodeCopies, state: State) -> None:
        wanted = None if state.ssh is None else state.ssh.for_node(node)
        if wanted is not None and copies.has_ssh != wanted:
            known_hosts, authorized = wanted
            call = WriteSshFiles(known_hosts=known_hosts, authorized=authorized, serial=state.serial)
            await self.rpc.call(node, call, TRANSFER_LIMIT)
            copies.has_ssh = wanted
