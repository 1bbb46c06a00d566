"""From two configurations to the events between them."""

from typing import Any

from msgspec.structs import replace
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.luxid.events.config_events import READ_DELAY, ConfigEvents, ConfigFile, changes
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData, decode, encode
from ganeti_tx.model.events import Event, ObjectEvent
from ganeti_tx.model.instance import Instance
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.config.stores import CONFIG
from ganeti_tx.test.fakes.file_watch import MemoryFileWatch
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.model.samples import DISK, FILTER, INSTANCE, NODE
from ganeti_tx.test.queue.test_scheduler import run_now


def with_(container: str, held: Any, config: ConfigData = CONFIG) -> ConfigData:
    """The configuration with one more object, or another in the place of that with its uuid."""
    return touched(replace(config, **{container: {**getattr(config, container), held.uuid: held}}), 9.0)


def without(container: str, uuid: str) -> ConfigData:
    """The sample without an object."""
    rest = {each: held for each, held in getattr(CONFIG, container).items() if each != uuid}
    return touched(replace(CONFIG, **{container: rest}), 9.0)


def told(before: ConfigData, now: ConfigData) -> list[ObjectEvent]:
    """The events between two states."""
    return [event for event in changes(before, now, 9.0) if isinstance(event, ObjectEvent)]


class ChangeTests(SynchronousTestCase):
    """One change at a time; each is told by itself, whether the objects are the same ones or were read from a file."""

    def only(self, now: ConfigData) -> ObjectEvent:
        """The one event, which is the same for a configuration that was read anew."""
        (event,) = told(CONFIG, now)
        self.assertEqual(told(CONFIG, decode(encode(now))), [event])
        return event

    def test_nothing(self) -> None:
        """A configuration that was only counted, or read anew, has no events."""
        self.assertEqual(told(CONFIG, touched(CONFIG, 9.0)), [])
        self.assertEqual(told(CONFIG, decode(encode(CONFIG))), [])

    def test_changed(self) -> None:
        """Both serial numbers, and the names of the fields, without what always changes."""
        event = self.only(with_("nodes", touched(replace(NODE, offline=not NODE.offline, tags=("x",)), 9.0)))
        self.assertEqual(type(event).__name__, "NodeEvent")
        self.assertEqual((event.change, event.name, event.uuid), ("changed", NODE.name, NODE.uuid))
        self.assertEqual((event.old_serial, event.new_serial), (NODE.serial_no, NODE.serial_no + 1))
        self.assertEqual((event.fields, event.old_name), (("offline", "tags"), None))

    def test_secrets(self) -> None:
        """Of a private parameter the field alone is told."""
        event = self.only(with_("instances", replace(INSTANCE, osparams_private={"password": "hunter2"})))
        self.assertEqual(event.fields, ("osparams_private",))
        self.assertNotIn("hunter2", repr(event))

    def test_only_counted(self) -> None:
        """An object that was written without a difference says so."""
        self.assertEqual(self.only(with_("nodes", touched(NODE, 9.0))).fields, ("serial_no",))

    def test_renamed(self) -> None:
        """The old name is told with the new one."""
        event = self.only(with_("instances", replace(INSTANCE, name="new.example.com")))
        self.assertEqual((event.name, event.old_name, event.fields), ("new.example.com", INSTANCE.name, ("name",)))

    def test_added_and_removed(self) -> None:
        """With the serial number that there is."""
        twin = replace(INSTANCE, uuid="twin-uuid", name="web2.example.com", disks=(), serial_no=1)
        event = self.only(with_("instances", twin))
        self.assertEqual((event.change, event.name, event.old_serial, event.new_serial), ("added", twin.name, None, 1))
        event = self.only(without("instances", INSTANCE.uuid))
        self.assertEqual((event.change, event.name, event.new_serial), ("removed", INSTANCE.name, None))
        self.assertEqual(event.old_serial, INSTANCE.serial_no)

    def test_disk(self) -> None:
        """A changed disk is a change of its instance."""
        event = self.only(with_("disks", touched(replace(DISK, size=DISK.size + 1), 9.0)))
        self.assertEqual((event.name, event.fields), (INSTANCE.name, ("disks",)))
        self.assertEqual(event.old_serial, event.new_serial)

    def test_cluster_and_filter(self) -> None:
        """The cluster's settings, and a filter rule, which has no serial number."""
        config = replace(CONFIG, cluster=replace(CONFIG.cluster, max_running_jobs=77))
        self.assertEqual(self.only(config).fields, ("max_running_jobs",))
        event = self.only(with_("filters", replace(FILTER, priority=FILTER.priority + 1)))
        self.assertEqual((event.name, event.fields, event.new_serial), (FILTER.uuid, ("priority",), None))

    def test_what_is_the_same_is_not_compared(self) -> None:
        """Of two thousand instances only the one that changed is looked into."""
        many = {f"u{number}": watched(number) for number in range(2000)}
        before = replace(CONFIG, instances=many)
        now = replace(CONFIG, instances={**many, "u7": watched(7, "x")})
        (event,) = told(before, now)
        self.assertEqual((event.uuid, event.fields), ("u7", ("os",)))
        self.assertEqual(sum(each.compared for each in many.values()), 1)


def watched(number: int, os: str = "noop") -> Any:
    """An instance that counts how often it is compared."""
    return Counted(
        **{
            name: getattr(INSTANCE, name)
            for name in INSTANCE.__struct_fields__
            if name not in ("uuid", "name", "disks")
        }
        | {"uuid": f"u{number}", "name": f"i{number}", "os": os}
    )


COMPARED: dict[str, int] = {}


class Counted(Instance, frozen=True, kw_only=True):
    """Counts comparisons by name."""

    def __eq__(self, other: object) -> bool:
        COMPARED[self.name] = COMPARED.get(self.name, 0) + 1
        return bool(super().__eq__(other))

    __hash__ = None  # type: ignore[assignment]

    @property
    def compared(self) -> int:
        """How often."""
        return COMPARED.get(self.name, 0)


class FollowTests(SynchronousTestCase):
    """How new configurations are noticed."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.files, self.paths = MemoryFiles(), Paths()
        self.files.mkdir(self.paths.data_dir)
        self.told: list[Event] = []
        self.events = ConfigEvents(self.told.append, self.clock.seconds, CONFIG)
        self.current = CONFIG
        self.broken = False
        self.reads = 0

    def snapshot(self) -> ConfigData:
        """The newest configuration."""
        self.reads += 1
        if self.broken:
            raise ConfigurationError("no file")
        return self.current

    def write(self, config: ConfigData) -> None:
        """Another process writes it."""
        self.current = config
        run_now(self.files.write_atomic(self.paths.config_file, b"x"))

    def test_file(self) -> None:
        """Changes that follow quickly are read once, also the one before the watch began; other files are nothing."""
        ConfigFile(self.snapshot, self.clock, self.events.changed).watch(MemoryFileWatch(self.files), self.paths)
        self.write(with_("nodes", replace(NODE, offline=True)))
        self.write(with_("nodes", replace(NODE, drained=True), self.current))
        run_now(self.files.write_atomic(self.paths.locks_file, b"x"))
        self.assertEqual(self.told, [])
        self.clock.advance(READ_DELAY)
        self.assertEqual((len(self.told), self.reads), (1, 1))
        run_now(self.files.write_atomic(self.paths.locks_file, b"x"))
        self.clock.advance(READ_DELAY)
        self.assertEqual(self.reads, 1)

    def test_unreadable(self) -> None:
        """While the file cannot be read nothing is told; then all of it, as one change."""
        ConfigFile(self.snapshot, self.clock, self.events.changed).watch(MemoryFileWatch(self.files), self.paths)
        self.broken = True
        self.write(with_("nodes", replace(NODE, offline=True)))
        self.clock.advance(READ_DELAY)
        self.assertEqual(self.told, [])
        self.broken = False
        self.write(with_("nodes", replace(NODE, drained=True)))
        self.clock.advance(READ_DELAY)
        self.assertEqual(len(self.told), 1)
