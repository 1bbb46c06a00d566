"""An instance with everything that can be told of it, and its connections to the daemon."""

import base64
from typing import Any

from twisted.internet.address import IPv4Address
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from ganeti_tx.metad.guests import Guests
from ganeti_tx.metad.http import MetadataSite
from ganeti_tx.model.guest_facts import GuestFacts, GuestNic, Visibility

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2Y someone@example.com"
USER_DATA = "#cloud-config\npackages: [nginx]\n"
OWN, TAP = "169.254.0.5", "gnt.com.0"

FACTS = GuestFacts(
    name="web1.example.com",
    uuid="0e3a7c5e-5d0a-4b0f-9d2a-3a5f6f2a1b11",
    address=OWN,
    interface=TAP,
    os="debian+cloud",
    hypervisor="kvm",
    tags=["shop"],
    nics=[
        GuestNic(
            mac="AA:00:00:11:22:33",
            ip="192.0.2.7",
            subnet="192.0.2.0/24",
            gateway="192.0.2.1",
            network="public",
        ),
        GuestNic(mac="aa:00:00:44:55:66"),
        GuestNic(mac="52:54:00:12:34:56", ip=OWN, subnet="169.254.0.0/16", network="inside", to_node=True),
    ],
    parameters={
        "flavour": ("vanilla", Visibility.PUBLIC),
        "ssh_authorized_keys": (f"{KEY}\nno key\n", Visibility.PUBLIC),
        "user_data": ("base64:" + base64.b64encode(USER_DATA.encode()).decode(), Visibility.PRIVATE),
        "root-password": ("it's", Visibility.SECRET),
    },
    scripts={"create": "#!/bin/sh\nmkfs\n", "rename": "#!/bin/sh\n"},
    environment={"INSTANCE_NAME": "web1.example.com", "DISK_COUNT": "1"},
)


class GuestClient:
    """One connection, which came from an address by an interface, with what the daemon wrote."""

    def __init__(self, address: str = OWN, interface: str | None = TAP, guests: Guests | None = None) -> None:
        self.clock = Clock()
        if guests is None:
            guests = Guests()
            guests.update(FACTS)
        self.guests = guests
        self.site = MetadataSite(self.guests, lambda transport: interface, self.clock)
        self.channel: Any = self.site.buildProtocol(None)
        self.transport = StringTransport(peerAddress=IPv4Address("TCP", address, 40000))
        self.transport.abortConnection = self.transport.loseConnection  # type: ignore[method-assign]
        self.channel.makeConnection(self.transport)

    def ask(self, path: str, method: str = "GET", body: bytes = b"", head: str = "") -> tuple[int, str, str]:
        """Status, type and body of the answer."""
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        self.channel.dataReceived(f"{method} {path} HTTP/1.1\r\nHost: node\r\n{head}{length}\r\n".encode() + body)
        return self.answer()

    def answer(self) -> tuple[int, str, str]:
        """What was written since."""
        top, _, content = self.transport.value().partition(b"\r\n\r\n")
        self.transport.clear()
        status, *lines = top.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        return int(status.split()[1]), headers.get("content-type", ""), content.decode()
