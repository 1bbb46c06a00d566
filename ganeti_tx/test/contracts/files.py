"""What every IFiles does."""

import errno
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.runtime.files import IFiles


class FilesContract(SynchronousTestCase):
    """A subclass sets `files` and an existing, empty directory `top`."""

    files: IFiles
    top: Path

    def make_sure(self, coroutine: Coroutine[Any, Any, object]) -> None:
        """The write succeeds at once."""
        self.successResultOf(Deferred.fromCoroutine(coroutine))

    def error_of(self, coroutine: Coroutine[Any, Any, object]) -> int | None:
        """The write fails at once with this errno."""
        failure = self.failureResultOf(Deferred.fromCoroutine(coroutine), OSError)
        assert isinstance(failure.value, OSError)
        return failure.value.errno

    def test_interface(self) -> None:
        """It has every method of the interface."""
        verifyObject(IFiles, self.files)

    def test_write_and_read(self) -> None:
        """What was written last is read, with the mode that was asked for."""
        path = self.top / "file"
        self.make_sure(self.files.write_atomic(path, b"old", 0o600))
        self.make_sure(self.files.write_atomic(path, b"new", 0o666))
        self.assertEqual(self.files.read(path, 3), b"new")
        self.assertEqual(self.files.stat(path).mode, 0o666)
        self.assertEqual(self.files.listdir(self.top), ["file"])

    def test_write_without_sync(self) -> None:
        """A write that need not outlast a power cut is read the same."""
        self.make_sure(self.files.write_atomic(self.top / "file", b"data", sync=False))
        self.assertEqual(self.files.read(self.top / "file", 100), b"data")

    def test_write_into_missing_directory(self) -> None:
        """A write creates no directories."""
        self.assertEqual(self.error_of(self.files.write_atomic(self.top / "no" / "file", b"")), errno.ENOENT)

    def test_write_over_directory(self) -> None:
        """A directory is not replaced by a file, and nothing is left behind."""
        self.files.mkdir(self.top / "sub")
        self.assertEqual(self.error_of(self.files.write_atomic(self.top / "sub", b"")), errno.EISDIR)
        self.assertEqual(self.files.listdir(self.top), ["sub"])
        self.assertTrue(self.files.stat(self.top / "sub").is_directory)

    def test_write_many(self) -> None:
        """Several files, in several directories, in one go."""
        self.files.mkdir(self.top / "sub")
        contents = {self.top / "one": b"1", self.top / "two": b"2", self.top / "sub" / "three": b"3"}
        self.make_sure(self.files.write_many(contents, 0o600))
        self.assertEqual({path: self.files.read(path, 1) for path in contents}, contents)
        self.assertEqual({self.files.stat(path).mode for path in contents}, {0o600})

    def test_write_many_is_all_or_none(self) -> None:
        """When one of the files cannot be written, the others stay as they were."""
        self.make_sure(self.files.write_atomic(self.top / "one", b"old"))
        wrong = {self.top / "one": b"new", self.top / "no" / "two": b""}
        self.assertEqual(self.error_of(self.files.write_many(wrong)), errno.ENOENT)
        self.assertEqual(self.files.read(self.top / "one", 10), b"old")
        self.assertEqual(self.files.listdir(self.top), ["one"])

    def test_read_limit(self) -> None:
        """A file larger than the limit is refused."""
        self.make_sure(self.files.write_atomic(self.top / "file", b"12345"))
        self.assertEqual(self.files.read(self.top / "file", 5), b"12345")
        self.assertEqual(self.assertRaises(OSError, self.files.read, self.top / "file", 4).errno, errno.EFBIG)

    def test_read_link(self) -> None:
        """A link is not followed where none may be."""
        self.files.symlink(self.top / "link", str(self.top / "file"))
        self.make_sure(self.files.write_atomic(self.top / "file", b"1"))
        self.assertEqual(self.files.read(self.top / "file", 5, links=False), b"1")
        wrong = self.assertRaises(OSError, self.files.read, self.top / "link", 5, links=False)
        self.assertEqual(wrong.errno, errno.ELOOP)

    def test_missing(self) -> None:
        """What is not there says so."""
        path = self.top / "missing"
        self.assertFalse(self.files.exists(path))
        for operation in (lambda: self.files.read(path, 1), lambda: self.files.remove(path)):
            self.assertRaises(FileNotFoundError, operation)
        self.assertRaises(FileNotFoundError, self.files.stat, path)
        self.assertRaises(FileNotFoundError, self.files.listdir, path)
        self.assertRaises(FileNotFoundError, self.files.rmdir, path)
        self.assertRaises(FileNotFoundError, self.files.rename, path, self.top / "sub" / "other")
        self.assertEqual(self.files.listdir(self.top), [])

    def test_remove(self) -> None:
        """A removed file is gone."""
        self.make_sure(self.files.write_atomic(self.top / "file", b""))
        self.files.remove(self.top / "file")
        self.assertFalse(self.files.exists(self.top / "file"))

    def test_rmdir(self) -> None:
        """Only an empty directory is removed."""
        self.files.mkdir(self.top / "sub")
        self.make_sure(self.files.write_atomic(self.top / "sub" / "file", b""))
        self.assertEqual(self.assertRaises(OSError, self.files.rmdir, self.top / "sub").errno, errno.ENOTEMPTY)
        self.files.remove(self.top / "sub" / "file")
        self.files.rmdir(self.top / "sub")
        self.assertEqual(self.files.listdir(self.top), [])

    def test_moves_that_last(self) -> None:
        """Moves in a directory are made sure of; one that is not there is an error, and so is a file."""
        self.make_sure(self.files.write_atomic(self.top / "one", b"1"))
        self.files.rename(self.top / "one", self.top / "sub" / "one")
        self.make_sure(self.files.make_sure([self.top, self.top / "sub"]))
        self.make_sure(self.files.make_sure([]))
        self.assertEqual(self.error_of(self.files.make_sure([self.top / "none"])), errno.ENOENT)
        self.assertEqual(self.error_of(self.files.make_sure([self.top / "sub" / "one"])), errno.ENOTDIR)

    def test_rename(self) -> None:
        """A file moves with its content and inode over another, and into a directory that was missing."""
        self.make_sure(self.files.write_many({self.top / "one": b"1", self.top / "two": b"2"}))
        before = self.files.stat(self.top / "one")
        self.files.rename(self.top / "one", self.top / "two")
        self.files.rename(self.top / "two", self.top / "a" / "b" / "three")
        self.assertEqual(self.files.listdir(self.top), ["a"])
        self.assertEqual(self.files.read(self.top / "a" / "b" / "three", 1), b"1")
        self.assertEqual(self.files.stat(self.top / "a" / "b" / "three"), before)

    def test_rename_directory(self) -> None:
        """A directory moves with all that is in it, but not over another that has something."""
        self.files.mkdir(self.top / "one" / "sub")
        self.make_sure(self.files.write_atomic(self.top / "one" / "sub" / "file", b"text"))
        self.files.rename(self.top / "one", self.top / "two")
        self.assertEqual(self.files.listdir(self.top), ["two"])
        self.assertEqual(self.files.read(self.top / "two" / "sub" / "file", 4), b"text")
        self.files.mkdir(self.top / "one")
        self.assertEqual(
            self.assertRaises(OSError, self.files.rename, self.top / "one", self.top / "two").errno, errno.ENOTEMPTY
        )

    def test_remove_tree(self) -> None:
        """All of a directory goes, a file by itself, and what is not there; a link is not followed."""
        self.files.mkdir(self.top / "kept" / "sub")
        self.files.mkdir(self.top / "one" / "sub")
        self.make_sure(self.files.write_atomic(self.top / "one" / "sub" / "file", b"text"))
        self.make_sure(self.files.write_atomic(self.top / "file", b"text"))
        self.files.symlink(self.top / "one" / "link", str(self.top / "kept"))
        self.files.symlink(self.top / "link", str(self.top / "kept"))
        for name in ("one", "file", "link", "one"):
            self.files.remove_tree(self.top / name)
        self.assertEqual((self.files.listdir(self.top), self.files.listdir(self.top / "kept")), (["kept"], ["sub"]))

    def test_mkdir(self) -> None:
        """A directory is made with its parents and exactly the mode; one that exists keeps its own."""
        path = self.top / "a" / "b"
        self.files.mkdir(path, 0o777)
        self.files.mkdir(path, 0o700)
        self.assertEqual([self.files.stat(each).mode for each in (path, path.parent)], [0o777, 0o777])

    def test_mkdir_over_file(self) -> None:
        """A file is not taken for a directory."""
        self.make_sure(self.files.write_atomic(self.top / "file", b""))
        self.assertRaises(FileExistsError, self.files.mkdir, self.top / "file")

    def test_stat_tells_a_change(self) -> None:
        """A replaced file has another stat; an untouched one has the same."""
        path = self.top / "file"
        self.make_sure(self.files.write_atomic(path, b"one"))
        first = self.files.stat(path)
        self.assertEqual(self.files.stat(path), first)
        self.assertEqual(first.size, 3)
        self.make_sure(self.files.write_atomic(self.top / "other", b"two"))
        self.files.rename(self.top / "other", path)
        self.assertNotEqual(self.files.stat(path), first)

    def test_set_mode(self) -> None:
        """A mode can be changed."""
        self.files.mkdir(self.top / "sub", 0o700)
        self.files.set_mode(self.top / "sub", 0o755)
        self.assertEqual(self.files.stat(self.top / "sub").mode, 0o755)

    def test_symlink(self) -> None:
        """A link may lead nowhere, takes the place of an older one or of a file, and is removed by itself."""
        path = self.top / "link"
        for target in ("/nowhere", "other"):
            self.files.symlink(path, target)
            self.assertEqual((self.files.listdir(self.top), self.files.readlink(path)), (["link"], target))
        self.files.remove(path)
        self.make_sure(self.files.write_atomic(path, b"text"))
        self.assertEqual(self.assertRaises(OSError, self.files.readlink, path).errno, errno.EINVAL)
        self.files.symlink(path, "/nowhere")
        self.assertEqual(self.files.readlink(path), "/nowhere")
        self.assertRaises(FileNotFoundError, self.files.symlink, self.top / "missing" / "link", "x")

    def test_symlink_over_directory(self) -> None:
        """A directory stays, and nothing else is left."""
        self.files.mkdir(self.top / "sub")
        self.assertRaises(OSError, self.files.symlink, self.top / "sub", "x")
        self.assertEqual(self.files.listdir(self.top), ["sub"])
