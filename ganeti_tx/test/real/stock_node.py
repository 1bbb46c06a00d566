"""Ganeti's own node daemon on an address of this machine, with a data directory of its own."""

import http.client
import json
import ssl
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ganeti_tx.bootstrap.keys import utc_now
from ganeti_tx.runtime.certificates import create_authority
from ganeti_tx.test.real.test_kvm_migration import free_port

ADDRESS = "127.0.0.1"
#: Its files, users and logs are its own, in a mount namespace.
AS_ON_NODE = """
mount --make-rprivate /
for directory in /var/lib /var/log /run; do mount -t tmpfs none $directory; mkdir $directory/ganeti; done
mkdir /run/lock
mount --bind "$NODE/data" /var/lib/ganeti
for file in passwd group; do mount --bind "$NODE/$file" /etc/$file; done
exec "$@"
"""
USERS = ("masterd", "confd", "wconfd", "luxid", "rapi", "metad")
GROUPS = (*USERS, "daemons", "admin")
FIRST_ID = 7000
#: Seconds until it answers, and until it has ended.
START_LIMIT, END_LIMIT = 60.0, 20.0
#: Seconds within which a call is answered.
CALL_LIMIT = 20.0


class StockNode:
    """Runs from `start` to `stop`. @ivar data: what it takes for /var/lib/ganeti."""

    def __init__(self, directory: Path, program: Path, environment: Mapping[str, str]) -> None:
        self.directory, self.data = directory, directory / "data"
        self.data.mkdir(parents=True)
        self._program, self._environment = program, environment
        self._port = free_port()
        self._write_users()
        self._write_keys()

    def _write_users(self) -> None:
        for file, names, line in (
            ("passwd", USERS, "gnt-{}:x:{}:{}::/:/bin/false\n"),
            ("group", GROUPS, "gnt-{}:x:{}:\n"),
        ):
            own = "".join(line.format(name, FIRST_ID + index, FIRST_ID + index) for index, name in enumerate(names))
            (self.directory / file).write_text(Path("/etc", file).read_text() + own)

    def _write_keys(self) -> None:
        """One certificate for all, which has signed itself, as Ganeti's clusters have it."""
        authority = create_authority("ganeti.example.com", utc_now())
        (self.data / "server.pem").write_bytes(authority.bundle)
        (self.data / "ssconf_master_candidates_certs").touch()

    def start(self) -> None:
        """@raise AssertionError: it does not answer in time."""
        argv = ["unshare", "-m", "sh", "-ec", AS_ON_NODE, "sh", str(self._program)]
        self._process = subprocess.Popen(
            [*argv, "-f", "-b", ADDRESS, "-p", str(self._port), "--no-mlock"],
            env={**self._environment, "NODE": str(self.directory)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_LIMIT
        while True:
            try:
                self.call("version")
                return
            except ConnectionError:
                assert self._process.poll() is None and time.monotonic() < deadline, (
                    "Ganeti's node daemon does not answer"
                )
                time.sleep(0.2)

    def stop(self) -> None:
        """Wait for its end."""
        self._process.terminate()
        try:
            self._process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def call(self, name: str, *arguments: Any) -> tuple[bool, Any]:
        """A node call: whether it was done, and what it gave or why not (reference: noderpc.json)."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(self.data / "server.pem")
        connection = http.client.HTTPSConnection(ADDRESS, self._port, timeout=CALL_LIMIT, context=context)
        try:
            connection.request("POST", f"/{name}", json.dumps(arguments))
            done, result = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return done, result
