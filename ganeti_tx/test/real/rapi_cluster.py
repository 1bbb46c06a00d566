"""A devcluster with its Remote API daemon, for tests that talk to the real thing."""

import atexit
from pathlib import Path

from ganeti_tx.rapi_client import Client, Login, NoAnswerError, RapiError, Server, authority_file
from ganeti_tx.rapi_client.server import Credentials
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
            self._let_users_in()
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
        """How clients reach it; the certificate is for the cluster's name."""
        name = self.cluster.layout.cluster_name
        return Server(self.address, PORT, trust=authority_file(self.bundle), credentials=credentials, name=name)

    @property
    def bundle(self) -> Path:
        """The daemon's certificate and what it was signed by."""
        return self.cluster.node.root / "var/lib/ganeti/rapi.pem"

    def _let_users_in(self) -> None:
        users = self.cluster.node.root / "var/lib/ganeti/rapi/users"
        users.parent.mkdir(exist_ok=True)
        users.write_text(USERS)
        until(self._knows_writer, "the Remote API and its users")

    def _knows_writer(self) -> bool:
        with Client(self.server()) as client:
            try:
                client.query("node", ["name"])
            except (NoAnswerError, RapiError):
                return False
        return True

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
