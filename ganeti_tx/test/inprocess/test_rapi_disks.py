"""Operations on disks through the Remote API, in a whole cluster with mirrors."""

from ganeti_tx.test.fakes.volume_groups import DEVICE
from ganeti_tx.test.inprocess.mirrored_case import ADD, THREE, MirroredCase
from ganeti_tx.test.inprocess.test_rapi import RapiCase

WEB = "/2/instances/web1"


class DiskTests(RapiCase, MirroredCase):
    """web1 is down, and mirrored between the second and the third node."""

    nodes_count = 4

    def setUp(self) -> None:
        super().setUp()
        self.ok(f"{ADD} --no-start web1")

    def sizes(self) -> list[int]:
        """Recorded."""
        return [disk.size for disk in self.cluster.config.disks.values()]

    def test_state(self) -> None:
        """Ready, and down again."""
        ((path,),) = self.done("PUT", f"{WEB}/activate-disks?ignore_size=1")
        self.assertEqual(path, ["node2.example.com", "disk/0", "/dev/drbd0"])
        self.assertEqual(self.ready(), [0, THREE, THREE, 0])
        self.done("PUT", f"{WEB}/deactivate-disks")
        self.assertEqual(self.ready(), [0, 0, 0, 0])

    def test_grown(self) -> None:
        """By an amount."""
        self.done("POST", f"{WEB}/disk/0/grow", {"amount": 512})
        self.assertEqual(self.sizes(), [1536])

    def test_recreated(self) -> None:
        """On other nodes."""
        for number in (2, 3):
            self.home(number).volumes.disks.clear()
        self.done("POST", f"{WEB}/recreate-disks", {"nodes": ["node3", "node4"], "disks": [[0, {"size": 2048}]]})
        self.assertEqual(self.sizes(), [2048])
        self.assert_agree()

    def test_replaced(self) -> None:
        """In each way; disks may be named as text."""
        for body in (
            {"mode": "replace_on_secondary", "disks": "0"},
            {"mode": "replace_on_primary", "disks": [0], "early_release": True},
            {"mode": "replace_new_secondary", "remote_node": "node4"},
            {"mode": "replace_auto"},
        ):
            self.done("POST", f"{WEB}/replace-disks", body)
            self.assert_agree(str(body))
        self.done("POST", f"{WEB}/replace-disks?mode=replace_new_secondary&remote_node=node3")
        self.assert_agree()

    def test_storage_units(self) -> None:
        """A physical volume is closed for new volumes, and a volume group mended."""
        units = "/2/nodes/node2/storage"
        self.done("PUT", f"{units}/modify?storage_type=lvm-pv&name={DEVICE}&allocatable=0")
        ((row,),) = self.done("GET", f"{units}?storage_type=lvm-pv&output_fields=name,allocatable")
        self.assertEqual(row, [DEVICE, False])
        self.done("PUT", f"{units}/repair?storage_type=lvm-vg&name=xenvg")
        self.assertEqual(self.cluster.node(2).volume_groups.mended, ["xenvg"])
