"""A guest gets its own address by DHCP, and nothing else."""

import struct
from ipaddress import IPv4Address
from typing import Any

from msgspec.structs import replace
from twisted.internet.protocol import DatagramProtocol
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.metad.dhcp.packet import Kind, Option, decode
from ganeti_tx.metad.dhcp.serving import EVERYBODY, AddressService
from ganeti_tx.metad.guests import Guests
from ganeti_tx.test.metad.guest import FACTS, OWN, TAP

MAC = "52:54:00:12:34:56"
NODE = IPv4Address("169.254.169.254").packed


def asked(kind: Kind, mac: str = MAC, own: str = "0.0.0.0", **options: bytes) -> bytes:
    """What a client sends."""
    address = bytes.fromhex(mac.replace(":", ""))
    head = struct.pack("!BBBB4sHH", 1, 1, 6, 0, b"abcd", 3, 0) + IPv4Address(own).packed + bytes(12)
    said = {Option.KIND: bytes([kind]), **{Option[name]: value for name, value in options.items()}}
    tail = b"".join(bytes([code, len(value)]) + value for code, value in said.items())
    return head + address.ljust(16, b"\0") + bytes(192) + b"\x63\x82\x53\x63" + b"\0" + tail + b"\xff"


class Wire:
    """The ports that were opened, and what was written at them."""

    def __init__(self) -> None:
        self.ports: dict[str, DatagramProtocol] = {}
        self.number = 7
        self.written: list[tuple[bytes, Any]] = []
        self.fault: OSError | None = None

    def open(self, interface: str, protocol: DatagramProtocol) -> Any:
        """See Open."""
        if self.fault is not None:
            raise self.fault
        self.ports[interface] = protocol
        wire = self

        class Port:
            """One of them."""

            def write(self, data: bytes, address: Any) -> None:
                """Send."""
                wire.written.append((data, address))

            def stopListening(self) -> None:
                """Close."""
                if wire.ports[interface] is protocol:
                    del wire.ports[interface]

        protocol.transport = port = Port()  # type: ignore[assignment]
        return port


class DhcpTests(SynchronousTestCase):
    """One guest, who asks at its interface."""

    def setUp(self) -> None:
        self.wire = Wire()
        self.service = AddressService(self.wire.open, Clock(), lambda interface: self.wire.number)
        self.guests = Guests(self.service)
        self.guests.update(FACTS)

    def ask(self, data: bytes) -> bytes:
        """The answer; nothing if there is none."""
        self.wire.written.clear()
        self.wire.ports[TAP].datagramReceived(data, (OWN, 68))
        if not self.wire.written:
            return b""
        ((told, address),) = self.wire.written
        self.assertEqual(address, EVERYBODY)
        return told

    def told(self, data: bytes) -> tuple[Kind, str, dict[int, bytes]]:
        """Kind, address and options of the answer, which is a reply to this very question."""
        answer = self.ask(data)
        self.assertEqual((answer[0], answer[4:8]), (2, b"abcd"))
        message = decode(b"\x01" + answer[1:])
        assert message is not None
        self.assertEqual(message.mac, MAC)
        return message.kind, str(IPv4Address(answer[16:20])), dict(message.options)

    def test_lease(self) -> None:
        """It is offered its address, and gets it, with its name and no way out."""
        kind, given, options = self.told(asked(Kind.DISCOVER))
        self.assertEqual((kind, given), (Kind.OFFER, OWN))
        self.assertEqual(options[Option.SERVER], NODE)
        kind, given, options = self.told(asked(Kind.REQUEST, WANTED=IPv4Address(OWN).packed, SERVER=NODE))
        self.assertEqual((kind, given), (Kind.ACK, OWN))
        self.assertEqual((options[Option.MASK], options[Option.HOST_NAME]), (b"\xff\xff\0\0", b"web1"))
        self.assertNotIn(3, options)
        self.assertEqual(self.told(asked(Kind.REQUEST, own=OWN))[:2], (Kind.ACK, OWN))
        self.assertEqual(self.told(asked(Kind.INFORM, own=OWN))[:2], (Kind.ACK, "0.0.0.0"))

    def test_others(self) -> None:
        """Another address is refused; another card, another server's customers and what is no question get no answer."""
        self.assertEqual(self.told(asked(Kind.REQUEST, WANTED=IPv4Address("169.254.0.6").packed))[0], Kind.NAK)
        self.assertEqual(self.ask(asked(Kind.DISCOVER, mac="52:54:00:12:34:57")), b"")
        self.assertEqual(self.ask(asked(Kind.REQUEST, WANTED=IPv4Address(OWN).packed, SERVER=b"\x01\x02\x03\x04")), b"")
        for kind in (Kind.RELEASE, Kind.DECLINE, Kind.OFFER, Kind.ACK):
            self.assertEqual(self.ask(asked(kind)), b"")
        whole = asked(Kind.DISCOVER)
        for length in range(len(whole) - 2):  # without its end it is a question still
            self.assertEqual(self.ask(whole[:length]), b"", length)
        self.assertEqual(self.ask(b"\x02" + whole[1:]), b"")

    def test_ports(self) -> None:
        """There is a port as long as the guest is known, where it is now; where somebody else has it, there is none."""
        self.assertEqual(list(self.wire.ports), [TAP])
        self.guests.update(replace(FACTS, interface="gnt.com.7"))
        self.assertEqual(list(self.wire.ports), ["gnt.com.7"])
        self.guests.forget(FACTS.name)
        self.assertEqual(list(self.wire.ports), [])
        self.wire.fault = OSError(98, "Address already in use")
        self.guests.update(FACTS)
        self.assertEqual(list(self.wire.ports), [])

    def test_made_anew(self) -> None:
        """An interface of the same name that is another one gets a port of its own; one that is still the same keeps its port."""
        before = self.wire.ports[TAP]
        self.guests.update(FACTS)
        self.assertIs(self.wire.ports[TAP], before)
        self.wire.number += 1
        self.guests.update(FACTS)
        self.assertIsNot(self.wire.ports[TAP], before)
        self.assertEqual(self.told(asked(Kind.DISCOVER))[0], Kind.OFFER)
