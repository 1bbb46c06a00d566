"""What the node itself has and uses, for /metrics; Ganeti has no report of it, so no list of collectors names it."""

import os
from collections.abc import Mapping
from pathlib import Path

from attrs import define, field, frozen
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.mond.cpu_load import LIMIT, STAT, TICKS
from ganeti_tx.mond.interfaces import Category, ICollector, Kind
from ganeti_tx.mond.room import Room, Rooms
from ganeti_tx.node.hypervisor.host import read_host_facts
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

MIB = 1 << 20
LOADAVG = Path("/proc/loadavg")
#: The counters of a processor's line (proc(5)); guests are part of the first two.
MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
VGS = ("vgs", "--noheadings", "--nosuffix", "--units", "b", "--separator", "|", "-o", "vg_name,vg_size,vg_free")
VGS_TIMEOUT = 10.0
#: The directories that disk templates have in common on all nodes, by the files that name them.
DIRECTORIES = {word.value: template.pool for word, template in TEMPLATES.items() if template.check and template.pool}


@frozen(kw_only=True)
class HostState:
    """Sizes in bytes, times in seconds; what could not be found out is None or not there."""

    memory: Room | None = None
    cpus: int | None = None
    load: tuple[float, ...] = ()  # over 1, 5 and 15 minutes
    cpu_seconds: Mapping[str, float] = field(factory=dict)
    volume_groups: Mapping[str, Room] = field(factory=dict)
    directories: Mapping[str, Room] = field(factory=dict)  # by disk template


@implementer(ICollector)
@define
class HostStateCollector:
    """What cannot be told hides nothing else."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    rooms: Rooms
    name: str = "host-state"
    category: Category | None = None
    kind: Kind = Kind.PERFORMANCE
    format_version: int = 1

    async def collect(self) -> HostState:
        """See `ICollector`."""
        memory, cpus = self._memory_and_cpus()
        return HostState(
            memory=memory,
            cpus=cpus,
            load=parse_loadavg(self._text(LOADAVG)),
            cpu_seconds=parse_modes(self._text(STAT)),
            volume_groups=await self._volume_groups(),
            directories={
                template: room
                for template, key in DIRECTORIES.items()
                if (directory := self._directory(key)) and (room := await self.rooms.of(directory)) is not None
            },
        )

    def _memory_and_cpus(self) -> tuple[Room | None, int | None]:
        try:
            facts = read_host_facts(self.files)
        except HypervisorError:
            return None, None
        return Room(facts.memory_total * MIB, facts.memory_free * MIB), facts.cpu_total

    async def _volume_groups(self) -> dict[str, Room]:
        result = await self.runner.run(VGS, timeout=VGS_TIMEOUT)
        return parse_vgs(result.stdout.decode("utf-8", "replace")) if result.succeeded else {}

    def _directory(self, key: str) -> Path | None:
        text = self._text(self.paths.ssconf_file(key)).strip()
        return Path(os.path.normpath(text)) if text.startswith("/") else None

    def _text(self, path: Path) -> str:
        try:
            return self.files.read(path, LIMIT).decode("utf-8", "replace")
        except OSError:
            return ""


def parse_loadavg(text: str) -> tuple[float, ...]:
    """The first three words; nothing when they are no numbers."""
    try:
        one, five, fifteen = map(float, text.split()[:3])
    except ValueError:
        return ()
    return one, five, fifteen


def parse_modes(text: str) -> dict[str, float]:
    """The seconds of all processors together by what they did."""
    words = next((line.split()[1:] for line in text.splitlines() if line.startswith("cpu ")), [])
    return {mode: int(word) / TICKS for mode, word in zip(MODES, words, strict=False) if word.isdigit()}


def parse_vgs(text: str) -> dict[str, Room]:
    """The size and what is free of each volume group; a line that is none is left out."""
    found = {}
    for words in (line.strip().split("|") for line in text.splitlines()):
        if len(words) == 3 and words[1].isdigit() and words[2].isdigit():
            found[words[0]] = Room(int(words[1]), int(words[2]))
    return found
