"""Command lines and connection options, from a disk's parameters."""

import struct
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec, MirrorEnds
from ganeti_tx.node.storage.drbd import command, connect
from ganeti_tx.node.storage.drbd.mirror import Mirror
from ganeti_tx.node.storage.drbd.net_options import custom, wire

SECRET = "0123456789abcdef0123456789abcdef01234567"


def mirror(**params: Any) -> Mirror:
    """One with some parameters, as they are called on a node."""
    ends = MirrorEnds(local_address="192.0.2.1", local_minor=3, peer_address="192.0.2.2", peer_minor=4, port=11000)
    disk = DiskSpec(
        uuid="d", dev_type="drbd", size=128, logical_id=["a", "b", 11000, 3, 4, SECRET], params=params, ends=ends
    )
    return Mirror.of(disk)


class CommandTests(SynchronousTestCase):
    """drbdsetup's arguments."""

    def attach(self, **params: Any) -> list[str]:
        """The options of `attach` beyond those that it always has."""
        return command.attach_argv(mirror(**params), "/data", "/meta", 128)[8:]

    def test_attach(self) -> None:
        """Volumes, size, and a fixed rate if nothing else is said."""
        self.assertEqual(
            command.attach_argv(mirror(), "/data", "/meta", 128),
            ["drbdsetup", "attach", "3", "/data", "/meta", "0", "--on-io-error=detach", "--size=128m",
             "--resync-rate=61440k", "--c-plan-ahead=0"],
        )  # fmt: skip

    def test_barriers(self) -> None:
        """Each letter switches one thing off; "n" none."""
        params = {"disabled-barriers": "bf", "disable-meta-flush": True}
        self.assertEqual(self.attach(**params)[:3], ["--disk-barrier=no", "--disk-flushes=no", "--md-flushes=no"])
        self.assertEqual(self.attach(**{"disabled-barriers": "n"}), self.attach())
        self.assertRaises(BlockDeviceError, self.attach, **{"disabled-barriers": "x"})

    def test_dynamic(self) -> None:
        """The controller has its own parameters, and needs a plan."""
        self.assertEqual(
            self.attach(**{"dynamic-resync": True, "c-fill-target": 7}),
            [
                "--c-plan-ahead=20",
                "--c-delay-target=1",
                "--c-fill-target=7s",
                "--c-max-rate=61440k",
                "--c-min-rate=4096k",
            ],
        )
        self.assertRaises(BlockDeviceError, self.attach, **{"dynamic-resync": True, "c-plan-ahead": 0})

    def test_custom(self) -> None:
        """An operator's own words come last, split as by a shell."""
        self.assertEqual(
            self.attach(**{"disk-custom": "--al-extents 67 '--x=a b'"})[-3:], ["--al-extents", "67", "--x=a b"]
        )
        self.assertRaises(BlockDeviceError, self.attach, **{"disk-custom": "'"})

    def test_wrong_parameter(self) -> None:
        """A parameter of another kind is told with its name."""
        error = self.assertRaises(BlockDeviceError, mirror, **{"resync-rate": "fast"})
        self.assertIn("resync-rate", str(error))

    def test_ipv6(self) -> None:
        """Addresses are told with their family."""
        argv = command.disconnect_argv(("2001:db8::1", 11000), ("192.0.2.2", 11000))
        self.assertEqual(argv[2:], ["ipv6:[2001:db8::1]:11000", "ipv4:192.0.2.2:11000"])


class NetOptionsTests(SynchronousTestCase):
    """What a connection is made with."""

    def test_own(self) -> None:
        """Protocol, secret, and what becomes of a split brain; an operator's own options come on top."""
        options = command.net_options(mirror(protocol="A", **{"net-custom": "--max-buffers 8000"}), SECRET, False)
        self.assertEqual(
            wire(options),
            [
                (6, "number", 1),
                (24, "flag", 0),
                (17, "number", 3),
                (18, "number", 7),
                (2, "text", "md5"),
                (1, "text", SECRET),
                (14, "number", 8000),
            ],
        )

    def test_both_primary(self) -> None:
        """Two primaries need protocol C, whatever is set."""
        options = command.net_options(mirror(protocol="A"), SECRET, True)
        self.assertEqual((options["protocol"], options["allow-two-primaries"]), ("C", "yes"))

    def test_as_drbdsetup(self) -> None:
        """The bytes of each option are those that drbdsetup sends, as it was seen to."""
        words = (
            "--protocol A --timeout=41 --congestion-fill=1M --sndbuf-size=4700 --csums-alg=crc32c --always-asbp=yes"
            " --rr-conflict=violently --on-congestion=disconnect"
        )
        sent = {
            number: connect.attributes(connect.option(number, form, value))[number]
            for number, form, value in wire(custom(words))
        }
        self.assertEqual(
            sent,
            {
                6: struct.pack("=I", 1),
                8: struct.pack("=I", 41),
                22: struct.pack("=I", 2048),
                11: struct.pack("=I", 4700),
                5: b"crc32c\0",
                27: b"\1",
                20: struct.pack("=I", 10),
                21: struct.pack("=I", 2),
            },
        )

    def test_refused(self) -> None:
        """What DRBD does not know, what it does not take, and another secret."""
        for words in ("--no-such=1", "max-buffers=1", "--shared-secret=x", "--max-buffers=many", "--protocol=D"):
            error = self.assertRaises(BlockDeviceError, lambda words=words: wire(custom(words)))
            self.assertNotIn("\n", str(error))
            self.assertTrue(str(error))

    def test_secret_hidden(self) -> None:
        """A mirror that is printed does not tell it."""
        self.assertNotIn(SECRET, repr(mirror()))


class AddressTests(SynchronousTestCase):
    """Addresses as the kernel has them."""

    def test_seen(self) -> None:
        """As drbdsetup sends them."""
        self.assertEqual(connect.socket_address("10.99.0.1", 11000).hex(), "02002af80a6300010000000000000000")
        self.assertEqual(len(connect.socket_address("2001:db8::1", 11000)), 28)
