"""An instance changed with its disks in one go, and that taken back."""

from msgspec.structs import replace

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.disk import settings_of
from ganeti_tx.model.instance import Instance
from ganeti_tx.test.config.test_changes import NEW_DISK, ChangeCase
from ganeti_tx.test.model.samples import INSTANCE, NETWORK


class ChangeDevicesTests(ChangeCase):
    """The sample instance has two disks."""

    def held(self) -> Instance:
        """The instance as it is."""
        return self.store.snapshot.instances[INSTANCE.uuid]

    def test_all_at_once(self) -> None:
        """One disk comes, one goes and is nobody's, one has other settings, and each has its place; one serial number more."""
        before, (first, *rest) = self.held(), self.held().disks
        disk = self.store.snapshot.disks[first]
        other = replace(settings_of(disk), mode="ro", name="log")
        wanted = replace(before, os="other", disks=("new-disk", first))
        after = self.done(self.config.change_instance(wanted, [NEW_DISK], [other]))
        self.assertEqual((after.os, after.disks, after.serial_no), ("other", ("new-disk", first), before.serial_no + 1))
        disks = self.store.snapshot.disks
        self.assertEqual([disks[uuid].iv_name for uuid in after.disks], ["disk/0", "disk/1"])
        self.assertEqual((disks[first].mode, disks[first].name), ("ro", "log"))
        self.assertEqual([each.uuid for each in self.done(self.config.detached_disks())], rest)

    def test_addresses(self) -> None:
        """An address that a NIC loses is free in its network, in the same change."""
        [nic] = self.held().nics
        address = self.done(self.config.generate_ip(NETWORK.uuid))
        inside = replace(nic, network=NETWORK.uuid, ip=address)
        self.done(self.config.change_instance(replace(self.held(), nics=(inside,)), [], []))
        self.refused(self.config.reserve_ip(NETWORK.uuid, address), Exception, address)
        self.done(self.config.change_instance(replace(self.held(), nics=()), [], []))
        self.done(self.config.reserve_ip(NETWORK.uuid, address))

    def test_refused(self) -> None:
        """What was read before another change, and a disk that is there already, change nothing."""
        old = replace(self.held(), serial_no=self.held().serial_no - 1)
        self.refused(self.config.change_instance(old, [], []), ConfigurationError, "changed meanwhile")
        again = replace(NEW_DISK, uuid=self.held().disks[0])
        self.refused(self.config.change_instance(self.held(), [again], []), ConfigurationError, "cannot be added")

    def test_taken_back(self) -> None:
        """All is as before but for the counts; a change that was never made, or was taken back before, is none."""
        before, disks = self.held(), self.store.snapshot.disks
        undo = (before, [settings_of(disks[uuid]) for uuid in before.disks], ["new-disk"])
        self.done(self.config.restore_instance(*undo))
        self.assertEqual(self.held(), before)
        self.done(self.config.change_instance(replace(before, os="x", disks=("new-disk",)), [NEW_DISK], []))
        for _ in range(2):
            self.done(self.config.restore_instance(*undo))
            held = self.held()
            self.assertEqual(replace(held, serial_no=before.serial_no, mtime=before.mtime), before)
            self.assertEqual(self.store.snapshot.disks.keys(), disks.keys())
