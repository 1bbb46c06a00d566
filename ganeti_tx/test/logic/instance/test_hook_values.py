"""What hooks are told of instances."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.instance.hook_values import disk_values, instance_values
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance_view import view_of
from ganeti_tx.test.model import samples


class InstanceValuesTests(SynchronousTestCase):
    """An instance with a mirrored disk and with parameters that nobody may see."""

    def test_mirror(self) -> None:
        """Both halves of a mirror and what they are made of, without the secret."""
        (disk,) = (each for each in samples.CONFIG.disks.values() if each.mirrors)
        told = disk_values(disk)
        wanted = {"PNODE": "node1-uuid", "SNODE": "node2-uuid", "PORT": 11000, "PMINOR": 0, "SMINOR": 1}
        self.assertEqual({name: told[name] for name in wanted}, wanted)
        for name, child in zip(("DATA", "META"), disk.children, strict=True):
            assert child.logical_id is not None
            self.assertEqual((told[f"{name}_VG"], told[f"{name}_ID"]), tuple(child.logical_id))

    def test_places(self) -> None:
        """Where disks are that are not mirrored, in the words of the table."""
        (mirrored,) = (each for each in samples.CONFIG.disks.values() if each.mirrors)
        for word, logical_id, wanted in (
            ("ext", ("shelf", "v"), {"PROVIDER": "shelf", "ID": "v"}),
            ("rbd", ("rbd", "u.rbd.disk0"), {"DRIVER": "rbd", "ID": "u.rbd.disk0"}),
            ("blockdev", ("manual", "/dev/disk/x"), {"DRIVER": "manual", "ID": "/dev/disk/x"}),
        ):
            told = disk_values(replace(mirrored, dev_type=DiskTemplate(word), logical_id=logical_id, children=()))
            self.assertEqual({name: told[name] for name in wanted}, wanted)

    def test_secrets(self) -> None:
        """Neither the secret of a mirror nor private parameters are told."""
        instance = replace(samples.INSTANCE, osparams_private={"password": "pr1vate"})
        view = view_of(
            instance,
            cluster=samples.CLUSTER,
            disks=samples.CONFIG.disks,
            nodes=samples.CONFIG.nodes,
            groups=samples.CONFIG.nodegroups,
            networks=samples.CONFIG.networks,
        )
        told = instance_values(view)
        self.assertEqual(told["INSTANCE_SECONDARIES"], "node2.example.com")
        text = repr(told)
        self.assertNotIn("s3cret", text)
        self.assertNotIn("pr1vate", text)
