"""Real hook scripts, run by a node's own hand."""

from pathlib import Path
from tempfile import mkdtemp

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.python.filepath import FilePath
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.hooks import HookPhase, HookResult, HookStatus
from ganeti_tx.node.hooks import OUTPUT_LIMIT, TOLD, Hooks
from ganeti_tx.rpc.calls.hooks import HooksRunner
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import reactor_threads

HOOK = "instance-start"
DIRECTORY = f"{HOOK}-pre.d"
FAIL, SKIP, SUCCESS = HookStatus.FAIL, HookStatus.SKIP, HookStatus.SUCCESS


class HookScriptTests(TestCase):
    """A node root with scripts that the test writes."""

    timeout = 300

    def setUp(self) -> None:
        """A directory for the hook, without scripts."""
        self.top = Path(mkdtemp(prefix="hooks"))
        self.addCleanup(FilePath(str(self.top)).remove)
        self.paths = Paths(self.top)
        self.place = self.paths.hooks_dir / DIRECTORY
        self.place.mkdir(parents=True)
        runner = ReactorProcessRunner(reactor, reactor)
        self.hooks = Hooks(RealFiles(reactor_threads(reactor)), self.paths, runner, reactor)  # type: ignore[arg-type]

    def put(self, name: str, text: str, mode: int = 0o755) -> None:
        """Have a script."""
        (self.place / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.place / name).chmod(mode)

    def ask(self, hook: str = HOOK, **told: str) -> "Deferred[list[HookResult]]":
        """What the master gets."""
        call = HooksRunner(hpath=hook, phase=HookPhase.PRE, env=told)
        return Deferred.fromCoroutine(self.hooks.asked(call))

    async def test_selection(self) -> None:
        """Scripts run by name; one that is no program is skipped, one with another name is not seen."""
        for name in ("90-last", "10-first", "README.txt", "backup~"):
            self.put(name, f"echo {name} >> {self.top}/ran")
        self.put("50-no_program", "exit 1", 0o644)
        (self.place / "60-directory").mkdir()
        results = await self.ask()
        wanted = [("10-first", SUCCESS), ("50-no_program", SKIP), ("60-directory", SKIP), ("90-last", SUCCESS)]
        self.assertEqual([(each.script, each.status) for each in results], [(f"{DIRECTORY}/{n}", s) for n, s in wanted])
        self.assertEqual((self.top / "ran").read_text().split(), ["10-first", "90-last"])

    async def test_links(self) -> None:
        """A link that leads nowhere is no script, one in a circle fails; neither keeps another script from refusing."""
        (self.place / "10-dangling").symlink_to("/nonexistent")
        (self.place / "20-circle").symlink_to("20-circle")
        self.put("30-refuses", "exit 1")
        results = await self.ask()
        self.assertEqual([each.status for each in results], [SKIP, FAIL, FAIL])
        self.assertIn("20-circle", results[1].output)

    async def test_environment(self) -> None:
        """A script has what it is told, the search path and the data directory, no arguments, no input, and runs in /."""
        self.put("10-tell", 'env; echo "arguments=$#"; echo "input=$(cat)"')
        (result,) = await self.ask(GANETI_OP_CODE="OP_INSTANCE_STARTUP", GANETI_INSTANCE_NAME="a b;c")
        told = dict(line.split("=", 1) for line in result.output.splitlines())
        for made_by_the_shell in ("_", "SHLVL", "OLDPWD"):
            told.pop(made_by_the_shell, None)
        wanted = {
            "GANETI_OP_CODE": "OP_INSTANCE_STARTUP",
            "GANETI_INSTANCE_NAME": "a b;c",
            "GANETI_DATA_DIR": str(self.paths.data_dir),
            "PATH": "/sbin:/bin:/usr/sbin:/usr/bin",
            "PWD": "/",
            "arguments": "0",
            "input": "",
        }
        self.assertEqual(told, wanted)

    async def test_failures(self) -> None:
        """One that fails keeps none from running; what it said on both its outputs is told, or else how it ended."""
        self.put("10-no", "echo no start today; echo on stderr >&2; exit 3")
        self.put("20-silent", "exit 4")
        self.put("30-killed", "echo dying; kill -9 $$")
        self.put("40-broken", "")
        (self.place / "40-broken").write_text("#!/no/such/shell\n")
        self.put("50-fine", "")
        results = await self.ask()
        self.assertEqual([each.status for each in results], [FAIL, FAIL, FAIL, FAIL, SUCCESS])
        self.assertEqual(results[0].output, "no start today\non stderr")
        self.assertEqual(results[1].output, "exited with status 4")
        self.assertEqual(results[2].output, "dying\nended by signal 9")

    async def test_time(self) -> None:
        """Those that do not end are ended, and those after them do not begin."""
        self.put("10-hangs", "echo here; sleep 1000")
        self.put("20-late", "")
        results = await self.hooks.run(HOOK, HookPhase.PRE, {}, limit=1.0)
        self.assertEqual([each.status for each in results], [FAIL, FAIL])
        self.assertEqual(results[0].output, "here\ntimed out")
        self.assertIn("not run", results[1].output)

    async def test_flood(self) -> None:
        """Of what a script says without end the beginning is kept."""
        self.put("10-flood", f"head -c {10 * OUTPUT_LIMIT} /dev/zero | tr '\\0' x; exit 1")
        (result,) = await self.ask()
        self.assertEqual((result.status, result.output), (FAIL, "x" * TOLD))

    async def test_writable_by_others(self) -> None:
        """What anybody could have written is not run."""
        self.put("10-open", f"touch {self.top}/ran", 0o777)
        (result,) = await self.ask()
        self.assertEqual(result.status, FAIL)
        self.assertIn("others may write to it", result.output)
        self.place.chmod(0o777)
        (result,) = await self.ask()
        self.assertEqual((result.script, result.status), (DIRECTORY, FAIL))
        self.assertFalse((self.top / "ran").exists())

    async def test_no_directory(self) -> None:
        """A hook without scripts is fine; a name that would lead elsewhere is refused."""
        self.assertEqual(await self.ask("instance-stop"), [])
        await self.assertFailure(self.ask("../instance-start"), ParameterError)
