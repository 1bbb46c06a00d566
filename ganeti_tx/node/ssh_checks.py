"""What a node looks at of SSH when the cluster is verified: its files, whom it reaches, and keys that are left over."""

from collections import Counter
from pathlib import Path

from attrs import define
from twisted.internet.defer import Deferred, DeferredSemaphore

from ganeti_tx.runtime.authorized_keys import MAX_AUTHORIZED_KEYS, missing, surplus
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner, ProcessResult

#: Seconds for one connection.
REACH_LIMIT = 15.0
#: Connections at the same time.
AT_ONCE = 10
MAX_KNOWN_HOSTS = 16 * 1024 * 1024


@define
class SshChecks:
    """Checks of `node_verify`; nothing is changed."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner

    async def file_faults(self, wanted: tuple[str, dict[str, str] | None]) -> list[str]:
        """What is missing or wrong of known hosts and of root's keys (None: they are root's own business)."""
        known_hosts, authorized = wanted
        faults = []
        if self._read(self.paths.known_hosts, MAX_KNOWN_HOSTS) != known_hosts.encode():
            faults.append(f"{self.paths.known_hosts} is not as the cluster has it")
        if lacking := missing(self._keys(), authorized or {}):
            faults.append(f"{self.paths.root_authorized_keys} lacks the keys of root of {', '.join(lacking)}")
        return faults

    async def strangers(self, authorized: dict[str, str] | None) -> list[str]:
        """Whom root's keys let in as if they were the cluster's, beside these."""
        return [] if authorized is None else surplus(self._keys(), authorized)

    def _keys(self) -> bytes:
        return self._read(self.paths.root_authorized_keys, MAX_AUTHORIZED_KEYS)

    def _read(self, path: Path, limit: int) -> bytes:
        try:
            return self.files.read(path, limit)
        except OSError:
            return b""

    async def unreached(self, ports: dict[str, int]) -> dict[str, str]:
        """Of these hosts with the ports of their SSH daemons those to which root cannot get, with the reason."""
        faults: dict[str, str] = {}
        turns = DeferredSemaphore(AT_ONCE)
        tried = {name: turns.run(self._connect, name, port) for name, port in ports.items()}
        for name, connecting in tried.items():
            result = await connecting
            if not result.succeeded:
                faults[name] = result.describe()
        return faults

    def _connect(self, name: str, port: int) -> "Deferred[ProcessResult]":
        return self.runner.run(self._argv(name, port), timeout=REACH_LIMIT)

    def _argv(self, name: str, port: int) -> tuple[str, ...]:
        known = f"-oUserKnownHostsFile={self.paths.known_hosts}"
        options = ("-oBatchMode=yes", "-oStrictHostKeyChecking=yes", known, f"-p{port}")
        return ("ssh", *options, "-l", "root", "--", name, "true")

    async def clutter(self, hosts: list[str]) -> list[str]:
        """Those whose root has more than one key in root's file here."""
        lines = self._keys().decode("utf-8", "replace").splitlines()
        wanted = {f"root@{name}" for name in hosts}
        found = Counter(word for line in lines if not line.startswith("#") for word in line.split() if word in wanted)
        return sorted(word for word, count in found.items() if count > 1)
