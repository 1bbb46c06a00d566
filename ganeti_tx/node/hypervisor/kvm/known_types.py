"""Which types of machines and processors, which devices and which keymaps a QEMU knows.

It lists them itself, or the directories where they are; a program is asked once, while it is the same.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from attrs import define, field

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.command.devices import USB, words
from ganeti_tx.node.hypervisor.kvm.parameters import with_program
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner

LIMIT = 30.0
#: Bytes of such a list.
MAX_LIST = 1 << 18
#: So many are named where one is not known; of a processor that has versions itself only.
MOST_NAMED = 80
VERSION = re.compile(r".*-v\d+")
#: The option that tells where a QEMU's files are, and which directory there has its keymaps.
PLACES, KEYMAPS = "-L", "keymaps"
#: What lists devices, each with its name and maybe another one.
DEVICE = "-device"
_DEVICES = re.compile(r'^name "([^"]+)"(?:.*, alias "([^"]+)")?', re.MULTILINE)
#: A line of a list; the name of a processor is behind its kind, where that is told.
_MACHINE = re.compile(r"^(?!Supported machines)(\S+) +\S", re.MULTILINE)
_PROCESSOR = re.compile(r"^(?:(?:x86|PowerPC|s390)[ \t])?[ \t]*([\w.+-]+)(?:[ \t]|$)", re.MULTILINE)
#: Before what else a list of processors has.
_FLAGS = re.compile(r"^Recognized ", re.MULTILINE)

#: A file that has not been replaced: its place, size and time.
Identity = tuple[int, int, float]


@define
class KnownTypes:
    """Of the programs of this node; one that lists nothing is believed to know everything."""

    files: IFiles
    runner: IProcessRunner
    _known: dict[tuple[str, str], tuple[Identity, tuple[str, ...]]] = field(factory=dict, init=False)

    async def faults(self, params: KvmParams) -> list[str]:
        """Which of the parameters name something that the program does not know; what an instance has beside it is left to QEMU."""
        program = with_program(params, self.files.exists).kvm_path
        machine = params.machine_version.partition(",")[0].removeprefix("type=")
        processor = params.cpu_type.partition(",")[0]
        asked = (("machine_version", "-machine", machine), ("cpu_type", "-cpu", processor))
        faults = [
            unknown(parameter, word, program, known)
            for parameter, option, word in asked
            if word and (known := await self._listed(program, option)) and word not in known
        ]
        return [*faults, *await self._of_devices(program, params), *await self._of_keymap(program, params.keymap)]

    async def _of_devices(self, program: str, params: KvmParams) -> list[str]:
        """Which devices for USB are none; those of the node have names of their own, which are read elsewhere."""
        wanted = [USB.get(item, item) for item in words(params.usb_devices) if not item.startswith("host:")]
        known = await self._listed(program, DEVICE) if wanted else ()
        offered = [name for name in known if name.startswith("usb-")]
        return [unknown("usb_devices", name, program, offered) for name in wanted if known and name not in known]

    async def _of_keymap(self, program: str, keymap: str) -> list[str]:
        """What is wrong with the name of a keymap, or the path of one that is not QEMU's."""
        if keymap.startswith("/"):
            return [] if self.files.exists(Path(keymap)) else [f"keymap: {keymap} is not on this node"]
        places = [Path(place, KEYMAPS) for place in (await self._listed(program, PLACES) if keymap else ())]
        known = sorted({name for place in places if self.files.exists(place) for name in self.files.listdir(place)})
        return [unknown("keymap", keymap, program, known)] if known and keymap not in known else []

    async def _listed(self, program: str, option: str) -> tuple[str, ...]:
        try:
            found = self.files.stat(Path(program))
        except OSError:
            return ()
        identity = (found.inode, found.size, found.mtime)
        kept = self._known.get((program, option))
        if kept is not None and kept[0] == identity:
            return kept[1]
        result = await self.runner.run([program, option, "help"], timeout=LIMIT, output_limit=MAX_LIST)
        if not result.succeeded or result.truncated:
            return ()
        names = names_in(result.stdout.decode("utf-8", "replace"), option)
        self._known[program, option] = (identity, names)
        return names


def names_in(text: str, option: str) -> tuple[str, ...]:
    """Those of a list that QEMU has printed for an option."""
    if option == PLACES:
        return tuple(text.splitlines())
    if option == DEVICE:
        return tuple(name for found in _DEVICES.findall(text) for name in found if name)
    if option == "-machine":
        return tuple(_MACHINE.findall(text))
    lines = _FLAGS.split(text)[0].splitlines()[1:]
    return tuple(found[1] for line in lines if line.strip() and (found := _PROCESSOR.match(line)))


def unknown(parameter: str, word: str, program: str, known: Sequence[str]) -> str:
    """What is wrong, and what would not be."""
    shown = [name for name in known if not VERSION.fullmatch(name)][:MOST_NAMED]
    more = f", and {left} more" if (left := len(known) - len(shown)) else ""
    return f"{parameter}: {word!r} is not known to {program}; known are {', '.join(shown)}{more}"
