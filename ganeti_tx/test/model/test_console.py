"""What a node may say of a console, and what it may not."""

from typing import Any

import msgspec
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ResultValidationError
from ganeti_tx.model.console import ToldConsole, console_of
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.own_modules import module_argv
from ganeti_tx.test.model import samples

NODE = replace(samples.NODE, name="node2.example.com", primary_ip="192.0.2.2", secondary_ip="198.51.100.2")
SERIAL = module_argv("ganeti_tx.console", "/run/web1.serial")
SPEC = InstanceSpec(
    name="web1", uuid="web1-uuid", primary_node=NODE.name, hypervisor="kvm", os="noop", hvparams={}, beparams={},
    network_port=11000,
)  # fmt: skip


class ConsoleTests(SynchronousTestCase):
    """Of an instance whose node may say anything."""

    def found(self, raw: dict[str, Any], hypervisor: str = "kvm", **hvparams: Any) -> dict[str, Any]:
        """What clients get when a node says this."""
        spec = replace(SPEC, hypervisor=hypervisor, hvparams=hvparams)
        told = msgspec.convert(raw, ToldConsole)
        return dict(msgspec.to_builtins(console_of(spec, NODE, told)))

    def refused(self, raw: dict[str, Any], hypervisor: str = "kvm", **hvparams: Any) -> str:
        """Why nobody gets it; one line that names the node."""
        text = str(self.assertRaises(ResultValidationError, self.found, raw, hypervisor, **hvparams))
        self.assertTrue(text.startswith("node node2.example.com says that the console of instance web1 is "), text)
        self.assertTrue(text.isprintable(), text)
        return text

    def test_where_and_as_whom(self) -> None:
        """A command is run on the instance's node by root, of whatever instance, host and user the node speaks."""
        told = {"kind": "ssh", "command": SERIAL}
        lies = {"instance": "web2", "host": "node1.example.com", "user": "-oProxyCommand=id", "port": 1, "display": 2}
        wanted = {
            "instance": "web1", "kind": "ssh", "host": "node2.example.com", "user": "root", "command": SERIAL,
        }  # fmt: skip
        for raw in (told, {**told, **lies}):
            self.assertEqual(self.found(raw), wanted)

    def test_own_programs(self) -> None:
        """A command runs what the hypervisor has for consoles."""
        own = {
            "kvm": SERIAL,
            "xen-pvm": module_argv("ganeti_tx.xen_console", "web1"),
            "xen-hvm": ["/opt/python", "-P", "-m", "ganeti_tx.xen_console", "web1"],
            "lxc": ["lxc-console", "-P", "/run/lxc", "-n", "web1", "-t", "0"],
            "chroot": ["chroot", "/srv/web1", "/bin/sh"],
        }
        for hypervisor, command in own.items():
            self.assertEqual(self.found({"kind": "ssh", "command": command}, hypervisor)["command"], command)
        for command in own["lxc"], ["sh", "-c", "id"], ["python", *SERIAL[1:]], [SERIAL[0], "-c", "ganeti_tx.console"]:
            self.refused({"kind": "ssh", "command": command})
        self.refused({"kind": "ssh"})
        for word in "two\nlines", "\x1b]0;x\x07", "\x9b2J":
            self.refused({"kind": "ssh", "command": [*SERIAL, word]})

    def test_sizes(self) -> None:
        """What is too much, or of another type, is no answer."""
        for command in [], [*SERIAL, ""], ["x"] * 100, ["x" * 10_000], "sh -c id", [1]:
            self.assertRaises(msgspec.ValidationError, self.found, {"kind": "ssh", "command": command})
        self.assertRaises(msgspec.ValidationError, self.found, {"kind": "telepathy"})

    def test_kinds(self) -> None:
        """A console is of a kind that the hypervisor has."""
        self.refused({"kind": "vnc"}, "lxc")
        self.refused({"kind": "ssh", "command": SERIAL}, "fake")

    def test_displays(self) -> None:
        """A display has the instance's own port, at the node or where its parameter says."""
        wanted = {"instance": "web1", "kind": "vnc", "host": NODE.name, "port": 11000, "display": 5100}
        self.assertEqual(self.found({"kind": "vnc", "port": 22}), wanted)
        for bind, host in (
            ("0.0.0.0", NODE.primary_ip), ("", NODE.name), ("127.0.0.1", "127.0.0.1"), ("br0", "203.0.113.9"),
            ("::1", "::1"), ("/run/vnc", NODE.secondary_ip),
        ):  # fmt: skip
            self.assertEqual(self.found({"kind": "vnc", "host": host}, vnc_bind_address=bind)["host"], host)
        self.assertEqual(self.found({"kind": "spice", "host": "192.0.2.77"}, spice_bind="192.0.2.77")["port"], 11000)

    def test_display_elsewhere(self) -> None:
        """It is nowhere else."""
        for bind, host in (
            ("0.0.0.0", "203.0.113.9"), ("", "node1.example.com"), ("/run/vnc", "/run/vnc"), ("br0", "br0"),
            ("br0", "fe80::1%\x1b[2J"), ("192.0.2.2", "\x07"),
        ):  # fmt: skip
            self.refused({"kind": "vnc", "host": host}, vnc_bind_address=bind)
        spec = replace(SPEC, network_port=None)
        self.assertRaises(ResultValidationError, console_of, spec, NODE, msgspec.convert({"kind": "vnc"}, ToldConsole))

    def test_message(self) -> None:
        """A message is one line that no terminal obeys."""
        found = self.found({"kind": "msg", "message": "none\x1b[2J\r\nhere"})
        self.assertEqual(found, {"instance": "web1", "kind": "msg", "message": "none [2J  here"})
