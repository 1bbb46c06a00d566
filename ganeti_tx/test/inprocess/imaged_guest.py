"""What is in an image from which instances of a simulated cluster are started."""

from pathlib import Path
from typing import Any

from attrs import define, field

from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.metad.guest import GuestClient

IMAGE, MIB = Path("/srv/install.img"), 1 << 20
NAME = "web1.example.com"


@define(eq=False)
class ImagedGuest:
    """What is in the image: it reads what to do, tells how it went, and powers off; with `stays`, it never does."""

    cluster: InProcessCluster
    says: str = "working\nexit status 0\n"
    stays: bool = False
    read: list[dict[str, Any]] = field(factory=list)
    found: list[set[str]] = field(factory=list)

    def begin(self) -> None:
        """Look for the machine again and again."""
        self.cluster.time.callLater(1.0, self._look)

    def _look(self) -> None:
        node = self.cluster.node(2)
        if NAME in node.running() and len(node.own_disks()) > 1 and not self.stays:
            self._work()
        self.cluster.time.callLater(1.0, self._look)

    def _work(self) -> None:
        node = self.cluster.node(2)
        self.found.append(set(node.own_disks()))
        for facts in [guest.facts for guest in [node.metadata.guests.named(NAME)] if guest is not None]:
            asking = GuestClient(facts.address, facts.interface, node.metadata.guests)
            root = "/ganeti/latest/os"
            paths = (f"{root}/parameters.json", f"{root}/environment", f"{root}/scripts/create")
            self.read.append({path.rpartition("/")[2]: asking.ask(path)[2] for path in paths})
            asking.ask("/ganeti/latest/write", "POST", self.says.encode())
        node.disk.remove(self.cluster.paths.run_dir / "fake-hypervisor" / NAME)


def with_images(cluster: InProcessCluster) -> ImagedGuest:
    """Give every node the image, and an OS "strange" that only such a guest can install."""
    guest = ImagedGuest(cluster)
    guest.begin()
    for node in cluster.members:
        node.add_os("strange")
        place = cluster.paths.os_search_path[0] / "strange"
        node.disk.rename(place / "create", place / "create_untrusted")
        put(node.disk, place / "create_untrusted", b"#!/bin/sh\necho from inside\n", 0o755)
        put(node.disk, place / "parameters.list", b"flavour what it tastes of\npassword of root\n")
        put(node.disk, IMAGE, bytes(3 * MIB - 5))
    return guest
