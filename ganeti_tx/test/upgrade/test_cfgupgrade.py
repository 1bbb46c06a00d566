"""The program cfgupgrade on data directories of its own."""

import json
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.x509 import load_pem_x509_certificate
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.upgrade import read_config
from ganeti_tx.model.config_data import CONFIG_VERSION, ConfigData
from ganeti_tx.model.node_certificates import server_key
from ganeti_tx.runtime.certificates import Identity, digest
from ganeti_tx.runtime.cluster_authority import is_issued_by
from ganeti_tx.test.config.older.facts import PRESENT, VERSIONS, older

MASTER = "oak.lab.example"
LIMIT = 120.0
UP = "Configuration successfully upgraded to version 3.0.2.\n"
#: What is said of a disk that Ganeti cannot have.
IMAGE = {"dev_type": "file", "logical_id": ["loop", "/srv/disk0"], "params": {"format": "qcow2"}}
DOWN = "Configuration successfully downgraded to version 2.16.\n"


class Place:
    """A node's root with a data directory as a version of Ganeti leaves it, and the program."""

    def __init__(self, root: Path, config: Any) -> None:
        self.root = root
        self.data, self.settings = root / "var/lib/ganeti", root / "etc/ganeti"
        self.data.mkdir(parents=True)
        self.settings.mkdir(parents=True)
        self.put(config)
        files = {"server.pem": "", "ca.pem": "", "known_hosts": "", "ssconf_master_node": f"{MASTER}\n"}
        for name, text in files.items():
            (self.data / name).write_text(text)

    def put(self, config: Any) -> None:
        """Another configuration."""
        (self.data / "config.data").write_text(json.dumps(config))

    @property
    def config(self) -> ConfigData:
        """What is there, as this program reads it."""
        return read_config((self.data / "config.data").read_bytes()).config

    @property
    def raw(self) -> Any:
        """What is there, as dicts and lists."""
        return json.loads((self.data / "config.data").read_text())

    def environment(self, name: str) -> Mapping[str, str]:
        """For a process that has a node's name."""
        return {**os.environ, "GANETI_ROOTDIR": str(self.root), "GANETI_HOSTNAME": name}

    def run(self, *options: str, name: str = MASTER) -> tuple[int, str, str]:
        """The program: its status, what it printed, what it complained of."""
        argv = [sys.executable, "-m", "ganeti_tx.upgrade.cfgupgrade", *options]
        done = subprocess.run(
            argv,
            env=self.environment(name),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def files(self) -> dict[str, bytes]:
        """All that there is."""
        return {str(path.relative_to(self.root)): path.read_bytes() for path in self.root.rglob("*") if path.is_file()}


class CfgUpgradeTests(SynchronousTestCase):
    """What it does, and what it refuses."""

    def place(self, version: str) -> Place:
        """A data directory of some version."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        return Place(Path(directory.name), older(version))

    def test_each_version(self) -> None:
        """Every version becomes the present one; the former file stays beside it."""
        for version in VERSIONS:
            place = self.place(version)
            before = (place.data / "config.data").read_bytes()
            self.assertEqual(place.run("--force"), (0, UP, ""), version)
            self.assertEqual((place.raw["version"], place.config.serial_no), (CONFIG_VERSION, 32))
            (backup,) = place.data.glob("config.data.backup-*")
            self.assertEqual((backup.read_bytes(), backup.stat().st_mode & 0o777), (before, 0o600))

    def test_beside(self) -> None:
        """Keys that later versions have are made; what is listed for file storage is what the cluster was set to."""
        place = self.place("2.7")
        (place.data / "rapi_users").write_text("jack abc write\n")
        (place.data / "hmac.key").write_text("kept\n")
        self.assertEqual(place.run("-f")[0], 0)
        modes = {
            name: oct((place.data / name).stat().st_mode & 0o777)
            for name in ("cluster-domain-secret", "rapi.pem", "spice.pem", "spice-ca.pem", "config.data")
        }
        self.assertEqual(
            modes,
            {
                "cluster-domain-secret": "0o640",
                "rapi.pem": "0o440",
                "spice.pem": "0o440",
                "spice-ca.pem": "0o440",
                "config.data": "0o640",
            },
        )
        certificate = load_pem_x509_certificate((place.data / "rapi.pem").read_bytes())
        self.assertIn("grove.lab.example", certificate.subject.rfc4514_string())
        self.assertEqual((place.data / "hmac.key").read_text(), "kept\n")
        self.assertEqual((place.data / "rapi/users").read_text(), "jack abc write\n")
        self.assertEqual(os.readlink(place.data / "rapi_users"), str(place.data / "rapi/users"))
        lines = (place.settings / "file-storage-paths").read_text().splitlines()
        self.assertEqual(lines[2:], ["/srv/lab/file", "/srv/lab/shared"])
        again = {name: data for name, data in place.files().items() if "config.data" not in name}
        (place.settings / "file-storage-paths").write_text("/mine\n")
        again["etc/ganeti/file-storage-paths"] = b"/mine\n"
        self.assertEqual(place.run("-f"), (0, UP, ""))
        self.assertEqual({name: data for name, data in place.files().items() if "config.data" not in name}, again)

    def test_dry_run(self) -> None:
        """It tells what it would do, and no file changes."""
        place = self.place("2.7")
        (place.data / "rapi_users").write_text("jack abc write\n")
        before = place.files()
        status, out, err = place.run("--force", "--dry-run", "-v")
        self.assertEqual((status, out), (0, UP))
        for told in ("2070000 (2.7.0)", "rapi/users", "file-storage-paths", "hmac.key", "spice.pem"):
            self.assertIn(told, err)
        self.assertEqual(place.files(), before)

    def test_again(self) -> None:
        """What is of the present version already is left as it is, byte by byte, without another copy beside it."""
        for version in ("2.7", PRESENT):
            place = self.place(version)
            place.run("-f")
            before = place.files()
            self.assertEqual(place.run("-f"), (0, UP, ""))
            self.assertEqual(place.files(), before)

    def test_ganetis(self) -> None:
        """The master of a cluster of Ganeti's gets keys of an authority, by which it alone is known; the former lie beside them."""
        place = self.place(PRESENT)
        (place.data / "ca.pem").unlink()
        (place.data / "server.pem").write_text("shared by all nodes")
        before = place.files()
        self.assertEqual(place.run("-f", "--dry-run")[:2], (0, UP))
        self.assertEqual(place.files(), before)
        status, out, err = place.run("-f")
        self.assertEqual((status, out), (0, UP))
        self.assertIn("'gnt-node add --readd' sets up the others: elm.lab.example\n", err)
        trusted = (place.data / "ca.pem").read_bytes()
        for name, place_of in (("client.pem", str), ("server.pem", server_key)):
            bundle = (place.data / name).read_bytes()
            self.assertTrue(is_issued_by(bundle, trusted))
            cluster = place.config.cluster
            told = cluster.candidate_certs[place_of(cluster.master_node)]
            self.assertEqual(told, digest(Identity.from_bundle(bundle, name).certificate))
        self.assertEqual(len(place.config.cluster.candidate_certs), 2)
        self.assertIn(told, (place.data / "ssconf_node_certs").read_text())
        self.assertEqual((place.data / "ca.key").stat().st_mode & 0o777, 0o400)
        (former,) = place.data.glob("server.pem.backup-*")
        self.assertEqual((former.read_text(), former.stat().st_mode & 0o777), ("shared by all nodes", 0o600))
        before = place.files()
        self.assertEqual(place.run("-f"), (0, UP, ""))
        self.assertEqual(place.files(), before)

    def test_dropped(self) -> None:
        """What of an older version none knows any more is told; what was there before lies beside it."""
        place = self.place("2.12")
        place.put({**older("2.12"), **{f"gone{number}": 1 for number in range(22)}})
        before = (place.data / "config.data").read_bytes()
        status, out, err = place.run("-f")
        self.assertEqual((status, out), (0, UP))
        self.assertIn("Dropping keys that no version knows any more: gone0, gone1,", err)
        self.assertIn("gone19 and 2 more\n", err)
        (backup,) = place.data.glob("config.data.backup-*")
        self.assertEqual(backup.read_bytes(), before)

    def test_there_and_back(self) -> None:
        """One version back is 2.16; nothing else is lost, and the way up leads to the same again."""
        raw = older("2.16")
        raw["cluster"]["osparams_private_cluster"] = {"cedar": {"key": "s3cret"}}
        place = self.place("2.16")
        place.put(raw)
        place.run("-f")
        up = place.config
        ours = place.raw
        ours["cluster"]["hvparams"]["kvm"]["max_vcpus"] = 8
        instance = next(iter(ours["instances"].values()))
        instance["hvparams"]["tpm"] = True
        place.put(ours)
        self.assertEqual(place.run("--downgrade", "-f"), (0, DOWN, ""))
        self.assertEqual(place.raw["version"], 2160000)
        self.assertNotIn("max_vcpus", place.raw["cluster"]["hvparams"]["kvm"])
        self.assertNotIn("tpm", place.raw["instances"][instance["uuid"]]["hvparams"])
        for gone in ("ssh_key_type", "ssh_key_bits", "default_group", "default_disk_size"):
            self.assertNotIn(gone, place.raw["cluster"])
        down = place.files()["var/lib/ganeti/config.data"]
        self.assertEqual(place.run("--downgrade", "-f"), (0, DOWN, ""))
        self.assertEqual(place.files()["var/lib/ganeti/config.data"], down)
        place.run("-f")
        self.assertEqual((place.config.cluster, place.config.disks), (up.cluster, up.disks))
        self.assertGreater(place.config.serial_no, up.serial_no)

    def test_refused_downgrades(self) -> None:
        """Keys that 2.16 does not know, and versions from which no way leads there."""
        place = self.place(PRESENT)
        before = place.files()
        status, out, err = place.run("--downgrade", "-f")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("SSH keys are of the type rsa, and 2.16 knows dsa keys only; renew them first: gnt-cluster", err)
        self.assertEqual(place.files(), before)
        place = self.place("2.16")
        place.run("-f")
        raw = place.raw
        disk = next(each for each in raw["disks"].values() if not each["children"])
        place.put({**raw, "disks": {**raw["disks"], disk["uuid"]: {**disk, **IMAGE}}})
        status, out, err = place.run("--downgrade", "-f", "--no-verify")
        self.assertEqual((status, out), (1, ""))
        self.assertIn(f"disk {disk['uuid']} is of format qcow2, which no version of Ganeti's can read; convert it", err)
        self.assertIn("first: gnt-instance modify -t file -e format=raw ", err)
        cluster = {**raw["cluster"], "ssh_key_type": "rsa"}
        place.put({**place.raw, "cluster": cluster})
        both = place.run("--downgrade", "-f", "--no-verify")[2].splitlines()
        self.assertEqual([line.split(" ")[1] for line in both], ["the", "disk"])
        place = self.place("2.7")
        self.assertEqual(
            place.run("--downgrade", "-f"),
            (
                1,
                "",
                "cfgupgrade: Downgrade supported only from the latest version (3.0), found 2070000 (2.7.0) instead\n",
            ),
        )

    def test_refusals(self) -> None:
        """Each in one line, and nothing is changed."""
        future = {**older(PRESENT), "version": 3010000}
        broken = older("2.12")
        broken["cluster"]["candidate_pool_size"] = "many"
        for config, missing, told in (
            (future, None, "Configuration version 3.1.0 not supported by this tool"),
            ({}, None, "the configuration cannot be read: it has no version"),
            (broken, None, "cluster.candidate_pool_size: expected `int`, got `str`"),
            (older("2.12"), "server.pem", "does not seem to be a Ganeti configuration directory"),
            (older("2.12"), "ssconf_master_node", "ssconf_master_node does not exist"),
        ):
            place = self.place("2.12")
            place.put(config)
            if missing is not None:
                (place.data / missing).unlink()
            before = place.files()
            status, out, err = place.run("-f")
            self.assertEqual((status, out), (1, ""), told)
            self.assertIn(told, err)
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertEqual(place.files(), before)

    def test_two_files_of_users(self) -> None:
        """Nobody knows which of them counts."""
        place = self.place("2.12")
        (place.data / "rapi_users").write_text("old\n")
        (place.data / "rapi").mkdir()
        (place.data / "rapi/users").write_text("new\n")
        status, _out, err = place.run("-f")
        self.assertEqual(status, 1)
        self.assertIn("Found pre-2.4 RAPI users file at", err)
        self.assertEqual(place.raw["version"], 2120000)

    def test_other_node(self) -> None:
        """Only the master has the newest configuration; who knows better says so."""
        place = self.place("2.12")
        status, _out, err = place.run("-f", name="elm.lab.example")
        self.assertEqual(status, 1)
        self.assertIn("ssconf says master node is 'oak.lab.example', but this machine's name is 'elm.lab.example'", err)
        status, out, err = place.run("-f", "--ignore-hostname", name="elm.lab.example")
        self.assertEqual((status, out), (0, UP))
        self.assertTrue(err.startswith("Warning: "))

    def test_elsewhere(self) -> None:
        """A copy of a data directory."""
        place = self.place("2.12")
        copy, settings = place.root / "copy", place.root / "settings"
        place.data.rename(copy)
        settings.mkdir()
        self.assertEqual(place.run("-f", "--path", str(copy), "--confdir", str(settings))[:2], (0, UP))
        self.assertTrue((settings / "file-storage-paths").exists())
        self.assertEqual(json.loads((copy / "config.data").read_text())["version"], CONFIG_VERSION)

    def test_faults(self) -> None:
        """What is wrong with the result is listed, and does not keep it from being written."""
        raw = older("2.12")
        raw["cluster"]["tcpudp_port_pool"] = [11002]
        place = self.place("2.12")
        place.put(raw)
        status, out, err = place.run("-f")
        self.assertEqual(status, 0)
        self.assertIn("but there are errors.\nPlease review the file.\n", out)
        self.assertIn(" - TCP port 11002 is in use and in the pool", err)
        place.put(raw)
        self.assertEqual(place.run("-f", "--no-verify"), (0, UP, ""))

    def test_question(self) -> None:
        """It is asked on a terminal; without one nothing happens."""
        place = self.place("2.12")
        status, out, err = place.run()
        self.assertEqual((status, out), (1, ""))
        self.assertIn("Nobody can be asked here; --force answers beforehand", err)
        for typed, version in ((b"n\n", 2120000), (b"y\n", CONFIG_VERSION)):
            terminal, end = pty.openpty()
            os.write(terminal, typed)
            subprocess.run(
                [sys.executable, "-m", "ganeti_tx.upgrade.cfgupgrade"],
                env=place.environment(MASTER),
                stdin=end,
                capture_output=True,
                timeout=LIMIT,
                check=False,
            )
            os.close(terminal)
            os.close(end)
            self.assertEqual(place.raw["version"], version)
