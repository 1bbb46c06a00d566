"""The state of a device with those that it is made of."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.instance import disk_info
from ganeti_tx.model.status import BlockDevStatus, LocalDiskStatus, stacked

WELL = BlockDevStatus(dev_path="/dev/drbd0", size=8)


class StackTests(SynchronousTestCase):
    """Its worst part counts (reference: storage-rules.json, severity_order)."""

    def test_worst_part(self) -> None:
        """Of the device and what is below it."""
        for own in LocalDiskStatus:
            for part in LocalDiskStatus:
                status = BlockDevStatus(dev_path="/dev/drbd0", size=8, ldisk_status=own)
                below = BlockDevStatus(dev_path="/dev/xenvg/d", size=8, ldisk_status=part)
                self.assertEqual(stacked(status, [WELL, below]).ldisk_status, max(own, part))

    def test_missing_part(self) -> None:
        """One that is missing is faulty; without parts a device is as it is."""
        self.assertEqual(stacked(WELL, [WELL, None]).ldisk_status, LocalDiskStatus.FAULTY)
        self.assertEqual(stacked(WELL, []), WELL)

    def test_degraded_part(self) -> None:
        """So is one that is degraded."""
        degraded = BlockDevStatus(dev_path="/dev/drbd1", size=8, is_degraded=True)
        self.assertTrue(stacked(WELL, [degraded]).is_degraded)

    def test_told_apart(self) -> None:
        """gnt-instance info has a word for each."""
        self.assertEqual(set(disk_info._LOCAL_STATES), set(LocalDiskStatus))
        self.assertEqual(disk_info._OK, LocalDiskStatus.OK)
