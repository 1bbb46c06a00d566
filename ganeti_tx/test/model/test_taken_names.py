"""Tests of names by which something else is meant."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.taken_names import hosts_called, meant_by


class TakenNamesTests(SynchronousTestCase):
    """In full or not, in upper or lower case."""

    def test_hosts(self) -> None:
        """Addresses in every form that resolvers read, this machine, and the hosts; no other names."""
        taken = [
            "node1.dev.example",
            "Node1.dev",
            "node1",
            "localhost",
            "LOCALHOST.localdomain",
            "localhost4",
            "localhost4.localdomain4",
            "localhost6",
            "localhost6.localdomain6",
            "ip6-localhost",
            "ip6-loopback",
            "web.localhost",
            "127.1",
            "1.2.3.4",
            "12345",
            "0x7F.1",
            "web.0x",
        ]
        free = [
            "node",
            "node1.dev.example.org",
            "web1",
            "web.1a",
            "1.example",
            "x0x1",
            "localhost.example",
            "localhost7",
            "ip6-web",
            "mylocalhost",
        ]
        self.assertEqual(hosts_called([*taken, *free], ["NODE1.dev.example"]), taken)

    def test_short(self) -> None:
        """In full they share what is short for both; parts of a part are none, nor does a name share with itself."""
        others = ["web1.dev.example", "WEB1.other", "web11.dev", "web1"]
        for name, meant in (
            ("web1", ["web1.dev.example", "WEB1.other"]),
            ("web1.DEV", ["web1.dev.example", "WEB1.other"]),
            ("web1.zzz", ["web1.dev.example", "WEB1.other"]),
            ("Web1.dev.example", ["WEB1.other"]),
            ("web2.dev.example", []),
            ("dev.example", []),
        ):
            self.assertEqual(meant_by(name, others), meant)
