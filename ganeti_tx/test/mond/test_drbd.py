"""The collector "drbd", against what DRBD 8.4 really wrote."""

from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.mond.drbd import PROC_DRBD, DrbdCollector
from ganeti_tx.mond.interfaces import NodeFacts
from ganeti_tx.node.storage.drbd.proc_drbd import parse_proc_drbd
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.mond.parts import FixedFacts, load, put

CAPTURES: dict[str, str] = load("proc_drbd")
OLD = """version: 8.3.11 (api:88/proto:86-96)
GIT-hash: 0de839cee13a4160eed6037c4bddd066645e23c5 build by buildd@allspice, 2013-03-11 21:53:01
 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----
    ns:1 nr:2 dw:3 dr:4 al:5 bm:6 lo:7 pe:8 ua:9 ap:10 ep:1 wo:f oos:11
"""
#: The status code of each situation that is not well.
PASSING = {"invalidated", "paused-sync", "paused-sync-target", "syncsource", "synctarget"}
BAD = {
    "attached-standalone", "connected-inconsistent", "disconnected-standalone", "diskless-peer", "diskless-primary",
    "peer-lost", "split-brain", "split-brain-2", "wfconnection", "wfconnection-primary", "wrong-secret",
}  # fmt: skip


class DrbdTests(SynchronousTestCase):
    """A node whose /proc/drbd says what the test says."""

    def report(self, text: str | None, **facts: Any) -> dict[str, Any]:
        """The data as a client gets it."""
        files = MemoryFiles()
        if text is not None:
            put(files, PROC_DRBD, text)
        collector = DrbdCollector(files, FixedFacts(NodeFacts(**{"heard": True, **facts})))
        data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.successResultOf(collector.collect())))
        return data

    def test_every_situation(self) -> None:
        """Each capture is read whole, and judged as it is."""
        for name, text in CAPTURES.items():
            data = self.report(text)
            self.assertEqual(len(data["deviceInfos"]), text.count(" cs:"), name)
            self.assertEqual(data["versionInfo"]["version"], "8.4.11")
            self.assertEqual(data["status"]["code"], 1 if name in PASSING else 4 if name in BAD else 0, name)

    def test_synchronizing(self) -> None:
        """A mirror that becomes whole tells how far it is, and whose it is."""
        device = self.report(CAPTURES["synctarget"], minors={0: "inst1"})["deviceInfos"][0]
        figures = device.pop("perfIndicators")
        self.assertEqual(
            device,
            {
                "minor": 0, "connectionState": "SyncTarget", "localRole": "Secondary", "remoteRole": "Primary",
                "localState": "Inconsistent", "remoteState": "UpToDate", "replicationProtocol": "C",
                "ioFlags": "r-----", "instance": "inst1",
                "syncStatus": {
                    "percentage": 39.4, "progress": "47104/131072", "progressUnit": "KiB", "timeToFinish": "0:00:05",
                    "speed": 15700, "want": 20480, "speedUnit": "KiB/sec",
                },
            },
        )  # fmt: skip
        self.assertEqual((figures["networkReceive"], figures["writeOrder"], figures["outOfSync"]), (47104, "d", 83968))

    def test_unconfigured(self) -> None:
        """An unconfigured minor has two keys only."""
        devices = self.report(CAPTURES["diskless-unconfigured"])["deviceInfos"]
        self.assertEqual(devices, [{"minor": 0, "connectionState": "Unconfigured"}])

    def test_stands_alone(self) -> None:
        """One that stands alone has no protocol; nobody's mirror has no instance."""
        device = self.report(CAPTURES["split-brain"])["deviceInfos"][0]
        self.assertEqual((device["replicationProtocol"], device["instance"]), (None, None))

    def test_version(self) -> None:
        """What an older module says of its making is told too."""
        version = self.report(OLD)["versionInfo"]
        self.assertEqual(version["gitHash"], "0de839cee13a4160eed6037c4bddd066645e23c5")
        self.assertEqual(version["buildBy"], "buildd@allspice, 2013-03-11 21:53:01")
        self.assertEqual((version["api"], version["proto"]), ("88", "86-96"))

    def test_no_module(self) -> None:
        """Without the module all is well where nobody needs it, bad where somebody does, unknown before that is known."""
        self.assertEqual(self.report(None)["status"], {"code": 0, "message": ""})
        status = self.report(None, minors={0: "inst1"})["status"]
        self.assertEqual(status["code"], 4)
        self.assertIn("inst1", status["message"])
        self.assertEqual(self.report(None, heard=False)["status"]["code"], 2)

    def test_other_text(self) -> None:
        """What is none of DRBD 8, or a device that cannot be read, is an error and no empty report."""
        for text in ("", "hello", CAPTURES["none"] + " 0: cs:Connected ro:Primary\n"):
            self.assertRaises(BlockDeviceError, parse_proc_drbd, text)
