"""SSH on this node: what it tells of its keys, and whom it lets in as the master says."""

from collections.abc import Mapping

from attrs import define, field
from twisted.internet.defer import DeferredLock

from ganeti_tx.errors import ConfigurationError, ProgrammerError
from ganeti_tx.model.node_files import KNOWN_HOSTS
from ganeti_tx.model.ssh_keys import BITS, KEY, public_key
from ganeti_tx.node.answers import answers
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.cluster import WriteSshFiles
from ganeti_tx.rpc.calls.node import NodeSshKeys, SshKeys
from ganeti_tx.runtime.authorized_keys import DIRECTORY_MODE, MAX_AUTHORIZED_KEYS, MODE, merged
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.ssh_keys import KEYGEN_LIMIT, host_keys, keygen_argv, root_public_key


@define
class SshFiles:
    """Root's keys are made and let in only where the cluster sets up SSH; nothing that is older replaces anything."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    own_name: str
    terms: Terms
    #: Term and serial number of what was taken last; what was on its way to a daemon that was restarted went with its connection.
    _taken: tuple[int, int] = (0, 0)
    _lock: DeferredLock = field(factory=DeferredLock)

    @answers(NodeSshKeys)
    async def keys(self, call: NodeSshKeys) -> SshKeys:
        """The public keys."""
        host = host_keys(self.files, self.paths)
        if call.root_type is None:
            return SshKeys(host=host)
        if call.root_type not in BITS:
            raise ProgrammerError(f"no type of SSH keys: {call.root_type[:20]!r}; they are {', '.join(BITS)}")
        await self._lock.acquire()
        try:
            root, fault = await self._root_key(call.root_type, call.root_bits)
        finally:
            self._lock.release()
        return SshKeys(host=host, root=root, fault=fault)

    async def _root_key(self, kind: str, bits: int) -> tuple[str | None, str]:
        """The key, or why there is none."""
        found = root_public_key(self.files, self.paths, kind)
        if found is not None:
            return found, ""
        argv = keygen_argv(self.files, self.paths, kind, bits, self.own_name)
        done = await self.runner.run(argv, timeout=KEYGEN_LIMIT)
        if not done.succeeded:
            return None, f"{argv[0]} for {argv[-1]}: {done.describe()}"
        told = root_public_key(self.files, self.paths, kind) or public_key(done.stdout.decode("ascii", "replace"))
        return told, "" if told is not None else f"{argv[0]} told no key for {argv[-1]}"

    @answers(WriteSshFiles)
    async def write(self, call: WriteSshFiles) -> None:
        """Write what differs."""
        for node, key in (call.authorized or {}).items():
            if not KEY.fullmatch(key) or "\n" in node:
                raise ProgrammerError(f"not a public SSH key of {node[:60]!r}: {key[:40]!r}")
        version = (0 if call.stamp is None else call.stamp.term, call.serial)
        await self._lock.acquire()
        try:
            await self.terms.admit(call.stamp)
            if not self.files.exists(self.paths.server_pem):
                raise ConfigurationError(f"node {self.own_name} has left its cluster")
            if version < self._taken:
                raise ConfigurationError(f"the SSH files here are newer than serial number {call.serial}; kept")
            self._taken = version
            known_hosts = call.known_hosts.encode()
            if not self._holds(known_hosts):
                await self.files.write_atomic(self.paths.known_hosts, known_hosts, KNOWN_HOSTS.mode)
            if call.authorized is not None:
                await authorize(self.files, self.paths, call.authorized)
        finally:
            self._lock.release()

    def _holds(self, known_hosts: bytes) -> bool:
        try:
            return self.files.read(self.paths.known_hosts, len(known_hosts)) == known_hosts
        except OSError:
            return False


async def authorize(files: IFiles, paths: Paths, keys: Mapping[str, str]) -> None:
    """Let in these keys, by the node that has them, and no others of the cluster's. @raise OSError"""
    path = paths.root_authorized_keys
    there = files.exists(path)
    present = files.read(path, MAX_AUTHORIZED_KEYS) if there else b""
    wanted = merged(present, keys)
    if wanted != present:
        files.mkdir(paths.root_ssh_dir, DIRECTORY_MODE)
        await files.write_atomic(path, wanted, MODE)


async def forget_ssh(files: IFiles, paths: Paths) -> None:
    """What a node that leaves its cluster does: nobody of the cluster is known or let in any more. @raise OSError"""
    await authorize(files, paths, {})
    if files.exists(paths.known_hosts):
        files.remove(paths.known_hosts)
