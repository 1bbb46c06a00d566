"""Users and tokens of a Remote API that really listens and really watches its files."""

import http.client
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

from twisted.internet import reactor
from twisted.internet.interfaces import IReactorThreads
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

from ganeti_tx.rapi.service import RapiParts, Settings, start
from ganeti_tx.runtime.file_watch import InotifyWatch
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.test.rapi.access.gates import basic
from ganeti_tx.test.real.slapd import free_port

#: Anybody may ask for it; with credentials it tells whether they are good.
FEATURES = "/2/features"


class AccessTests(TestCase):
    """The daemon without a master: what needs none."""

    timeout = 300

    async def setUp(self) -> None:  # type: ignore[override]
        """Start it over an empty directory."""
        self.root = Path(self.mktemp()).absolute()
        self.paths = Paths(self.root)
        self.paths.log_dir.mkdir(parents=True)
        threads = reactor_threads(cast(IReactorThreads, reactor))
        parts = RapiParts(
            paths=self.paths, files=RealFiles(threads), threads=threads, watch=InotifyWatch(cast(Any, reactor)),
            reactor=cast(IDaemonReactor, reactor), own_name="node1",
        )  # fmt: skip
        self.port = free_port()
        settings = Settings(port=self.port, address="127.0.0.1", tls=False, require_authentication=True)
        stop = await start(parts, settings, lambda error: self.fail(str(error)))
        self.addCleanup(stop)

    def fetch(self, authorization: str | None) -> tuple[int, str | None]:
        """The status and the challenge."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", FEATURES, headers={"Authorization": authorization} if authorization else {})
            response = connection.getresponse()
            response.read()
            return response.status, response.getheader("WWW-Authenticate")
        finally:
            connection.close()

    async def status(self, authorization: str | None) -> int:
        """Only the status."""
        return (await deferToThread(self.fetch, authorization))[0]

    async def until(self, wanted: int, authorization: str) -> None:
        """Ask until the answer is the wanted one, as a change of a file takes a moment to be heard of."""
        for _ in range(100):
            status = await self.status(authorization)
            if status == wanted:
                return
            await deferLater(cast(Any, reactor), 0.05, lambda: None)
        self.fail(f"still {status}, not {wanted}")

    async def command(self, line: str, stdin: str = "", status: int = 0) -> str:
        """Run ganeti-rapi-access as a program; its standard output."""
        run = await deferToThread(
            subprocess.run, [sys.executable, "-m", "ganeti_tx.rapi.access.command", *line.split()], input=stdin,
            env={**os.environ, "GANETI_ROOTDIR": str(self.root)}, capture_output=True, text=True, timeout=30,
        )  # fmt: skip
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stdout.strip()

    async def test_users_and_tokens(self) -> None:
        """Those made by the command count at once, and count no more once they are taken away, though nobody can be asked
        about their jobs.
        """
        self.assertEqual(await deferToThread(self.fetch, None), (401, 'Basic realm="Ganeti Remote API"'))
        await self.command("user add jack --allow write", "pass word\n")
        await self.until(200, basic("jack", "pass word"))
        token = await self.command("token add ci --role @readonly --expires 1h")
        await self.until(200, f"Bearer {token}")
        self.assertEqual(await self.status(basic("ci", token)), 200)
        self.assertEqual(await self.status(basic("jack", "password")), 401)
        await self.command("user remove jack", status=1)
        await self.until(401, basic("jack", "pass word"))
        await self.command("token revoke ci", status=1)
        self.assertEqual(await self.status(basic("ci", token)), 401)

    async def test_by_hand(self) -> None:
        """A users file that is written in place is read again; one that is removed is gone."""
        self.paths.rapi_users_file.write_text("mel {cleartext}pw\n")
        await self.until(200, basic("mel", "pw"))
        self.paths.rapi_users_file.unlink()
        await self.until(401, basic("mel", "pw"))
