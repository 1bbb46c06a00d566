"""sanitize-config: what is in the copy, and what is not."""

import io
import ipaddress
import json
import os
import stat
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.tools.sanitize import main
from ganeti_tx.tools.sanitize.addresses import OtherAddresses

CONFIG: dict[str, Any] = {
    "version": 3000000,
    "cluster": {
        "cluster_name": "grove.corp.test",
        "master_ip": "198.51.100.5",
        "tags": ["of grove.corp.test", "mygrove.corp.test"],
        "hidden_os": ["cedar+old"],
        "osparams": {"cedar": {"a": "1"}},
        "osparams_private_cluster": {"cedar": {"password": "hush"}},
        "reserved_lvs": ["xenvg/4f.disk0"],
    },
    "nodes": {"u1": {"name": "oak.corp.test", "primary_ip": "198.51.100.10", "secondary_ip": "2001:db8:7::10"}},
    "instances": {
        "u2": {
            "name": "web.corp.test",
            "os": "cedar+new",
            "nics": [{"ip": "192.0.2.20"}],
            "osparams_private": {"token": "hush"},
        }
    },
    "networks": {"u3": {"name": "mesh", "network": "192.0.2.16/28", "gateway": "192.0.2.17"}},
    "disks": {
        "u4": {"dev_type": "plain", "logical_id": ["xenvg", "4f.disk0"]},
        "u5": {
            "dev_type": "drbd",
            "logical_id": ["u1", "u1", 11000, 0, 1, "hush"],
            "children": [{"dev_type": "plain", "logical_id": ["xenvg", "5f.disk0_data"]}],
        },
        "u6": {"dev_type": "file", "logical_id": ["loop", "/srv/ganeti/web.corp.test/0"]},
    },
}


class SanitizeTests(SynchronousTestCase):
    """The program."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp())
        self.path.write_text(json.dumps(CONFIG))
        self.copy = self.path.with_name(self.path.name + ".san")

    def run_main(self, *words: str) -> tuple[int, str]:
        """Its status and what it complains of."""
        self.patch(sys, "argv", ["sanitize-config", "--path", str(self.path), *words])
        err = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(err):
            return main.main(), err.getvalue()

    def made(self, *words: str) -> dict[str, Any]:
        """The copy."""
        self.assertEqual(self.run_main(*words), (0, ""))
        found: dict[str, Any] = json.loads(self.copy.read_text())
        return found

    def test_nothing_is_left(self) -> None:
        """No name, address, volume, system or secret of before, and only root may read it."""
        self.made()
        text = self.copy.read_text()
        for old in ("oak", "web.corp", "198.51", "192.0.2", "db8:7", "4f.disk0", "5f.disk0", "cedar", "hush"):
            self.assertNotIn(old, text)
        self.assertEqual(stat.S_IMODE(self.copy.stat().st_mode), 0o600)

    def test_fixed(self) -> None:
        """Without chance it is the same each time, and the same thing has the same name wherever it stands."""
        found = self.made("--no-randomization", "--base-domain=example.net")
        self.assertEqual(found, self.made("--no-randomization", "--base-domain=example.net"))
        self.assertEqual(found["cluster"]["cluster_name"], "cluster1.example.net")
        self.assertEqual(found["cluster"]["tags"], ["of cluster1.example.net", "mygrove.corp.test"])
        self.assertEqual(found["cluster"]["hidden_os"], ["os1+old"])
        self.assertEqual(found["cluster"]["reserved_lvs"], ["xenvg/lv1"])
        self.assertEqual(found["instances"]["u2"]["os"], "os1+new")
        self.assertEqual(found["disks"]["u4"]["logical_id"], ["xenvg", "lv1"])
        self.assertEqual(found["disks"]["u5"]["logical_id"], ["u1", "u1", 11000, 0, 1, ""])
        self.assertEqual(found["disks"]["u6"]["logical_id"], ["loop", "/srv/ganeti/instance1.example.net/0"])

    def test_chance(self) -> None:
        """Two copies have nothing in common by which they could be told to be of one cluster."""
        first, second = self.made(), self.made()
        for read in (
            lambda copy: copy["cluster"]["cluster_name"],
            lambda copy: copy["nodes"]["u1"]["name"],
            lambda copy: copy["disks"]["u4"]["logical_id"][1],
        ):
            self.assertNotEqual(read(first), read(second))

    def test_networks(self) -> None:
        """Addresses stay in their network, which stays one."""
        found = self.made()
        network = ipaddress.ip_network(found["networks"]["u3"]["network"])
        self.assertEqual(network.prefixlen, 28)
        for address in (found["networks"]["u3"]["gateway"], found["instances"]["u2"]["nics"][0]["ip"]):
            self.assertIn(ipaddress.ip_address(address), network)

    def test_kept(self) -> None:
        """What is not to be replaced stays, but for secrets."""
        found = self.made(*(f"--sanitize-{what}=no" for what in ("names", "ips", "lvs", "os-names")))
        wanted = json.loads(json.dumps(CONFIG))
        wanted["cluster"]["osparams"] = {"cedar": {"a": ""}}
        wanted["cluster"]["osparams_private_cluster"] = {}
        wanted["instances"]["u2"]["osparams_private"] = {}
        wanted["disks"]["u5"]["logical_id"][5] = ""
        self.assertEqual(found, wanted)

    def test_older_mirror(self) -> None:
        """Its secret stood twice; it goes from both places, and from texts that repeat it."""
        place = ["198.51.100.10", 11002, "198.51.100.11", 11002, 0, 0]
        for kind in ("drbd8", "drbd"):
            disk = {
                "dev_type": kind,
                "logical_id": ["oak.corp.test", "elm.corp.test", 11002, 0, 0, "c0ffee00"],
                "physical_id": [*place, "c0ffee00"],
            }
            instance = {"name": "web.corp.test", "disks": [disk], "tags": ["secret:c0ffee00"]}
            document = {"cluster": {}, "nodes": {}, "instances": {"web.corp.test": instance}}
            self.path.write_text(json.dumps(document))
            found = self.made("--sanitize-names=no", "--sanitize-ips=no")["instances"]["web.corp.test"]
            self.assertEqual(found["disks"][0]["physical_id"], [*place, ""])
            self.assertEqual(found["disks"][0]["logical_id"][5], "")
            self.assertEqual(found["tags"], ["secret:"])

    def test_free_parameters(self) -> None:
        """What may hold passwords is empty, its keys stay; so does what names things, though a secret repeats it."""
        hvparams = {
            "kvm_extra": "-object secret,data=Hidden1",
            "kernel_args": "pw=Hidden1",
            "acpi": True,
            "disk": "ide",
        }
        extern = {"dev_type": "ext", "logical_id": ["shelf", "v"], "params": {"provider": "shelf", "login": "Hidden1"}}
        document = {
            "cluster": {
                "hvparams": {"kvm": hvparams, "fake": {"vnc_password": "Hidden1", "cdrom": "http://me:Hidden1@h/x"}},
                "os_hvp": {"cedar": {"kvm": {"kvm_extra": "Hidden1"}}},
                "diskparams": {"ext": {"login": "Hidden1"}, "plain": {"stripes": 2}},
            },
            "instances": {"token.corp": {"osparams": {"root": "Hidden1"}, "osparams_private": {"a": "token.corp"}}},
            "disks": {"u1": extern},
        }
        self.path.write_text(json.dumps(document))
        found = self.made("--sanitize-names=no", "--sanitize-lvs=no", "--sanitize-os-names=no")
        self.assertNotIn("Hidden1", self.copy.read_text())
        self.assertEqual(
            found["cluster"]["hvparams"]["kvm"], {"kvm_extra": "", "kernel_args": "", "acpi": True, "disk": "ide"}
        )
        self.assertEqual(found["cluster"]["hvparams"]["fake"]["cdrom"], "http://h/x")
        self.assertEqual(found["cluster"]["diskparams"], {"ext": {"login": ""}, "plain": {"stripes": 2}})
        self.assertEqual(found["instances"], {"token.corp": {"osparams": {"root": ""}, "osparams_private": {}}})
        self.assertEqual(found["disks"]["u1"]["params"], {"provider": "shelf", "login": ""})

    def test_fixed_addresses(self) -> None:
        """They depend on all of the configuration, secrets too, so that who has the copy cannot turn them back."""
        first = self.made("--no-randomization")["cluster"]["master_ip"]
        changed = json.loads(json.dumps(CONFIG))
        others = set()
        for secret in ("1", "2", "3", "4"):
            changed["disks"]["u5"]["logical_id"][5] = secret
            self.path.write_text(json.dumps(changed))
            others.add(self.made("--no-randomization")["cluster"]["master_ip"])
        self.assertGreater(len(others | {first}), 1)

    def test_pipe(self) -> None:
        """Nobody waits at one."""
        self.path.unlink()
        os.mkfifo(self.path)
        status, err = self.run_main()
        self.assertEqual((status, err), (1, f"sanitize-config: {self.path}: not a regular file\n"))

    def test_none(self) -> None:
        """What is no configuration is told in one line, and no copy is made."""
        for text in ("", "[]", "{}", '{"cluster": {}, "disks": {"u": {"dev_type": "plain", "logical_id": ["vg", 1]}}}'):
            self.path.write_text(text)
            status, err = self.run_main()
            self.assertEqual((status, err.count("\n")), (1, 1), text)
            self.assertIn(str(self.path), err)
        self.path.unlink()
        self.assertEqual(self.run_main()[0], 1)
        self.assertFalse(self.copy.exists())


class AddressTests(SynchronousTestCase):
    """Other addresses for those that there are."""

    def test_prefixes(self) -> None:
        """Two addresses have as many first bits in common as before; no two become one."""
        other = OtherAddresses(b"key")
        olds = [
            ipaddress.ip_address(text) for text in ("10.0.0.1", "10.0.0.200", "10.0.1.1", "10.128.0.1", "172.16.0.1")
        ]
        for first in olds:
            for second in olds:
                before = int(first) ^ int(second)
                after = int(other.of(first)) ^ int(other.of(second))
                self.assertEqual(before.bit_length(), after.bit_length())

    def test_in_texts(self) -> None:
        """They are found wherever they stand."""
        other = OtherAddresses(b"key")
        four, six = (str(other.of(ipaddress.ip_address(text))) for text in ("192.0.2.77", "2001:db8::1"))
        for text in ("192.0.2.77", "tcp:192.0.2.77:1", "to 192.0.2.77.", "192.0.2.77/28,x", "a192.0.2.77"):
            self.assertEqual(other.in_text(text), text.replace("192.0.2.77", four))
        for text in ("2001:db8::1", "tcp:[2001:db8::1]:80", "tcp:2001:db8::1", "2001:db8::1/64"):
            self.assertEqual(other.in_text(text), text.replace("2001:db8::1", six))
        self.assertEqual(other.in_text("192.000.002.077"), four)
        self.assertEqual(other.of(ipaddress.ip_address("::ffff:192.0.2.77")), ipaddress.ip_address(f"::ffff:{four}"))

    def test_no_address(self) -> None:
        """Other words are left alone."""
        for text in ("", "web", "1.2.3", "xenvg/lv", "1.2.3.4.5", "aa:00:00:11:22:33", "12:30:45", "999.1.1.1"):
            self.assertEqual(OtherAddresses(b"key").in_text(text), text)
