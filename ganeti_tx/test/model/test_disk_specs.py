"""Tests of what nodes are told of disks that share their physical volumes with none."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import disk_specs, together
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.test.logic.stage import CONFIG


class ExclusiveTests(SynchronousTestCase):
    """The node parameter exclusive_storage, of cluster or group."""

    def told(self, word: DiskTemplate, logical_id: tuple[str, ...], **ndparams: object) -> bool:
        """Whether the node is told that the disk is alone."""
        disk = Disk(serial_no=1, uuid="d", dev_type=word, logical_id=logical_id, size=8)
        (group,) = CONFIG.nodegroups.values()
        node = CONFIG.nodes[CONFIG.cluster.master_node]
        cluster = replace(CONFIG.cluster, ndparams=ndparams)
        (spec,) = disk_specs([disk], cluster, group, node, CONFIG.nodes)
        return spec.exclusive

    def test_told(self) -> None:
        """Disks of volume groups only, where it is switched on."""
        volume = (DiskTemplate("plain"), ("xenvg", "x"))
        self.assertTrue(self.told(*volume, exclusive_storage=True))
        self.assertFalse(self.told(*volume))
        self.assertFalse(self.told(DiskTemplate("file"), ("loop", "/srv/x"), exclusive_storage=True))


class TogetherTests(SynchronousTestCase):
    """Disks that are made together."""

    def test_volumes(self) -> None:
        """Each volume knows the others of its instance, those below mirrors too; other disks know none."""
        volumes = [
            DiskSpec(uuid=name, dev_type="plain", size=8, logical_id=["xenvg", name]) for name in ("a", "b", "c")
        ]
        mirror = DiskSpec(uuid="m", dev_type="drbd", size=8, logical_id=None, children=volumes[1:])
        plain, made = together([volumes[0], mirror])
        self.assertEqual(plain.beside, [["xenvg", "b"], ["xenvg", "c"]])
        self.assertEqual(
            [child.beside for child in made.children], [[["xenvg", "a"], ["xenvg", other]] for other in "cb"]
        )
        self.assertEqual(made.beside, [])
        (file,) = together([DiskSpec(uuid="f", dev_type="file", size=8, logical_id=["loop", "/srv/x"])])
        self.assertEqual(file.beside, [])
