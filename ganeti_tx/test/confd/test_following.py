"""Following the files while requests go on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import ILogObserver, formatEvent, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.confd.answers import IAnswers
from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.following import LOOK_INTERVAL, READ_INTERVAL, Following
from ganeti_tx.confd.protocol import respond
from ganeti_tx.confd.sources import Sources, answers_of, sources_of
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model import confd_keys
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES, ConfigData, encode
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import IThreads
from ganeti_tx.test.confd.cases import CLUSTER, CONFIG, NOW, RAW_KEY, reply_in, request
from ganeti_tx.test.fakes.file_watch import MemoryFileWatch
from ganeti_tx.test.fakes.files import MemoryFiles

PATHS = Paths()
NEW_KEY = b"a new one\n"


def serial(number: int) -> ConfigData:
    """A configuration that tells itself from others by the cluster's serial number."""
    return replace(CONFIG, cluster=replace(CLUSTER, serial_no=number))


@implementer(IThreads)
class SlowThreads:
    """Calls that run when the test lets them."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def run(self, func: Callable[..., Any], *args: object) -> "Deferred[Any]":
        """See `IThreads`."""
        done: Deferred[Any] = Deferred()

        def finish() -> None:
            try:
                result = func(*args)
            except Exception as error:
                done.errback(error)
            else:
                done.callback(result)

        self.waiting.append(finish)
        return done

    def finish(self) -> None:
        """Run all that is asked for, also what is asked for then."""
        while self.waiting:
            self.waiting.pop(0)()


class FollowingCase(SynchronousTestCase):
    """A server's files in memory, followed on a clock."""

    def setUp(self) -> None:
        self.files = MemoryFiles()
        self.files.mkdir(PATHS.data_dir)
        self.write(PATHS.hmac_key, RAW_KEY)
        self.write(PATHS.config_file, encode(serial(1)))
        self.clock = Clock()
        self.threads = SlowThreads()

    def write(self, path: Path, data: bytes) -> None:
        """Replace a file."""
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, data)))

    def begin(self) -> None:
        """Read the files and follow them."""
        self.sources: Sources = sources_of(self.files, PATHS, answers_of)
        self.present = self.sources.first()
        watch = MemoryFileWatch(self.files)
        self.following = Following(self.sources, self.present, self.threads, self.clock, watch)
        self.following.start()
        self.pass_time(READ_INTERVAL)

    def pass_time(self, seconds: float) -> None:
        """Let time pass and all reading end."""
        self.clock.advance(0)
        self.threads.finish()
        self.clock.advance(seconds)
        self.threads.finish()

    def answer(self, kind: int = 3, key: Key | None = None) -> tuple[int, object, int]:
        """What the server answers now."""
        reply = reply_in(respond(self.present, request(kind, key=key or Key(RAW_KEY)), NOW))
        return reply.status, reply.answer, reply.serial

    def serial(self) -> int:
        """The serial number under which it answers now."""
        return self.answer()[2]


class ConfigTests(FollowingCase):
    """The configuration."""

    def test_change(self) -> None:
        """A change is read at once; until it has been read, requests are answered from what was before."""
        self.begin()
        self.write(PATHS.config_file, encode(serial(2)))
        self.clock.advance(0)
        self.assertEqual((self.serial(), len(self.threads.waiting)), (1, 1))
        self.threads.finish()
        self.assertEqual(self.serial(), 2)

    def test_rate(self) -> None:
        """Changes that follow each other closely are read together: at most every quarter of a second."""
        self.begin()
        self.write(PATHS.config_file, encode(serial(2)))
        self.pass_time(0)
        for number in range(3, 6):
            self.write(PATHS.config_file, encode(serial(number)))
            self.clock.advance(READ_INTERVAL / 10)
            self.assertEqual(self.threads.waiting, [])
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.serial(), 5)

    def test_change_meanwhile(self) -> None:
        """A change that comes while one is being read is not missed."""
        self.begin()
        self.write(PATHS.config_file, encode(serial(2)))
        self.clock.advance(0)
        self.threads.waiting.pop(0)()  # the key has been looked at
        read = self.threads.waiting.pop(0)
        read()
        self.write(PATHS.config_file, encode(serial(3)))
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.serial(), 3)

    def test_unheard(self) -> None:
        """A change of which nothing was heard is found within seventeen seconds."""
        self.begin()
        self.files.listeners.clear()
        self.write(PATHS.config_file, encode(serial(2)))
        self.pass_time(LOOK_INTERVAL - 1)
        self.assertEqual(self.serial(), 1)
        self.pass_time(1)
        self.assertEqual(self.serial(), 2)
        self.files.listeners.append(lambda _path: None)  # for stop()

    def test_other_files(self) -> None:
        """Other files of the directory do not matter."""
        self.begin()
        self.write(PATHS.ssconf_file("master_node"), b"x")
        self.clock.advance(READ_INTERVAL)
        self.assertEqual(self.threads.waiting, [])

    def test_broken(self) -> None:
        """A file that cannot be read leaves the answers of before, is told once, and a better one counts again."""
        self.begin()
        for number, broken in enumerate((b"", b"{", b"[]", b"{}", encode(serial(9))[:-20], b"\xff" * 100)):
            self.write(PATHS.config_file, broken)
            self.pass_time(READ_INTERVAL)
            self.pass_time(LOOK_INTERVAL)
            self.assertEqual(self.serial(), number + 1)
            self.write(PATHS.config_file, encode(serial(number + 2)))
            self.pass_time(READ_INTERVAL)
            self.assertEqual(self.serial(), number + 2)

    def test_unreadable(self) -> None:
        """A disk that cannot be read for a while leaves the answers of before; the file counts when it can be."""
        self.begin()
        self.files.fault = lambda operation, path: OSError(5, "EIO") if operation in ("read", "stat") else None
        self.write(PATHS.config_file, encode(serial(2)))
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.serial(), 1)
        self.files.fault = None
        self.pass_time(LOOK_INTERVAL)
        self.assertEqual(self.serial(), 2)

    def test_removed(self) -> None:
        """A node that is no candidate any more, and has no file, answers with errors; with a file it answers again."""
        self.begin()
        self.files.remove(PATHS.config_file)
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.answer(), (1, "the node that was asked is not a master candidate", 0))
        self.write(PATHS.config_file, encode(serial(2)))
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.serial(), 2)

    def test_fault(self) -> None:
        """A fault of ours while reading is logged, and the files are followed on."""
        self.begin()
        nothing: dict[bytes, IAnswers] = {}
        self.sources.config.make = nothing.__getitem__
        self.write(PATHS.config_file, encode(serial(2)))
        self.pass_time(READ_INTERVAL)
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)
        self.sources.config.make = sources_of(self.files, PATHS, answers_of).config.make
        self.write(PATHS.config_file, encode(serial(3)))
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.serial(), 3)


class KeyTests(FollowingCase):
    """The key."""

    def test_change(self) -> None:
        """A new key counts, the old one does not any more."""
        self.begin()
        self.write(PATHS.hmac_key, NEW_KEY)
        self.pass_time(READ_INTERVAL)
        self.assertIsNone(respond(self.present, request(0), NOW))
        self.assertEqual(self.answer(0, Key(NEW_KEY))[0], 0)

    def test_another_besides(self) -> None:
        """While the key is replaced the other one is accepted, too, and answered with; afterwards it is not."""
        self.begin()
        self.write(PATHS.confd_keys, confd_keys.encode([RAW_KEY, NEW_KEY]))
        self.pass_time(READ_INTERVAL)
        for key in (RAW_KEY, NEW_KEY):
            self.assertEqual(self.answer(0, Key(key))[0], 0)
        self.write(PATHS.hmac_key, NEW_KEY)
        self.pass_time(READ_INTERVAL)
        for key in (RAW_KEY, NEW_KEY):
            self.assertEqual(self.answer(0, Key(key))[0], 0)
        self.write(PATHS.confd_keys, b"nonsense")
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.answer(0)[0], 0)
        self.write(PATHS.confd_keys, confd_keys.encode([NEW_KEY]))
        self.pass_time(READ_INTERVAL)
        self.assertIsNone(respond(self.present, request(0), NOW))
        self.write(PATHS.confd_keys, confd_keys.encode([RAW_KEY]))
        self.pass_time(READ_INTERVAL)
        self.files.remove(PATHS.confd_keys)
        self.pass_time(READ_INTERVAL)
        self.assertIsNone(respond(self.present, request(0), NOW))

    def test_others_unreadable(self) -> None:
        """What is accepted besides is not needed: without it the daemon starts, and takes a new key all the same."""
        self.write(PATHS.confd_keys, b"nonsense")
        self.begin()
        self.assertEqual(self.answer(0)[0], 0)
        self.write(PATHS.confd_keys, b"other nonsense")
        self.write(PATHS.hmac_key, NEW_KEY)
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.answer(0, Key(NEW_KEY))[0], 0)

    def test_lost(self) -> None:
        """A key file that is empty, too large or gone leaves the key of before."""
        self.begin()
        for spoil in (b"\n", b"x" * 100_000):
            self.write(PATHS.hmac_key, spoil)
            self.pass_time(READ_INTERVAL)
            self.assertEqual(self.answer(0)[0], 0)
        self.files.remove(PATHS.hmac_key)
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.answer(0)[0], 0)


class LifeTests(FollowingCase):
    """The beginning and the end."""

    def test_no_candidate(self) -> None:
        """Without a configuration requests are answered with errors, until the node becomes a master candidate."""
        config = self.files.read(PATHS.config_file, MAX_CONFIG_BYTES)
        self.files.remove(PATHS.config_file)
        self.begin()
        self.assertEqual(self.answer(), (1, "the node that was asked is not a master candidate", 0))
        told: list[str] = []
        observer = cast(ILogObserver, lambda event: told.append(formatEvent(event)))
        globalLogPublisher.addObserver(observer)
        self.addCleanup(globalLogPublisher.removeObserver, observer)
        self.write(PATHS.config_file, config)
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.answer()[0], 0)
        self.assertEqual(told, [f"{PATHS.config_file} can be read: requests are answered"])

    def test_no_cluster(self) -> None:
        """Without a key the node is part of no cluster."""
        self.files.remove(PATHS.hmac_key)
        error = self.assertRaises(ConfigurationError, sources_of(self.files, PATHS, answers_of).first)
        self.assertIn("not part of a cluster: no /var/lib/ganeti/hmac.key", str(error))

    def test_empty_key(self) -> None:
        """With an empty key file it does not start."""
        self.write(PATHS.hmac_key, b"\n")
        self.assertRaises(ConfigurationError, sources_of(self.files, PATHS, answers_of).first)

    def test_broken_first(self) -> None:
        """With a broken configuration it starts, answers with errors, and well when that is mended."""
        self.write(PATHS.config_file, b"{")
        self.begin()
        status, text, number = self.answer()
        self.assertEqual((status, number), (1, 0))
        self.assertIn("cannot read its copy", str(text))
        self.write(PATHS.config_file, encode(serial(2)))
        self.pass_time(READ_INTERVAL)
        self.assertEqual(self.serial(), 2)

    def test_stop(self) -> None:
        """Stopped, it leaves no timer behind, also in the midst of reading."""
        self.begin()
        self.following.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])
        self.begin()
        self.write(PATHS.config_file, encode(serial(2)))
        self.clock.advance(0)
        self.following.stop()
        self.threads.waiting.clear()
        self.assertEqual(self.clock.getDelayedCalls(), [])
