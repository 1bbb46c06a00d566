"""Goes through the table of operations with one template in one cluster, and says what became of each."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.test.contracts.cluster import Scene
from ganeti_tx.test.contracts.operations import Row

DONE = "done"
NO_CHECKS = "--no-name-check --no-ip-check"
_REASON = re.compile(r"(?:error type: (\w+), error details|command execution error):\n(.*)", re.DOTALL)


@frozen
class Column:
    """One template in a cluster whose second node is to have the instances, and whose third one their second copies.

    @ivar disk: what is said of a disk, and of a new one.
    @ivar settings: of each new instance, as options.
    @ivar batch: where the description of an instance can be written.
    @ivar lose: takes the instance's disks away behind the cluster's back.
    @ivar settle: has everything come to rest, and checks it; it is told after what.
    """

    scene: Scene
    template: DiskTemplate
    name: str
    hypervisor: str
    disk: Mapping[str, Any]
    new_disk: Mapping[str, Any]
    batch: Path
    lose: Callable[[], None]
    settle: Callable[[str], None] = lambda where: None

    @property
    def declared(self) -> Template:
        """What is known of the template."""
        return TEMPLATES[self.template]

    def cells(self, rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
        """What became of each: done, or why not."""
        for row in rows:
            yield row, self.cell(row)

    def cell(self, row: Row) -> str:
        """Make the instance, do it, and remove what is there then. @raise AssertionError: it is not as the table says."""
        if row.there:
            self.ok("{add} --no-start {name}" if row.down else "{add} {name}")
        if row.lost:
            self.lose()
        for line in row.lines[:-1] if row.why(self.declared) is None else ():
            self.ok(line)
        outcome = self.outcome(row)
        for name in self.scene.ok("gnt-instance list --no-headers -o name").split():
            self.scene.ok(f"gnt-instance remove -f --shutdown-timeout 0 {name}")
        self.settle(f"removed after {row.title}")
        return outcome

    def outcome(self, row: Row) -> str:
        """Of its last line."""
        where = f"{row.title} with {self.template}"
        wanted = row.why(self.declared)
        status, out, err = self.scene.run(self.filled(row.lines[-1]).split())
        said = reason(err, self.name, where) if status else DONE
        assert (said == DONE) == (wanted is None) and (wanted or DONE) in said, f"{where}: {said!r}: {out}{err}"
        if not row.lost:
            self.settle(where)
        if status == 0:
            self.check_place(row, where)
        return said

    def check_place(self, row: Row, where: str) -> None:
        """It is where it is to be."""
        found = self.scene.ok("gnt-instance list --no-headers -o pnode,status").strip()
        short = re.sub(r"\.\S+|\s+", lambda match: " " if match[0].isspace() else "", found)
        assert re.fullmatch(row.then or "", short), f"{where}: it is {found!r}"

    def ok(self, line: str) -> str:
        """What a line wrote that must succeed."""
        return self.scene.ok(self.filled(line))

    def filled(self, line: str) -> str:
        """A line of the table for this template."""
        home = "node2:node3" if self.declared.secondaries else "node2"
        disk = f"--disk 0:{words(self.disk)}" if self.declared.has_disks else ""
        where = f"-H {self.hypervisor} -o {self.scene.os} {NO_CHECKS} --ignore-ipolicy -n {home}"
        return line.format(
            add=f"gnt-instance add -t {self.template} {disk} {where} -B minmem=100,maxmem=128",
            batch=self.batch,
            disk=words(self.new_disk),
            name=self.name,
            new=f"new-{self.name}",
            third="" if self.declared.secondaries else "-n node3",
        )

    def write_batch(self) -> None:
        """Describe the instance for `batch-create`."""
        more = {"snode": "node3"} if self.declared.secondaries else {}
        self.batch.write_text(json.dumps([{
            "instance_name": self.name, "mode": "create", "disk_template": self.template, "pnode": "node2",
            "disks": [self.disk] if self.declared.has_disks else [], "nics": [{}], "os_type": self.scene.os,
            "hypervisor": self.hypervisor, "beparams": {"minmem": 100, "maxmem": 128}, "ignore_ipolicy": True,
            "name_check": False, "ip_check": False, **more,
        }]))  # fmt: skip


def words(said: Mapping[str, Any]) -> str:
    """What is said of a disk, as an option."""
    return ",".join(f"{key}={value}" for key, value in said.items())


def reason(err: str, name: str, where: str) -> str:
    """Why a command has failed, of whatever instance. @raise AssertionError: it does not say, or in several lines."""
    found = _REASON.search(err)
    assert found and "Traceback" not in err, f"{where}: {err}"
    code, text = found.groups()
    assert "\n" not in text.strip(), f"{where}: {err}"
    return ": ".join(filter(None, (code, text.strip()))).replace(name, "web1")
