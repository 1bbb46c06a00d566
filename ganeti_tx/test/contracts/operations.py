"""Every operation on instances as command lines, and what the declaration of a disk template lets it do.

One table for all clusters: that in this process with the fake hypervisor, and that of real processes with QEMU.
"""

from collections.abc import Callable, Sequence

from attrs import field, frozen

from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.disk_template import Adoption, Mirrored, Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes import OpCode

#: Why an operation cannot be done with a template, as a part of what is said; None: it can.
Why = Callable[[Template], str | None]
MODIFY = "gnt-instance modify --ignore-ipolicy"
#: Where an instance is, and how.
UP = "node2 running"
DOWN = "node2 ADMIN_down"


def always(template: Template) -> None:
    """Templates make no difference."""


def unless(holds: Callable[[Template], bool], reason: str) -> Why:
    """For templates of which this holds."""
    return lambda template: None if holds(template) else reason


def has_disks(template: Template) -> bool:
    """Whether there are disks to do something with."""
    return template.has_disks


def reaches_others(template: Template) -> bool:
    """Whether other nodes have the disks, too."""
    return template.mirrored is not Mirrored.NOT


def two_copies(template: Template) -> bool:
    """Whether the cluster keeps a second copy."""
    return template.secondaries > 0


def on_one_node(template: Template) -> bool:
    """Whether there is nothing that others have."""
    return template.mirrored is Mirrored.NOT or not template.has_disks


def has_a_pair(template: Template) -> str | None:
    """Two nodes, one of which can be exchanged on the way."""
    if two_copies(template):
        return None
    return "have no secondary node" if reaches_others(template) else "does not allow "


def grows(template: Template) -> str | None:
    """Disks of any size."""
    if not template.has_disks:
        return "Invalid disk index: 0"
    return None if template.growable else "have a fixed size"


def is_made_anew(template: Template) -> str | None:
    """Disks that nobody brought."""
    if not template.has_disks:
        return "has no disks"
    return None if template.adoption is not Adoption.ALWAYS else "are devices that are there already"


def becomes(word: DiskTemplate) -> Why:
    """Disks of another template."""

    def why(template: Template) -> str | None:
        if not template.has_disks:
            return "has no disks that could be converted"
        return f"already has disk template {word}" if template is TEMPLATES[word] else None

    return why


def as_lines(lines: str | Sequence[str]) -> tuple[str, ...]:
    """One line or several."""
    return (lines,) if isinstance(lines, str) else tuple(lines)


@frozen
class Row:
    """An operation, in one of the ways in which it is asked for.

    @ivar lines: command lines, of which the last one is it; `{name}` is the instance, `{new}` another name, `{add}` makes an
        instance, `{batch}` is a file that describes it, `{disk}` what is said of a new disk, `{third}` the choice of the
        third node where it is not the only one.
    @ivar there: whether the instance is there before.
    @ivar down: whether it is stopped before.
    @ivar lost: whether its disks are lost before.
    @ivar guest: whether its guest must have an operating system.
    @ivar then: the node on which it is afterwards, and its status, as a pattern; None: there is none.
    @ivar spoils: whether it is no longer like one that was just made, though it is in its place.
    """

    op: type[OpCode]
    way: str
    lines: Sequence[str] = field(converter=as_lines)
    why: Why = always
    there: bool = True
    down: bool = False
    lost: bool = False
    guest: bool = False
    then: str | None = UP
    spoils: bool = False

    @property
    def needs(self) -> str | None:
        """Where the instance is before, and how; None: there is none."""
        return (DOWN if self.down else UP) if self.there else None

    @property
    def wide(self) -> bool:
        """Whether it is done to whatever is on a node or in a group."""
        return not self.op.op_id().startswith("OP_INSTANCE_")

    @property
    def title(self) -> str:
        """The opcode, and the way."""
        return f"{self.op.op_id()} {self.way}".strip()


def down(
    op: type[OpCode],
    way: str,
    lines: str | Sequence[str],
    why: Why = always,
    then: str = DOWN,
    lost: bool = False,
    spoils: bool = False,
) -> Row:
    """One for an instance that does not run."""
    return Row(op, way, lines, why, down=True, then=then, lost=lost, spoils=spoils)


def replaced(way: str, option: str, spoils: bool = False) -> Row:
    """One way of replacing disks."""
    return Row(
        ops.OpInstanceReplaceDisks,
        way,
        f"gnt-instance replace-disks {option} {{name}}",
        unless(two_copies, "expected one secondary but found 0"),
        spoils=spoils,
    )


def evacuated(op: type[OpCode], way: str, line: str, then: str) -> Row:
    """One way of having an allocator choose another place."""
    return Row(op, way, line, unless(reaches_others, "cannot be relocated"), then=then)


def moved(op: type[OpCode], way: str, line: str, then: str = "node3 running") -> Row:
    """One way of going where the disks are, too."""
    return Row(op, way, line, unless(reaches_others, "does not allow "), then=then)


def to_third(op: type[OpCode], line: str) -> Row:
    """One way of going where there is no copy yet."""
    return Row(op, "to a third node", line, has_a_pair, then="node1 running")


SET = ops.OpInstanceSetParams
ROWS: tuple[Row, ...] = (
    Row(ops.OpInstanceCreate, "", "{add} {name}", there=False),
    Row(ops.OpInstanceCreate, "reserve", "{add} --forthcoming {name}", there=False, then=DOWN, spoils=True),
    Row(
        ops.OpInstanceCreate, "commit", ("{add} --forthcoming {name}", "gnt-instance add --commit {name}"), there=False
    ),
    Row(ops.OpInstanceMultiAlloc, "", "gnt-instance batch-create {batch}", there=False),
    Row(ops.OpInstanceQueryData, "", "gnt-instance info {name}"),
    Row(ops.OpInstanceConsole, "", "gnt-instance console --show-cmd {name}"),
    Row(ops.OpInstanceReboot, "soft", "gnt-instance reboot -t soft {name}"),
    Row(ops.OpInstanceReboot, "hard", "gnt-instance reboot -t hard --shutdown-timeout 0 {name}"),
    Row(ops.OpInstanceReboot, "full", "gnt-instance reboot -t full --shutdown-timeout 0 {name}"),
    Row(SET, "parameters", f"{MODIFY} -B vcpus=2 {{name}}"),
    Row(SET, "memory while it runs", f"{MODIFY} -m 100 {{name}}", guest=True, spoils=True),
    Row(SET, "NIC while it runs", f"{MODIFY} --hotplug --net add {{name}}", spoils=True),
    Row(
        SET,
        "disk while it runs",
        f"{MODIFY} --hotplug --disk add:{{disk}} {{name}}",
        unless(has_disks, "Must specify disk type on diskless instance"),
        spoils=True,
    ),
    Row(ops.OpInstanceGrowDisk, "", "gnt-instance grow-disk --ignore-ipolicy {name} 0 4m", grows),
    replaced("on the primary node", "-p"),
    replaced("on the secondary node", "-s"),
    replaced("new secondary node", "-n node1", spoils=True),
    replaced("what is broken", "-a"),
    Row(
        ops.OpInstanceMove,
        "",
        "gnt-instance move -f --shutdown-timeout 0 -n node1 {name}",
        unless(on_one_node, "is not suitable for copying"),
        then="node1 running",
    ),
    moved(ops.OpInstanceFailover, "", "gnt-instance failover -f --shutdown-timeout 0 {third} {name}"),
    to_third(
        ops.OpInstanceFailover,
        "gnt-instance failover -f --shutdown-timeout 0 -n node1 --secondary-node node3 {name}",
    ),
    moved(ops.OpInstanceMigrate, "live", "gnt-instance migrate -f {third} {name}"),
    moved(ops.OpInstanceMigrate, "not live", "gnt-instance migrate -f --non-live {third} {name}"),
    to_third(ops.OpInstanceMigrate, "gnt-instance migrate -f -n node1 --secondary-node node2 {name}"),
    moved(ops.OpInstanceMigrate, "clean up", "gnt-instance migrate -f --cleanup {name}", "node2 running"),
    moved(ops.OpNodeMigrate, "", "gnt-node migrate -f {third} node2"),
    evacuated(ops.OpInstanceChangeGroup, "", "gnt-instance change-group --to rack2 {name}", "node[45] running"),
    evacuated(ops.OpNodeEvacuate, "primary instances", "gnt-node evacuate -f -p node2", "node[13] running"),
    Row(ops.OpNodeEvacuate, "secondary instances", "gnt-node evacuate -f -s node3"),
    evacuated(ops.OpGroupEvacuate, "", "gnt-group evacuate --to rack2 default", "node[45] running"),
    Row(ops.OpInstanceShutdown, "", "gnt-instance shutdown --timeout 0 {name}", then=DOWN),
    down(ops.OpInstanceStartup, "", "gnt-instance startup {name}", then="node2 running"),
    down(ops.OpInstanceActivateDisks, "", "gnt-instance activate-disks {name}"),
    down(
        ops.OpInstanceDeactivateDisks,
        "",
        ("gnt-instance activate-disks {name}", "gnt-instance deactivate-disks {name}"),
    ),
    down(ops.OpInstanceReinstall, "", "gnt-instance reinstall -f {name}", unless(has_disks, "has no disks")),
    down(
        SET,
        "disk removed",
        f"{MODIFY} --disk 0:remove {{name}}",
        unless(has_disks, "Got disk index 0, but there are only 0"),
        spoils=True,
    ),
    down(
        SET,
        "disk detached and attached",
        [
            f"{MODIFY} --disk {each} {{name}}"
            for each in ("0:name=of-{name}", "of-{name}:detach", "attach:name=of-{name}")
        ],
        unless(has_disks, "there is none of name 'of-"),
    ),
    down(SET, "to file", f"{MODIFY} -t file {{name}}", becomes(DiskTemplate.FILE), spoils=True),
    down(SET, "to sharedfile", f"{MODIFY} -t sharedfile {{name}}", becomes(DiskTemplate.SHAREDFILE), spoils=True),
    down(SET, "to ext", f"{MODIFY} -t ext -e provider=shelf {{name}}", becomes(DiskTemplate.EXT), spoils=True),
    down(SET, "offline", f"{MODIFY} --offline {{name}}", then="node2 ADMIN_offline"),
    down(SET, "new primary node", (f"{MODIFY} --new-primary node3 {{name}}", f"{MODIFY} --new-primary node2 {{name}}")),
    down(ops.OpInstanceRecreateDisks, "", "gnt-instance recreate-disks {name}", is_made_anew, lost=True),
    down(
        ops.OpInstanceRename, "", "gnt-instance rename --force --no-name-check --no-ip-check {name} {new}", spoils=True
    ),
    Row(ops.OpInstanceRemove, "", "gnt-instance remove -f --shutdown-timeout 0 {name}", then=None),
)
