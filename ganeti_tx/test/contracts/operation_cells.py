"""Goes through the table of operations with one template in one cluster, and says what became of each."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from attrs import field, frozen

from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.test.contracts.cluster import Scene
from ganeti_tx.test.contracts.operations import DOWN, UP, Row

DONE = "done"
#: An instance that is there and has to go before another row.
SPOILT = "spoilt"
#: One that can be started or stopped instead.
LIKE_NEW = (UP, DOWN)
NO_CHECKS = "--no-name-check --no-ip-check"
_REASON = re.compile(r"(?:error type: (\w+), error details|command execution error):\n(.*)", re.DOTALL)


@frozen
class Column:
    """One template in a cluster whose second node is to have the instances, and whose third one their second copies.

    @ivar name: the instance's; columns of several names may be gone through at a time, but for rows that are wide.
    @ivar disk: what is said of a disk, and of a new one.
    @ivar batch: where the description of an instance can be written.
    @ivar lose: takes the instance's disks away behind the cluster's back.
    @ivar settle: has everything come to rest, and checks it; it is told after what.
    @ivar machines: the nodes, by the first part of their names, on which a hypervisor has the instance.
    @ivar boot: has the guest of the instance, which runs, be one with an operating system.
    @ivar chained: whether the instance stays from row to row, as long as it is like a new one.
    @ivar wrong: what was not as the table says.
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
    machines: Callable[[], list[str]] | None = None
    boot: Callable[[], None] = lambda: None
    chained: bool = field(default=False, kw_only=True)
    wrong: list[str] = field(factory=list, init=False)

    @property
    def declared(self) -> Template:
        """What is known of the template."""
        return TEMPLATES[self.template]

    def cells(self, rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
        """What became of each: done, or why not; what is not as the table says is in `wrong` then, and the rest is gone on with."""
        now: str | None = None
        for row in rows:
            try:
                now, outcome = self.cell(now, row)
            except AssertionError as error:
                self.wrong.append(f"{row.title} with {self.template}: {error}")
                now = SPOILT
            else:
                yield row, outcome
        try:
            self.bring(now, None)
        except AssertionError as error:
            self.wrong.append(f"in the end, with {self.template}: {error}")

    def cell(self, now: str | None, row: Row) -> tuple[str | None, str]:
        """How the instance is after a row before which it was as `now` says, and what became of the row.

        @raise AssertionError: it is not as the table says.
        """
        self.bring(now, row.needs)
        self.prepare(row)
        now, outcome = row.needs, self.outcome(row)
        if outcome == DONE:
            now = SPOILT if row.spoils or row.then not in (UP, DOWN, None) else row.then
        if not self.chained:
            self.bring(now or SPOILT, None)
            self.settle(f"removed after {row.title}")
            now = None
        return now, outcome

    def bring(self, now: str | None, wanted: str | None) -> None:
        """Have the instance be as wanted, whatever it is now."""
        if now == wanted:
            return
        if now in LIKE_NEW and wanted in LIKE_NEW:
            self.ok("gnt-instance startup {name}" if wanted == UP else "gnt-instance shutdown --timeout 0 {name}")
            return
        for name in self.found("name") if now else ():
            self.scene.ok(f"gnt-instance remove -f --shutdown-timeout 0 {name}")
        if wanted:
            self.ok("{add} {name}" if wanted == UP else "{add} --no-start {name}")

    def prepare(self, row: Row) -> None:
        """What comes before its last line."""
        if row.why(self.declared) is not None:
            return
        if row.lost:
            self.lose()
        if row.guest:
            self.boot()
        for line in row.lines[:-1]:
            self.ok(line)

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
        """It is where it is to be, and nowhere else."""
        found = self.found("pnode,status")
        short = [re.sub(r"\.\S+|\s+", lambda match: " " if match[0].isspace() else "", each) for each in found]
        assert len(short) == (row.then is not None), f"{where}: there is {found}"
        assert not short or re.fullmatch(row.then or "", short[0]), f"{where}: it is {found}"
        if self.machines is not None:
            homes = [each.split()[0] for each in short if each.endswith("running")]
            assert self.machines() == homes, f"{where}: it is {found}, and runs on {self.machines()}"

    def found(self, fields: str) -> list[str]:
        """A line for the instance, under whichever name."""
        lines = self.scene.ok(f"gnt-instance list --no-headers -o name,{fields}").splitlines()
        return [line.split(None, 1)[1].strip() for line in lines if line.split()[0].endswith(self.name)]

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


def cells_of(
    columns: Sequence[Column],
    rows: Iterable[Row],
    chosen: Callable[[str, DiskTemplate], bool] = lambda _title, _template: True,
) -> dict[tuple[str, DiskTemplate], str]:
    """What became of each row in each column, by its title and the template.

    The columns go through the narrow rows at the same time; the wide ones act on whole nodes, so they come after, column by column.

    @param chosen: whether a row, by its title, is gone through with a template.
    @raise AssertionError: with all that was not as the table says.
    """
    every = list(rows)

    def cells(column: Column, wide: bool) -> list[tuple[Row, str]]:
        return [*column.cells(row for row in every if row.wide == wide and chosen(row.title, column.template))]

    with ThreadPoolExecutor(len(columns)) as pool:
        found = list(pool.map(lambda column: cells(column, wide=False), columns))
    found += [cells(column, wide=True) for column in columns]
    wrong = [each for column in columns for each in column.wrong]
    assert not wrong, "\n".join(wrong)
    return {
        (row.title, column.template): outcome
        for column, those in zip((*columns, *columns), found, strict=True)
        for row, outcome in those
    }
