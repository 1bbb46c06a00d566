"""A devcluster with its Remote API daemon, for tests that talk to the real thing."""

import atexit
import datetime
import os
import socket
from pathlib import Path

from ganeti_tx.rapi.client import Login, Server, authority_file
from ganeti_tx.rapi.client.server import Credentials
from ganeti_tx.runtime.certificates import create_authority, issue_server
from ganeti_tx.test.real.programs import SmallCluster, until

PORT = 5080
WRITER = Login("rob", "r0b")
READER = Login("eve", "3ve")
USERS = f"{WRITER.user} {WRITER.password} read,write\n{READER.user} {READER.password} read\n"


class RapiCluster:
    """Some nodes with the fake hypervisor, the first is the master and has the Remote API."""

    def __init__(self, nodes: int = 1) -> None:
        self.cluster = SmallCluster(nodes)
        try:
            self.cluster.init()
            self._start()
        except BaseException:
            self.cluster.close()
            raise

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.cluster.node.address

    @property
    def luxi_socket(self) -> str:
        """The master daemon's socket."""
        return str(self.cluster.node.root / "var/run/ganeti/socket/ganeti-query")

    def server(self, credentials: Credentials | None = WRITER) -> Server:
        """How clients reach it."""
        return Server(self.address, PORT, trust=authority_file(self.bundle), credentials=credentials)

    @property
    def bundle(self) -> Path:
        """The daemon's certificate and what it was signed by."""
        return self.cluster.node.root / "var/lib/ganeti/rapi.pem"

    def _start(self) -> None:
        if not self.bundle.exists():
            now = datetime.datetime.now(datetime.UTC)
            authority = create_authority("c", now)
            own = issue_server(authority, [self.address], now)
            self.bundle.write_bytes(own.bundle + authority.certificate)
        users = self.cluster.node.root / "var/lib/ganeti/rapi/users"
        users.parent.mkdir(exist_ok=True)
        users.write_text(USERS)
        if not self._listens():
            self.cluster.must("ganeti-rapi")
        until(self._listens, "the Remote API")

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((self.address, PORT)) == os.EX_OK

    def close(self) -> None:
        """End every process and remove the files."""
        self.cluster.close()


_up: dict[str, RapiCluster] = {}


def rapi_cluster(purpose: str = "any") -> RapiCluster:
    """The cluster that the tests of this process share for a purpose."""
    if purpose not in _up:
        _up[purpose] = RapiCluster()
        atexit.register(_up[purpose].close)
    return _up[purpose]
