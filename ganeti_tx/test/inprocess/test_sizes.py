"""Sizes as they are written, by command line, LUXI and Remote API."""

from typing import Any

from ganeti_tx.model.opcodes import OpClusterSetParams, OpInstanceCreate
from ganeti_tx.test.inprocess.test_rapi import RapiCase

#: As written, and in MiB.
WORDS = {"1.3M": 4, "513": 516, "1 g": 1024, "1.5gib": 1536}
DISK_WORDS = {"1025.3M": 1028, "0.9995 GB": 1024}


class WrittenSizeTests(RapiCase):
    """The same words mean the same everywhere."""

    def test_memory(self) -> None:
        """Memory of instances, for the whole cluster."""
        ways: list[Any] = [self.by_command, self.by_luxi, self.by_rapi]
        for way in ways:
            for text, mebibytes in WORDS.items():
                self.ok("gnt-cluster modify -B minmem=0,maxmem=8g")
                way(text)
                self.assertEqual(self.cluster.config.cluster.beparams["default"]["minmem"], mebibytes, (way, text))

    def by_command(self, text: str) -> None:
        """As an operator types it."""
        status, _out, said = self.scene().run(["gnt-cluster", "modify", "-B", f"minmem={text}"])
        self.assertEqual((status, said), (0, ""))

    def by_luxi(self, text: str) -> None:
        """As a program on the master sends it."""
        op = {"OP_ID": OpClusterSetParams.op_id(), "beparams": {"minmem": text}, "reason": []}
        self.ended(self.luxi().submit_job([op]))

    def by_rapi(self, text: str) -> None:
        """As a program elsewhere sends it."""
        self.done("PUT", "/2/modify", {"beparams": {"minmem": text}})

    def ended(self, job: int) -> None:
        """The job has ended well."""
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(job), ["success"])

    def test_disks(self) -> None:
        """Disks of new instances."""
        for text, mebibytes in DISK_WORDS.items():
            for number, way in enumerate((self.disk_by_command, self.disk_by_luxi, self.disk_by_rapi), 1):
                way(f"web{number}.example.com", text)
                (disk,) = self.cluster.config.disks.values()
                self.assertEqual(disk.size, mebibytes, (way, text))
                self.ok(f"gnt-instance remove -f web{number}")

    def disk_by_command(self, name: str, text: str) -> None:
        """As an operator types it."""
        words = ["gnt-instance", "add", "-t", "file", "--disk", f"0:size={text}", "-o", "noop", "-n", "node2"]
        status, _out, said = self.scene().run([*words, "--no-start", name])
        self.assertEqual((status, said), (0, ""))

    def disk_by_luxi(self, name: str, text: str) -> None:
        """As a program on the master sends it."""
        self.ended(
            self.luxi().submit_job([{"OP_ID": OpInstanceCreate.op_id(), "reason": [], **self.wanted(name, text)}])
        )

    def disk_by_rapi(self, name: str, text: str) -> None:
        """As a program elsewhere sends it."""
        self.done("POST", "/2/instances", {"__version__": 1, **self.wanted(name, text)})

    def wanted(self, name: str, text: str) -> dict[str, Any]:
        """A new instance that stays off."""
        return {
            "instance_name": name, "mode": "create", "disk_template": "file", "disks": [{"size": text}], "nics": [{}],
            "os_type": "noop", "pnode": "node2", "start": False,
        }  # fmt: skip
