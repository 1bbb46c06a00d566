"""What a guest gets at each path of the reference; and guests that are up to no good."""

import json

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.metad.bucket import MOST, RATE
from ganeti_tx.metad.http import MOST_WRITTEN
from ganeti_tx.metad.talk import MOST as MOST_WAITING
from ganeti_tx.runtime.limited_channel import HEAD_LIMIT
from ganeti_tx.test.metad.guest import FACTS, KEY, OWN, TAP, USER_DATA, GuestClient

JSON, TEXT, BYTES = "application/json", "text/plain; charset=utf-8", "application/octet-stream"


class PathTests(SynchronousTestCase):
    """One guest, who asks for its own."""

    def setUp(self) -> None:
        self.client = GuestClient()

    def get(self, path: str, kind: str = TEXT) -> str:
        """The body of an answer that must be good."""
        status, found, body = self.client.ask(path)
        self.assertEqual((status, found), (200, kind), f"{path}: {body}")
        return body

    def test_cloud_tree(self) -> None:
        """Names and contents as cloud images know them, for any version."""
        self.assertEqual(self.get("/").split("\n"), ["2009-04-04", "latest"])
        self.assertEqual(self.get("/latest/").split("\n"), ["meta-data/", "user-data"])
        listed = self.get("/2009-04-04/meta-data/").split("\n")
        self.assertLessEqual({"instance-id", "local-hostname", "public-keys/", "network/", "local-ipv4"}, {*listed})
        root = "/latest/meta-data"
        for path, wanted in {
            "instance-id": FACTS.uuid,
            "local-hostname": FACTS.name,
            "hostname": FACTS.name,
            "ami-id": "debian+cloud",
            "local-ipv4": "192.0.2.7",
            "mac": "AA:00:00:11:22:33",
            "public-keys": "0=key0",
            "public-keys/0": "openssh-key",
            "public-keys/0/openssh-key": KEY,
            "network/interfaces/macs": "52:54:00:12:34:56/\nAA:00:00:11:22:33/\naa:00:00:44:55:66/",
            "network/interfaces/macs/AA:00:00:11:22:33/subnet-ipv4-cidr-block": "192.0.2.0/24",
        }.items():
            self.assertEqual(self.get(f"{root}/{path}"), wanted, path)
            self.assertEqual(self.get(f"/2026-01-31/meta-data/{path}/"), wanted, path)

    def test_user_data(self) -> None:
        """The user's instructions come as they were before they were encoded."""
        self.assertEqual(self.get("/latest/user-data", BYTES), USER_DATA)

    def test_parameters(self) -> None:
        """All OS parameters, each with its visibility."""
        found = json.loads(self.get("/ganeti/latest/os/parameters.json", JSON))
        self.assertEqual(
            (found["flavour"], found["root-password"], found["user_data"][1]),
            (["vanilla", "public"], ["it's", "secret"], "private"),
        )

    def test_scripts(self) -> None:
        """The text of each script, and what they are told, for a shell."""
        self.assertEqual(self.get("/ganeti/latest/os/scripts/create"), FACTS.scripts["create"])
        self.assertEqual(self.get("/ganeti/latest/os/scripts/"), "create\nrename")
        variables = self.get("/ganeti/2026-01-31/os/environment").splitlines()
        self.assertIn("export INSTANCE_NAME=web1.example.com", variables)
        self.assertIn("export OSP_ROOT_PASSWORD='it'\"'\"'s'", variables)

    def test_meta_data(self) -> None:
        """What has no place among the cloud's."""
        found = json.loads(self.get("/ganeti/latest/meta_data.json", JSON))
        self.assertEqual((found["name"], found["tags"], found["ssh_keys"]), (FACTS.name, ["shop"], [KEY]))
        self.assertEqual([nic["mac"] for nic in found["nics"]], [nic.mac for nic in FACTS.nics])

    def test_nocloud(self) -> None:
        """What cloud-init asks a server for: who it is, and its interfaces by their MAC addresses."""
        root = "/ganeti/latest/nocloud"
        found = json.loads(self.get(f"{root}/meta-data", JSON))
        lines = found.pop("network-interfaces").splitlines()
        self.assertEqual(
            lines[2:7],
            [
                "auto eth0",
                "iface eth0 inet static",
                "    hwaddress ether aa:00:00:11:22:33",
                "    address 192.0.2.7/24",
                "    gateway 192.0.2.1",
            ],
        )
        self.assertEqual(
            [line.split()[3] for line in lines if line.startswith("iface eth")], ["static", "dhcp", "static"]
        )
        self.assertEqual(found, {"instance-id": FACTS.uuid, "local-hostname": FACTS.name, "public-keys": [KEY]})
        self.assertEqual(self.get(f"{root}/user-data", BYTES), USER_DATA)
        self.assertEqual(self.get(f"{root}/vendor-data", BYTES), "")
        interfaces = json.loads(self.get(f"{root}/network-config", JSON))["ethernets"].values()
        self.assertEqual(
            list(interfaces),
            [
                {
                    "match": {"macaddress": "aa:00:00:11:22:33"},
                    "addresses": ["192.0.2.7/24"],
                    "routes": [{"to": "0.0.0.0/0", "via": "192.0.2.1"}],
                },
                {"match": {"macaddress": "aa:00:00:44:55:66"}, "dhcp4": True},
                {"match": {"macaddress": "52:54:00:12:34:56"}, "addresses": [f"{OWN}/16"], "optional": True},
            ],
        )

    def test_talk(self) -> None:
        """Each byte of the node's is read once; what the guest writes waits for the node, as far as there is room."""
        (guest,) = [self.client.guests.named(FACTS.name)]
        assert guest is not None
        guest.talk.to_guest.write(b"go")
        self.assertEqual([self.get("/ganeti/latest/read", BYTES) for _ in range(2)], ["go", ""])
        self.assertEqual(self.client.ask("/ganeti/latest/write", "POST", b"well")[0], 200)
        self.assertEqual(self.client.ask("/ganeti/latest/write", "POST", b" done")[0], 200)
        self.assertEqual((guest.talk.to_node.read(), guest.talk.to_node.read()), (b"well done", b""))
        guest.talk.to_node.write(bytes(MOST_WAITING))
        self.assertEqual(self.client.ask("/ganeti/latest/write", "POST", b"!")[0], 507)
        self.assertEqual(self.client.ask("/ganeti/latest/write")[0], 405)

    def test_nothing(self) -> None:
        """What is not there is not found, also what the reference keeps for later."""
        for path in ("/openstack/latest/meta_data.json", "/soon/meta-data/", "/latest/meta-data/none", "/ganeti/latest/x",
                     "/latest/meta-data/hostname/x", "/ganeti/latest/os/scripts/verify", "/ganeti/latest/nocloud/x",
                     "/latest/meta-data/../user-data", "/%2e%2e/etc/passwd"):  # fmt: skip
            self.assertEqual(self.client.ask(path)[0], 404, path)

    def test_methods(self) -> None:
        """Nothing can be changed; HEAD gives a head."""
        self.assertEqual(self.client.ask("/latest/user-data", "PUT")[0], 405)
        self.assertEqual(self.client.ask("/latest/user-data", "HEAD"), (200, BYTES, ""))


class StrangerTests(SynchronousTestCase):
    """Who is not the instance that has the address."""

    def test_others(self) -> None:
        """Another address, another's interface, and one that cannot be told get nothing."""
        for address, interface in (("169.254.0.6", TAP), (OWN, "gnt.com.1"), (OWN, "eth0"), (OWN, None)):
            client = GuestClient(address, interface)
            for path in ("/", "/latest/meta-data/", "/ganeti/latest/os/parameters.json"):
                self.assertEqual(client.ask(path)[0], 404, (address, interface))

    def test_proxy(self) -> None:
        """What an outsider has a guest's own proxy ask for stays in."""
        client = GuestClient()
        self.assertEqual(client.ask("/latest/user-data", head="X-Forwarded-For: 203.0.113.9\r\n")[0], 403)


class LimitTests(SynchronousTestCase):
    """A guest cannot keep the node busy."""

    def test_rate(self) -> None:
        """Who asks without end is refused, until time has passed."""
        client = GuestClient()
        found = [client.ask("/latest/meta-data/hostname")[0] for _ in range(int(MOST) + 1)]
        self.assertEqual(found, [200] * int(MOST) + [429])
        client.clock.advance(1.1 / RATE)
        self.assertEqual(client.ask("/latest/meta-data/hostname")[0], 200)

    def test_slow(self) -> None:
        """Who does not come to the end of a request, however it drips, is cut off."""
        client = GuestClient()
        client.channel.dataReceived(b"GET /latest/user-data HT")
        for _ in range(4):
            client.clock.advance(HEAD_LIMIT / 4)
            client.channel.dataReceived(b"T")
        self.assertTrue(client.transport.disconnecting)

    def test_bodies(self) -> None:
        """A body comes only with what may be written, and no longer than allowed."""
        for path, length in (("/latest/user-data", 1), ("/ganeti/latest/write", MOST_WRITTEN + 1)):
            client = GuestClient()
            client.channel.dataReceived(f"POST {path} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
            self.assertEqual(client.answer()[0], 413)
            self.assertTrue(client.transport.disconnecting)

    def test_chunks(self) -> None:
        """Nor one whose length is not told."""
        client = GuestClient()
        client.channel.dataReceived(b"POST /ganeti/latest/write HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        self.assertEqual(client.answer()[0], 413)
