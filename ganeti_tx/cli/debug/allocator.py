"""gnt-debug iallocator."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.options import DRY_RUN, IALLOCATOR, PRIORITY, TREE, Argument, Command, Option
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.cli.values import InvalidValue, parse_size
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError
from ganeti_tx.model.disk_templates import WITHOUT_DISKS
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes.types import AllocatorDirection, AllocatorMode, EvacuationMode

#: What is between slashes of one NIC.
NIC_PARTS = ("mac", "ip", "bridge")


def iallocator(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Print what an allocator would be told, or what it says to that; the words are instances."""
    op = opcode(
        "OP_TEST_ALLOCATOR",
        mode=options.mode,
        direction=options.direction,
        name=words[0],
        instances=list(words),
        memory=options.memory,
        vcpus=options.vcpus,
        spindle_use=unless(1, options.spindle_use),
        os=options.os,
        disk_template=options.disk_template,
        disks=[] if options.disk_template == WITHOUT_DISKS else disks_of(options.disks),
        nics=nics_of(options.nics),
        tags=[tag for tag in (options.tags or "").split(",") if tag],
        iallocator=options.iallocator,
        evac_mode=options.evac_mode,
        target_groups=options.target_groups or None,
        count=options.count,
    )
    if (said := run_opcode(session, options, op)) is not None:
        show(session, [said], lambda: {"text": said})
    return ExitCode.SUCCESS


def disks_of(text: str) -> list[dict[str, Any]]:
    """The sizes between commas. @raise OpPrereqError: one is none."""
    try:
        return [{"mode": "rw", "size": parse_size(size)} for size in text.split(",")]
    except InvalidValue as error:
        raise OpPrereqError(f"Invalid disks parameter '{text}': {error}", ECode.INVAL) from None


def nics_of(text: str) -> list[dict[str, str]]:
    """MAC[/IP[/BRIDGE]] between commas; what is empty is left to the cluster."""
    return [
        {name: value for name, value in zip(NIC_PARTS, nic.split("/"), strict=False) if value}
        for nic in (text.split(",") if text else ())
    ]


IALLOCATOR_TEST = Command(
    iallocator,
    (Argument("unknown", 1),),
    (
        Option(
            ("--dir",), "direction", "in shows what it would be told, out what it says", "choice",
            AllocatorDirection.IN.value, choices=tuple(AllocatorDirection),
        ),
        IALLOCATOR,
        Option(
            ("-m", "--mode"), "mode", "what is asked for", "choice", AllocatorMode.RELOCATE.value,
            choices=tuple(AllocatorMode),
        ),
        Option(("--memory",), "memory", "memory of a new instance", "unit", 128),
        Option(("--disks",), "disks", "sizes of a new instance's disks, comma separated", "string", "4096,4096"),
        Option(
            ("-t", "--disk-template"), "disk_template", "template of a new instance's disks", "choice",
            choices=tuple(DiskTemplate), metavar="TEMPL",
        ),
        Option(
            ("--nics",), "nics", "a new instance's NICs, each MAC[/IP[/BRIDGE]], comma separated", "string",
            "00:11:22:33:44:55",
        ),
        Option(("-o", "--os-type"), "os", "OS of a new instance", "string", metavar="<os>"),
        Option(("-p", "--vcpus"), "vcpus", "virtual processors of a new instance", "int", 1),
        Option(("--tags",), "tags", "tags of a new instance, comma separated", "string"),
        Option(
            ("--evac-mode",), "evac_mode", "which instances leave their node", "choice", EvacuationMode.ALL.value,
            choices=tuple(EvacuationMode),
        ),
        Option(("--target-groups",), "target_groups", "group to come to; may be repeated", "string", [], "append"),
        Option(("--spindle-use",), "spindle_use", "spindles that a new instance uses", "int", 1),
        Option(("--count",), "count", "how many new instances", "int", 2),
        DRY_RUN,
        PRIORITY,
    ),
    prints=TREE,
)  # fmt: skip
