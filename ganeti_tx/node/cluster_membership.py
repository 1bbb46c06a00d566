"""Whose calls this node accepts, and how it ceases to."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hmac import compare_digest
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.logger import Logger

from ganeti_tx.node.answers import answers
from ganeti_tx.node.cluster_files import ClusterFiles
from ganeti_tx.node.local_daemons import LocalDaemons
from ganeti_tx.node.queue_copies import purge
from ganeti_tx.node.storage.abilities import ILeaving
from ganeti_tx.node.storage.interfaces import IStorage
from ganeti_tx.rpc.calls.node import NodeCryptoTokens, NodeLeaveCluster
from ganeti_tx.runtime.certificates import Identity, digest
from ganeti_tx.runtime.daemon_names import METADATA, ON_ALL_NODES, RAPI
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tls import peer_digest, peer_name

log = Logger()

MAX_SSCONF = 1024 * 1024
MAX_KEY_FILE = 64 * 1024
#: Seconds between the answer to the last call and the daemon's end.
LEAVE_DELAY = 0.2
#: The key of simple configuration with the digests of the candidates' certificates.
CERTIFICATES = "master_candidates_certs"
SSL_TOKEN, SERVER_TOKEN = "ssl", "server"


@define
class AdmittedCallers:
    """Admits the certificates whose digests ssconf lists as the master candidates'.

    While a disk that fails does not give the list, the one that was read last counts, or the one that the master sent since.
    """

    files: IFiles
    paths: Paths
    _seen: FileStat | None = None
    _digests: list[str] = field(factory=list)
    _well: bool = True

    def admitted(self, transport: Any) -> bool:
        """Whether the peer may make node calls: its certificate is listed, and tells its name."""
        shown = peer_digest(transport)
        if shown is None or peer_name(transport) is None:
            return False
        return any(compare_digest(shown, known) for known in self._known())

    def _known(self) -> list[str]:
        try:
            self._read(self.paths.ssconf_file(CERTIFICATES))
        except FileNotFoundError:
            self._seen, self._digests = None, []
        except OSError as error:
            if self._well:
                log.error("whoever might make calls before still may: {why}", why=reason(error))
            self._well = False
        else:
            self._well = True
        return self._digests

    def _read(self, path: Path) -> None:
        stat = self.files.stat(path)
        if stat != self._seen:
            lines = self.files.read(path, MAX_SSCONF).decode("ascii", "ignore").splitlines()
            self._digests = _digests_in(lines)
            self._seen = stat

    def told(self, values: Mapping[str, str]) -> None:
        """The master sent these keys, whether or not they could be written; they count until the file is another one."""
        if CERTIFICATES not in values:
            return
        with suppress(OSError):
            self._read(self.paths.ssconf_file(CERTIFICATES))  # so that an older file is not taken for a newer one
        self._digests = _digests_in(values[CERTIFICATES].splitlines())


def _digests_in(lines: Iterable[str]) -> list[str]:
    return [line.partition("=")[2].strip() for line in lines if "=" in line]


@define
class Membership:
    """The calls by which a node shows who it is and leaves its cluster."""

    files: IFiles
    paths: Paths
    cluster_files: ClusterFiles
    daemons: LocalDaemons
    end: Callable[[], None]
    storages: Sequence[IStorage] = ()

    @answers(NodeCryptoTokens)
    async def tokens(self, call: NodeCryptoTokens) -> list[tuple[str, str]]:
        """The digests of the certificates with which this node makes calls, and answers them."""
        return [(SSL_TOKEN, self._digest(self.paths.client_pem)), (SERVER_TOKEN, self._digest(self.paths.server_pem))]

    def _digest(self, path: Path) -> str:
        return digest(Identity.from_bundle(self.files.read(path, MAX_KEY_FILE), str(path)).certificate)

    @answers(NodeLeaveCluster)
    async def leave(self, call: NodeLeaveCluster) -> None:
        """Forget the cluster, then end the daemons, this one when the answer is out."""
        await self._give_back()
        await self.cluster_files.forget_cluster()
        await self.daemons.stop((RAPI, METADATA, *ON_ALL_NODES))  # it may have been the master once
        for name in self.files.listdir(told) if self.files.exists(told := self.paths.metadata_dir) else ():
            self.files.remove(told / name)
        self.daemons.clock.callLater(LEAVE_DELAY, self._end)

    async def _give_back(self) -> None:
        """What storages keep of this node; what stays keeps nobody from leaving."""
        for storage in (each for each in self.storages if ILeaving.providedBy(each)):
            for fault in await ILeaving(storage).leave():
                log.warn("of disk template {template} stays: {fault}", template=storage.template, fault=fault)

    def _end(self) -> None:
        """Calls may have come meanwhile, with copies of jobs, at least of the one that makes this node leave, and a term each."""
        try:
            purge(self.files, self.paths, ())
            self.cluster_files.forget_files()
        except OSError as error:
            log.error("files of the cluster may be left: {error}", error=str(error))
        self.end()
