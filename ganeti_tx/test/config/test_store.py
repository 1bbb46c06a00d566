"""The store: group commit, failures of the disk, optimistic checks."""

import errno
import json
from typing import Any

import msgspec
from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.reservations import Reservations
from ganeti_tx.config.store import ConfigStore
from ganeti_tx.errors import ConfigurationError, ConfigVersionMismatch
from ganeti_tx.model.config_data import CONFIG_VERSION, MAX_CONFIG_BYTES, decode, encode
from ganeti_tx.model.enums import AdminState, AdminStateSource, TagKind
from ganeti_tx.runtime.files_errors import NotSynced
from ganeti_tx.test.config.stores import CONFIG, PATHS, SlowFiles, clock, config_of, loaded
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.model.samples import INSTANCE


class StoreTests(SynchronousTestCase):
    """ConfigStore with writes that the test holds back."""

    def setUp(self) -> None:
        self.files = SlowFiles()
        self.store = loaded(self.files)
        self.config = config_of(self.store, Reservations())
        self.files.slow = True
        self.files.written = 0

    def tag(self, tag: str) -> "Deferred[None]":
        """Begin to add a tag to the cluster."""
        return Deferred.fromCoroutine(self.config.change_tags(TagKind.CLUSTER, None, [tag], []))

    def on_disk(self) -> Any:
        """What the file holds."""
        return decode(self.files.read(PATHS.config_file, 1 << 20))

    def test_counts_when_written(self) -> None:
        """A change fires, and is seen, only when it is on disk."""
        added = self.tag("new")
        self.assertNoResult(added)
        self.assertNotIn("new", self.store.snapshot.cluster.tags)
        self.files.finish()
        self.successResultOf(added)
        self.assertEqual(self.store.snapshot, self.on_disk())
        self.assertIn("new", self.store.snapshot.cluster.tags)
        self.assertEqual(self.files.stat(PATHS.config_file).mode, 0o640)

    def test_serial_numbers(self) -> None:
        """A write raises the configuration's serial number and that of the object, with the time."""
        before = self.store.snapshot
        added = self.tag("new")
        self.files.finish()
        self.successResultOf(added)
        after = self.store.snapshot
        self.assertEqual(after.serial_no, before.serial_no + 1)
        self.assertEqual(after.cluster.serial_no, before.cluster.serial_no + 1)
        self.assertGreater(after.cluster.mtime, before.cluster.mtime)

    def test_group_commit(self) -> None:
        """Changes that arrive while a write is under way share the next one."""
        first = self.tag("t0")
        rest = [self.tag(f"t{number}") for number in range(1, 50)]
        self.files.finish()
        self.successResultOf(first)
        for each in rest:
            self.assertNoResult(each)
        self.files.finish()
        for each in rest:
            self.successResultOf(each)
        self.assertEqual(self.files.written, 2)
        self.assertEqual(len(self.on_disk().cluster.tags), 52)

    def test_disk_full(self) -> None:
        """When a write fails, it and all changes built on it fail with the reason, and memory is as the disk."""
        first, second = self.tag("one"), self.tag("two")
        self.files.fail(OSError(errno.ENOSPC, "No space left on device"))
        for each in (first, second):
            error = self.failureResultOf(each, ConfigurationError).value
            self.assertIn("No space left on device", str(error))
        self.assertEqual(self.store.snapshot, self.on_disk())
        self.assertEqual(self.store.newest, self.store.snapshot)
        third = self.tag("three")
        self.files.finish()
        self.successResultOf(third)
        self.assertEqual(self.on_disk().cluster.tags, ("a", "b", "three"))

    def test_too_large(self) -> None:
        """What could not be read again is not written; a smaller change is."""
        self.files.slow = False
        large = replace(INSTANCE, osparams={"key": "x" * MAX_CONFIG_BYTES})
        refused = Deferred.fromCoroutine(self.config.update_instance(large))
        error = self.failureResultOf(refused, ConfigurationError).value
        self.assertIn(f"larger than the allowed {MAX_CONFIG_BYTES}", str(error))
        self.assertEqual(self.store.snapshot, self.on_disk())
        self.successResultOf(self.tag("small"))
        self.assertIn("small", self.on_disk().cluster.tags)

    def test_unsynced(self) -> None:
        """A write that is in place counts, although its directory could not be synced; it is repeated once."""
        added = self.tag("one")
        self.files.fail(NotSynced(errno.EIO, "not synced", str(PATHS.config_file)))
        self.assertNoResult(added)
        self.files.fail(OSError(errno.EIO, "Input/output error"))
        self.successResultOf(added)
        self.assertEqual(self.files.written, 2)
        self.assertEqual(self.store.snapshot, self.on_disk())
        second = self.tag("two")
        self.files.finish()
        self.successResultOf(second)
        self.assertEqual(self.store.snapshot.serial_no, CONFIG.serial_no + 2)

    def test_change_out_of_a_refusal(self) -> None:
        """Who changes again as soon as he hears of a refusal gets a new chance, with the serial number that is next."""
        again: list[Deferred[None]] = []
        self.tag("one").addErrback(lambda _: again.append(self.tag("again")))
        self.files.fail(OSError(errno.EDQUOT, "Disk quota exceeded", str(PATHS.config_file)))
        self.files.finish()
        self.successResultOf(again[0])
        self.assertEqual(self.on_disk().serial_no, CONFIG.serial_no + 1)

    def test_cancelled(self) -> None:
        """Who stops waiting does not take the change back, nor those of others."""
        first, second = self.tag("one"), self.tag("two")
        first.cancel()
        self.failureResultOf(first)
        self.files.finish()
        self.files.finish()
        self.successResultOf(second)
        self.assertEqual(self.on_disk().cluster.tags, ("a", "b", "one", "two"))

    def test_no_change(self) -> None:
        """What is so already needs no write."""
        done = Deferred.fromCoroutine(
            self.config.set_instance_state(INSTANCE.uuid, AdminState.UP, AdminStateSource.ADMIN, True)
        )
        self.assertEqual(self.successResultOf(done), INSTANCE)
        self.assertEqual(self.files.written, 0)

    def test_stale_update(self) -> None:
        """A value that was made from an older version of the object is refused, the newer one is named."""
        self.files.slow = False
        renamed = replace(INSTANCE, os="other")
        newer = self.successResultOf(Deferred.fromCoroutine(self.config.update_instance(renamed)))
        self.assertEqual(newer.serial_no, 2)
        refused = Deferred.fromCoroutine(self.config.update_instance(replace(INSTANCE, os="third")))
        error = self.failureResultOf(refused, ConfigurationError).value
        self.assertIn("has serial number 2, the change was made to the older 1", str(error))
        self.assertEqual(self.store.snapshot.instances[INSTANCE.uuid].os, "other")

    def test_refused_by_what_is_under_way(self) -> None:
        """Who is refused because of a change that is being written hears of it when that change can be read."""
        before = self.store.snapshot.cluster
        added = self.tag("new")
        refused = Deferred.fromCoroutine(self.config.update_cluster(replace(before, max_running_jobs=7)))
        self.assertNoResult(refused)
        self.files.finish()
        self.successResultOf(added)
        self.failureResultOf(refused, ConfigurationError)
        again = Deferred.fromCoroutine(
            self.config.update_cluster(replace(self.store.snapshot.cluster, max_running_jobs=7))
        )
        self.files.finish()
        self.assertEqual(self.successResultOf(again).max_running_jobs, 7)
        self.assertEqual(self.files.written, 2)

    def test_listeners(self) -> None:
        """Who subscribed hears of each write, with the text that is on the disk, and cannot spoil it."""
        heard: list[tuple[int, bytes]] = []

        def broken(config: object, data: bytes) -> None:
            raise ZeroDivisionError

        self.store.subscribe(broken)
        self.store.subscribe(lambda config, data: heard.append((config.serial_no, data)))
        added = self.tag("new")
        self.files.finish()
        self.successResultOf(added)
        on_disk = self.files.read(PATHS.config_file, 1 << 20)
        self.assertEqual(heard, [(self.store.snapshot.serial_no, on_disk)])
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)


class LoadTests(SynchronousTestCase):
    """What is read at the start."""

    def load(self, data: bytes | None) -> tuple[MemoryFiles, ConfigStore, "Deferred[None]"]:
        """Begin to load a file of that content."""
        files = MemoryFiles()
        files.mkdir(PATHS.data_dir)
        if data is not None:
            Deferred.fromCoroutine(files.write_atomic(PATHS.config_file, data))
        store = ConfigStore(files, PATHS, clock())
        return files, store, Deferred.fromCoroutine(store.load())

    def test_missing(self) -> None:
        """Without a file the node is not part of a cluster, and is told what to do."""
        _, _, done = self.load(None)
        error = self.failureResultOf(done, ConfigurationError).value
        self.assertIn("not part of a cluster: no /var/lib/ganeti/config.data", str(error))

    def test_garbage(self) -> None:
        """What is no configuration is refused, however deep it is."""
        deep = b'{"version": %d, "cluster": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
        for data in (
            *(b"", b"\xff\xfe", b"[]", b"{}", b'{"version": 3000000}', b'{"version": "3"}'),
            *(deep % version for version in (2160000, 3000000)),
        ):
            _, _, done = self.load(data)
            self.failureResultOf(done, ConfigurationError)

    def test_newer(self) -> None:
        """A configuration of a later version is refused and left alone."""
        raw = msgspec.json.decode(encode(CONFIG))
        raw["version"] = 3010000
        data = msgspec.json.encode(raw)
        files, _, done = self.load(data)
        error = self.failureResultOf(done, ConfigVersionMismatch).value
        self.assertIn("3010000", str(error))
        self.assertEqual(files.read(PATHS.config_file, 1 << 20), data)

    def test_older(self) -> None:
        """An older version gets what it lacks, loses what nobody reads, and is written back, beside the former."""
        raw = msgspec.json.decode(encode(CONFIG))
        raw["version"] = 2080000
        for lacking in ("compression_tools", "data_collectors", "max_tracked_jobs", "osparams_private_cluster"):
            del raw["cluster"][lacking]
        raw["cluster"]["default_bridge"] = "xen-br0"
        del raw["filters"]
        instance = raw["instances"][INSTANCE.uuid]
        del instance["admin_state_source"]
        instance["disk_template"] = "drbd"
        instance["disks"] = [raw["disks"].pop(uuid) for uuid in instance["disks"]]
        data = msgspec.json.encode(raw)
        files, store, done = self.load(data)
        self.successResultOf(done)
        former = PATHS.data_dir / "config.data.backup-2080000"
        self.assertEqual(files.read(former, 1 << 20), data)
        self.assertEqual(store.snapshot.version, CONFIG_VERSION)
        self.assertEqual(store.snapshot.disks, CONFIG.disks)
        self.assertEqual(store.snapshot.instances, CONFIG.instances)
        self.assertEqual(store.snapshot, decode(files.read(PATHS.config_file, 1 << 20)))
        self.assertEqual(store.snapshot.serial_no, CONFIG.serial_no + 1)

    def test_default_group(self) -> None:
        """Where no default group is named, as by Ganeti 3, or one that is gone, it is the master's."""
        for named in ("", "gone-uuid"):
            cluster = replace(CONFIG.cluster, default_group=named)
            written = json.loads(encode(replace(CONFIG, cluster=cluster)))
            if not named:
                del written["cluster"]["default_group"]
            _, store, done = self.load(json.dumps(written).encode())
            self.successResultOf(done)
            self.assertEqual(store.snapshot.cluster.default_group, "group-uuid")

    def test_members(self) -> None:
        """The members of groups follow from the nodes, whatever the file says."""
        groups = {uuid: replace(group, members=("nobody",)) for uuid, group in CONFIG.nodegroups.items()}
        _, store, done = self.load(encode(replace(CONFIG, nodegroups=groups)))
        self.successResultOf(done)
        self.assertEqual(store.snapshot.nodegroups, CONFIG.nodegroups)
