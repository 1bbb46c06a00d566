"""The Remote API of a devcluster, for tests: over TLS on the master's address."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.devcluster import DevClusterUnderTest
from ganeti_tx.test.real.programs import until

PORT = 5080
USER, PASSWORD = "operator", "let-me-in"


class RapiUnderTest:
    """ganeti-rapi on the master, with one user who may read and write."""

    def __init__(self, cluster: DevClusterUnderTest) -> None:
        master = cluster.layout.master
        self.host = master.address
        self.paths = Paths(master.root)
        self.paths.rapi_users_file.parent.mkdir(parents=True, exist_ok=True)
        self.paths.rapi_users_file.write_text(f"{USER} {PASSWORD} read,write\n")
        if not self.listens():
            self._start(cluster)

    def listens(self) -> bool:
        """Whether somebody takes connections."""
        with socket.socket() as probe:
            return probe.connect_ex((self.host, PORT)) == 0

    def _start(self, cluster: DevClusterUnderTest) -> None:
        certificate = self.paths.rapi_pem if self.paths.rapi_pem.exists() else self.paths.server_pem
        subprocess.run(
            [str(Path(sys.executable).parent / "ganeti-rapi"), f"--ssl-cert={certificate}"],
            env=cluster.layout.master.environment(os.environ),
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=True,
        )
        until(self.listens, "the Remote API")
