"""Allocators as programs: scripts that the test writes, and Debian's hail."""

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import attrs
from msgspec.structs import replace
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.python.filepath import FilePath
from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.allocator.answer import read_answer
from ganeti_tx.allocator.document import Load, document
from ganeti_tx.allocator.requests import Allocate
from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.instance_view import InstanceViews
from ganeti_tx.node.allocators import PREFIX, Allocators
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.test.allocator.test_document import LOAD, REQUEST
from ganeti_tx.test.model import samples

HAIL = Path("/usr/lib/ganeti/iallocators/hail")
#: The first looks at what it was given, the second fails, the third says too much.
LOOKS = 'echo "$(cat $1) $(stat -c %a $1) $(basename $1) $2 $3 $#"'
FAILS = "echo out; echo err >&2; exit 2"

FOUND = '{"success": true, "info": "", "nodes": ["node2.example.com"]}'


def state_of() -> InstanceViews:
    """Two nodes without instances."""
    config = samples.CONFIG
    return InstanceViews(
        cluster=config.cluster,
        instances=(),
        disks=config.disks,
        nodes=config.nodes,
        groups=config.nodegroups,
        networks=config.networks,
    )


class AllocatorCase(TestCase):
    """A node root with allocators in its search path."""

    timeout = 300

    def setUp(self) -> None:
        self.top = Path(mkdtemp(prefix="alloc"))
        self.addCleanup(FilePath(str(self.top)).remove)
        self.paths = Paths(self.top)
        self.paths.run_dir.mkdir(parents=True)
        self.place = self.paths.iallocator_search_path[-1]
        self.place.mkdir(parents=True)
        files = RealFiles(reactor_threads(reactor))  # type: ignore[arg-type]
        self.allocators = Allocators(files, self.paths, ReactorProcessRunner(reactor, reactor))

    async def ask(self, name: str, text: str = "the document", **options: Any) -> str:
        """Run one."""
        return await self.allocators.run(
            IallocatorRunner(allocator=name, idata=text, default_iallocator_params=options)
        )

    def left(self) -> list[str]:
        """Documents that were left behind."""
        return [path.name for path in self.paths.run_dir.iterdir() if path.name.startswith(PREFIX)]


class ScriptTests(AllocatorCase):
    """Allocators that the test writes."""

    def put(self, name: str, text: str) -> None:
        """Install one."""
        (self.place / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.place / name).chmod(0o755)

    async def test_invocation(self) -> None:
        """It gets the document in a file of which others see nothing, then its options; the file does not stay."""
        self.put("looks", LOOKS)
        said = (await self.ask("looks", speed=3, quick=None, quiet=False)).split()
        self.assertEqual(said[:3], ["the", "document", "600"])
        self.assertTrue(said[3].startswith("ganeti-iallocator."))
        self.assertEqual(said[4:], ["--speed=3", "--quick", "3"])
        self.assertEqual(self.left(), [])

    async def test_first_protocol(self) -> None:
        """A program beside which a file names protocol 1 gets that document, and no options; its nodes are the result."""
        self.put("old", "grep -q '\"version\":1' $1 || exit 1; test $# = 1 || exit 3; echo '" + FOUND + "'")
        (self.place / "old.ganeti_api_version").write_text("1\n")
        self.assertEqual(await self.choose_by("old", speed=3), ["node2.example.com"])
        (self.place / "old.ganeti_api_version").write_text("2\n1\n")
        error = await self.assertFailure(Deferred.fromCoroutine(self.choose_by("old")), OpExecError)
        self.assertIn("exit code 1", str(error))

    async def test_strange_protocol(self) -> None:
        """One that only speaks what nobody here does is not run."""
        self.put("new", "echo {}")
        (self.place / "new.ganeti_api_version").write_text("3\n")
        error = await self.assertFailure(self.deferred("new"), OpExecError)
        self.assertEqual(str(error), "iallocator module 'new' speaks protocol 3; known are 2 and 1")

    async def choose_by(self, name: str, **options: Any) -> list[str]:
        """What a program chooses for a new instance."""
        text = document(state_of(), {"node2.example.com": LOAD}, REQUEST).decode()
        return read_answer(name, REQUEST, await self.ask(name, text, **options))

    async def test_failure(self) -> None:
        """How it ended and all that it said is told; the file does not stay."""
        self.put("fails", FAILS)
        error = await self.assertFailure(self.deferred("fails"), OpExecError)
        self.assertEqual(str(error), "iallocator module 'fails' failed: exited with exit code 2, output 'out err'")
        self.assertEqual(self.left(), [])

    async def test_unknown(self) -> None:
        """Only programs on the search path, by their names."""
        (self.place / "no_program").write_text("")
        for name in ("nothing", "no_program", "../iallocators/looks", "/bin/sh", ".", ""):
            error = await self.assertFailure(self.deferred(name), OpExecError)
            self.assertEqual(str(error), f"iallocator module '{name}' not found in the search path")

    def deferred(self, name: str) -> Any:
        """The run as trial wants it."""
        return Deferred.fromCoroutine(self.ask(name))


class HailTests(AllocatorCase):
    """Debian's hail reads our documents, and we its answers."""

    def setUp(self) -> None:
        super().setUp()
        if not HAIL.exists():
            raise SkipTest(f"there is no {HAIL}; 'apt-get install ganeti-htools' brings it")
        (self.place / "hail").symlink_to(HAIL)

    async def choose(self, request: Allocate = REQUEST, **loads: Load) -> list[str]:
        """What hail chooses among two nodes without instances, of which no other need have room for those of one that fails."""
        text = document(state_of(), {f"{name}.example.com": load for name, load in loads.items()}, request).decode()
        return read_answer("hail", request, await self.ask("hail", text, **{"no-capacity-checks": None}))

    async def test_choice(self) -> None:
        """The node with more room."""
        full = attrs.evolve(LOAD, free_memory=600)
        self.assertEqual(await self.choose(node1=full, node2=LOAD), ["node2.example.com"])
        self.assertEqual(await self.choose(node1=LOAD, node2=full), ["node1.example.com"])

    async def test_silent_node(self) -> None:
        """A node of which nothing is known is not chosen."""
        self.assertEqual(await self.choose(node1=LOAD), ["node1.example.com"])
        self.assertEqual(await self.choose(node2=LOAD), ["node2.example.com"])

    async def test_no_room(self) -> None:
        """Its reason is told."""
        request = replace(REQUEST, memory=100_000)
        coroutine = self.choose(request, node1=LOAD, node2=LOAD)
        error = await self.assertFailure(Deferred.fromCoroutine(coroutine), OpPrereqError)
        self.assertIn("Can't compute nodes using iallocator 'hail': Request failed: ", str(error))
