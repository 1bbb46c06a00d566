"""A type of machine or processor that the node's QEMU does not know is told before there is an instance with it."""

from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.hints import hint
from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM, KvmParams
from ganeti_tx.node.hypervisor.kvm.known_types import MOST_NAMED, KnownTypes, unknown
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.inprocess.disk import put

#: As QEMU 7.2 prints it, cut.
MACHINES = b"""Supported machines are:
microvm              microvm (i386)
pc                   Standard PC (i440FX + PIIX, 1996) (alias of pc-i440fx-7.2)
pc-i440fx-7.2        Standard PC (i440FX + PIIX, 1996) (default)
q35                  Standard PC (Q35 + ICH9, 2009) (alias of pc-q35-7.2)
none                 empty machine
"""
PROCESSORS = b"""Available CPUs:
x86 486                   (alias configured by machine type)
x86 486-v1                
x86 EPYC-v4               AMD EPYC-v4 Processor
x86 qemu64                (alias configured by machine type)
x86 host                  processor with all supported host features 

Recognized CPUID flags:
  3dnow 3dnowext aes svm vmx
"""  # noqa: W291
DEVICES = b"""Controller/Bridge/Hub devices:
name "i82801b11-bridge", bus PCI

USB devices:
name "usb-kbd", bus usb-bus
name "usb-tablet", bus usb-bus
name "usb-mtp", bus usb-bus, desc "USB Media Transfer Protocol device"
name "braille", bus usb-bus, alias "braille-alias", desc "x"
"""
#: The same of other kinds of QEMU.
OF_ARM = b"Available CPUs:\n  arm926\n  cortex-a7\n"
OF_POWER = b"Available CPUs:\nPowerPC 601_v1          PVR 00010001\nPowerPC 604            (alias for 604_v1.0)\n\n"


class KnownTypesTests(SynchronousTestCase):
    """A scripted QEMU."""

    def setUp(self) -> None:
        self.files, self.runner = MemoryFiles(), FakeProcessRunner()
        self.types = KnownTypes(self.files, self.runner)
        put(self.files, Path(DEFAULT_PROGRAM), b"7.2")
        self.lists(MACHINES, PROCESSORS)

    def lists(self, machines: bytes, processors: bytes) -> None:
        """What it knows."""
        self.runner.script([DEFAULT_PROGRAM, "-machine", "help"], ProcessResult(stdout=machines))
        self.runner.script([DEFAULT_PROGRAM, "-cpu", "help"], ProcessResult(stdout=processors))

    def faults(self, **params: Any) -> list[str]:
        """What is wrong."""
        return self.successResultOf(Deferred.fromCoroutine(self.types.faults(KvmParams(**params))))

    def test_known(self) -> None:
        """What it knows is right, with what else QEMU is told beside it; who names none asks nobody."""
        self.assertEqual(self.faults(), [])
        self.assertEqual(self.runner.calls, [])
        for cpu_type in ("qemu64", "host,+vmx", "qemu64,-svm", "486-v1", "EPYC-v4,enforce"):
            self.assertEqual(self.faults(cpu_type=cpu_type), [])
        for machine in ("pc", "q35", "pc-i440fx-7.2", "q35,usb=off", "type=pc"):
            self.assertEqual(self.faults(machine_version=machine), [])
        self.assertEqual(len(self.runner.calls), 2)

    def test_unknown(self) -> None:
        """What it does not know is named with what it knows, of which the commands find the nearest."""
        machine, processor = self.faults(machine_version="pc-i440fx-7.3", cpu_type="qemu46,+vmx")
        names = "microvm, pc, pc-i440fx-7.2, q35, none"
        wanted = f"machine_version: 'pc-i440fx-7.3' is not known to {DEFAULT_PROGRAM}; known are {names}"
        self.assertEqual(machine, wanted)
        self.assertEqual(
            processor,
            f"cpu_type: 'qemu46' is not known to {DEFAULT_PROGRAM}; known are 486, qemu64, host, and 2 more",
        )
        nobody: Any = None
        self.assertEqual(hint(nobody, machine), "Did you mean pc-i440fx-7.2?")
        self.assertEqual(
            self.faults(cpu_type="vmx")[0].split(";")[0], f"cpu_type: 'vmx' is not known to {DEFAULT_PROGRAM}"
        )

    def test_keymaps(self) -> None:
        """A keymap is where QEMU says that its files are, or where its path says; where there are none all are believed."""
        self.assertEqual(self.faults(keymap="fr"), [])
        self.runner.script([DEFAULT_PROGRAM, "-L", "help"], ProcessResult(stdout=b"/q/share/qemu\n/q/bios\n"))
        put(self.files, Path(DEFAULT_PROGRAM), b"7.2 with files")
        self.assertEqual(self.faults(keymap="xx"), [])
        for name in ("fr", "en-gb"):
            put(self.files, Path("/q/share/qemu/keymaps", name), b"")
        self.assertEqual(self.faults(keymap="fr"), [])
        wrong = f"keymap: 'ft' is not known to {DEFAULT_PROGRAM}; known are en-gb, fr"
        self.assertEqual(self.faults(keymap="ft"), [wrong])
        self.assertEqual(self.faults(keymap="/q/share/qemu/keymaps/fr"), [])
        self.assertEqual(self.faults(keymap="/srv/mine"), ["keymap: /srv/mine is not on this node"])

    def test_devices(self) -> None:
        """A device for USB is one that it lists, by either name, or by what it was called once; that of a node is left alone."""
        self.runner.script([DEFAULT_PROGRAM, "-device", "help"], ProcessResult(stdout=DEVICES))
        for devices in ("", "tablet", "usb-kbd tablet", "usb-mtp,host:1.2", "braille-alias"):
            self.assertEqual(self.faults(usb_devices=devices), [])
        wrong = f"usb_devices: 'usb-tablett' is not known to {DEFAULT_PROGRAM}; known are usb-kbd, usb-tablet, usb-mtp"
        self.assertEqual(self.faults(usb_devices="usb-kbd usb-tablett"), [wrong])

    def test_bounded(self) -> None:
        """Of many some are shown."""
        told = unknown("cpu_type", "x", "/qemu", [f"model{number}" for number in range(MOST_NAMED + 3)])
        self.assertTrue(told.endswith(f"model{MOST_NAMED - 1}, and 3 more"))

    def test_other_program(self) -> None:
        """A program that was replaced is asked anew."""
        self.assertEqual(len(self.faults(machine_version="pc-i440fx-9.0")), 1)
        self.lists(MACHINES + b"pc-i440fx-9.0        Standard PC\n", PROCESSORS)
        self.assertEqual(len(self.faults(machine_version="pc-i440fx-9.0")), 1)
        put(self.files, Path(DEFAULT_PROGRAM), b"9.0, larger")
        self.assertEqual(self.faults(machine_version="pc-i440fx-9.0"), [])

    def test_other_kinds(self) -> None:
        """Lists of other kinds of QEMU are understood."""
        for listed, known in ((OF_ARM, "cortex-a7"), (OF_POWER, "601_v1")):
            self.lists(MACHINES, listed)
            put(self.files, Path(DEFAULT_PROGRAM), listed)
            self.assertEqual(self.faults(cpu_type=known), [])
            self.assertEqual(len(self.faults(cpu_type="qemu64")), 1)

    def test_tells_nothing(self) -> None:
        """A program that lists nothing, or is not there, is not held against the parameter."""
        self.lists(b"", b"what is this?")
        self.assertEqual(self.faults(cpu_type="qemu46", machine_version="pd"), [])
        self.runner.script([DEFAULT_PROGRAM, "-cpu", "help"], ProcessResult(status=1))
        put(self.files, Path(DEFAULT_PROGRAM), b"broken")
        self.assertEqual(self.faults(cpu_type="qemu46", kvm_path="/no/qemu"), [])
        self.assertEqual(self.faults(cpu_type="qemu46"), [])
