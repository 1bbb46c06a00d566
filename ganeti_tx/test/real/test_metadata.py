"""The metadata daemon as a process, started by a node for guests that are network namespaces on wires of their own."""

import json
import os
import signal
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.local_daemons import LocalDaemons, MachineProcesses
from ganeti_tx.node.metadata.daemon import OwnMetadataDaemon
from ganeti_tx.node.metadata.telling import Metadata
from ganeti_tx.node.os.catalogue import OsCatalogue
from ganeti_tx.runtime.daemon_names import METADATA
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import ROOT_VARIABLE, Paths
from ganeti_tx.runtime.pidfile import holder
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.test.metad.guest import KEY
from ganeti_tx.test.real.metadata_guests import WiredGuest, why_not
from ganeti_tx.test.real.programs import SOURCE, Programs, is_gone, until

SECRET = "open sesame"


class MetadataDaemonTests(TestCase):
    """Two guests; what the one is told the other does not get."""

    timeout = 240
    if os.geteuid() != 0:
        skip = "only root has network namespaces"
    elif (obstacle := why_not()) is not None:
        skip = obstacle

    def setUp(self) -> None:
        self.top = Path(mkdtemp(prefix="md"))
        self.paths = Paths(self.top)
        self.programs = Programs(self.top)
        self.patch(os, "environ", {**os.environ, ROOT_VARIABLE: str(self.top), "PYTHONPATH": str(SOURCE)})
        self.paths.ssconf_file("cluster_name").parent.mkdir(parents=True)
        self.paths.ssconf_file("cluster_name").write_text("cluster.example.com\n")
        untyped: Any = reactor
        files, runner = RealFiles(reactor_threads(untyped)), ReactorProcessRunner(untyped, untyped)
        processes = MachineProcesses(holder, program=lambda name: str(self.programs.path(name)))
        daemons = LocalDaemons(files, self.paths, runner, untyped, processes)
        self.daemon = OwnMetadataDaemon(self.paths, untyped, daemons)
        catalogue = OsCatalogue(files, self.paths.os_search_path)
        self.node = Metadata(files, self.paths, runner, catalogue, self.daemon)
        self.addCleanup(self.end)
        self.guests = [WiredGuest(1), WiredGuest(2)]
        for guest in self.guests:
            guest.remove()  # of a test that was killed
            self.addCleanup(guest.remove)
            guest.make()

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the daemon, if it runs."""
        process = holder(self.paths.pid_file(METADATA))
        if process is not None:
            os.kill(process, number)
            until(lambda: is_gone(process), "the end of the daemon")

    def spec(self, guest: WiredGuest) -> InstanceSpec:
        """The instance that a guest is."""
        nic = NicSpec(
            uuid=f"n{guest.number}",
            mac=guest.mac,
            mode="routed",
            link="",
            ip=guest.address,
            communication=True,
        )
        return InstanceSpec(
            name=f"web{guest.number}.example.com",
            uuid=f"u{guest.number}",
            primary_node="node1",
            hypervisor="kvm",
            os="",
            hvparams={},
            beparams={},
            nics=[nic],
            osparams={"ssh_authorized_keys": KEY},
            osparams_private={"pin": f"{guest.number}{guest.number}"},
            osparams_secret={"word": SECRET},
        )

    def ask(self, guest: WiredGuest, path: str) -> "Deferred[str]":
        """What it gets, while this process goes on."""
        return deferToThread(guest.ask, path)

    async def test_guests(self) -> None:
        """Each gets its name and key by its wire; with the other's address it gets nothing; secrets are not kept."""
        one, two = self.guests
        for guest in self.guests:
            await self.node.tell(self.spec(guest))
        for guest in self.guests:
            lease = await deferToThread(guest.find_address)
            self.assertIn(f"lease of {guest.address} obtained", lease)
            self.assertEqual(await self.ask(guest, "/latest/meta-data/hostname"), f"web{guest.number}.example.com200")
            self.assertEqual(await self.ask(guest, "/latest/meta-data/public-keys/0/openssh-key"), f"{KEY}200")
        path = "/ganeti/latest/os/parameters.json"
        told = json.loads((await self.ask(one, path)).removesuffix("200"))
        self.assertEqual((told["pin"], told["word"]), (["11", "private"], [SECRET, "secret"]))
        one.use(two.address)
        self.assertIn(await self.ask(one, path), ("000", "not found\n404"))
        one.use(one.address)
        await self.node.forget("web2.example.com")
        self.assertEqual(await self.ask(two, path), "not found\n404")
        await deferToThread(self.end, signal.SIGKILL)
        for left in self.top.rglob("*"):
            if left.is_file():
                self.assertNotIn(SECRET.encode(), left.read_bytes(), left)
        await self.daemon.start()
        told = json.loads((await self.ask(one, path)).removesuffix("200"))
        self.assertEqual(sorted(told), ["pin", "ssh_authorized_keys"])
        self.assertEqual(await self.ask(two, path), "not found\n404")
        said = await deferToThread(self.programs.run_here, "gnt-debug", "metad", "echo", "hello")
        self.assertEqual(said, "Answer: hello\n")
