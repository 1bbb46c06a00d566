"""Tests of gnt-cluster export-config."""

import os
from pathlib import Path

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.blank_secrets import with_blank_secrets
from ganeti_tx.model.config_data import ConfigData, decode, encode
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.node_files import CONFIG
from ganeti_tx.test.cli.fakes import CommandLine
from ganeti_tx.test.config.stores import CONFIG as SAMPLE

#: That of the sample's mirrored disk.
SECRET = "drbd-s3cret"


def with_secrets() -> ConfigData:
    """A configuration with a secret in each place where there can be one."""
    config = SAMPLE
    (uuid, instance), *_ = config.instances.items()
    (disk_uuid, disk), *_ = config.disks.items()
    mirror = replace(disk, dev_type=DiskTemplate.DRBD, logical_id=("n1", "n2", 11000, 0, 1, SECRET), children=())
    return replace(
        config,
        cluster=replace(
            config.cluster,
            osparams_private_cluster={"debian": {"password": SECRET}},
            install_image=f"https://me:{SECRET}@images.example.com:8443/i?a={SECRET}",
            hvparams={Hypervisor.KVM: {"kvm_extra": f"-drive file=ftp://:{SECRET}@192.0.2.1/x -k de"}},
        ),
        instances={**config.instances, uuid: replace(instance, osparams_private={"key": SECRET})},
        disks={**config.disks, disk_uuid: replace(disk, children=(mirror,)), "mirror": mirror},
    )


class ExportTests(SynchronousTestCase):
    """On a node with a configuration."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.root = Path(os.path.abspath(self.mktemp()))
        self.cli.environ["GANETI_ROOTDIR"] = str(self.root)

    def have(self, data: bytes) -> Path:
        """This is the node's configuration."""
        path = self.root / CONFIG.path.lstrip("/")
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        return path

    def test_blank(self) -> None:
        """All is there, as it is, and nothing that is secret; the file itself stays."""
        data = encode(with_secrets())
        path = self.have(data)
        outcome = self.cli("gnt-cluster", "export-config")
        self.assertEqual((outcome.status, outcome.err, path.read_bytes()), (0, "", data))
        self.assertNotIn(SECRET, outcome.out)
        shown = decode(outcome.out.encode())
        for secret, left in ((f"me:{SECRET}@", "@"), (f"?a={SECRET}", "?"), (f":{SECRET}@", "@"), (SECRET, "")):
            data = data.replace(secret.encode(), left.encode())
        self.assertEqual(encode(shown), data)

    def test_every_kind_of_secret(self) -> None:
        """Of the cluster, an instance, a disk, a disk that another one is made of, a URL: each is seen to be there before."""
        self.assertEqual(encode(with_secrets()).count(SECRET.encode()), 8)
        blank = with_blank_secrets(with_secrets())
        self.assertNotIn(SECRET.encode(), encode(blank))
        self.assertEqual(blank.cluster.install_image, "https://@images.example.com:8443/i?")
        self.assertEqual(
            blank.cluster.hvparams, {Hypervisor.KVM: {"kvm_extra": "-drive file=ftp://@192.0.2.1/x -k de"}}
        )

    def test_nothing_here(self) -> None:
        """A node without a copy says who has one; a broken copy is told of in one line."""
        outcome = self.cli("gnt-cluster", "export-config")
        self.assertEqual(outcome.status, 1)
        self.assertIn("only the master and the master candidates of a cluster have the configuration", outcome.err)
        self.have(b"{")
        outcome = self.cli("gnt-cluster", "export-config")
        self.assertNotEqual(outcome.status, 0)
        self.assertNotIn("Traceback", outcome.err)
