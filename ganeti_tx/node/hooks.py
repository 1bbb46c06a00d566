"""The scripts of this node's hooks: which are run, in which order, with what, and for how long."""

import re
from collections.abc import Mapping
from pathlib import Path

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.hooks import SEARCH_PATH, HookPhase, HookResult, HookStatus, directory
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.hooks import HooksRunner
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner, ProcessResult

log = Logger()

#: Names of scripts, and of hooks; what is called otherwise is no script.
NAME = re.compile(r"[a-zA-Z0-9_-]+")
EXECUTABLE = 0o111
WRITABLE_BY_OTHERS = 0o002
#: Seconds for all scripts of one call together: less than the caller waits for the answer.
TIME_LIMIT = HooksRunner.timeout - 60
#: Bytes of a script's output, and characters of it that are told.
OUTPUT_LIMIT = 64 * 1024
TOLD = 8 * 1024


@define
class Hooks:
    """Runs a hook's scripts by name, one after the other, each with an environment of nothing but what it is to be told."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    clock: IReactorTime

    @answers(HooksRunner)
    async def asked(self, call: HooksRunner) -> list[HookResult]:
        """Run them for the master. @raise ParameterError: that is no name of a hook."""
        if not NAME.fullmatch(call.hpath):
            raise ParameterError(f"not the name of a hook: {call.hpath[:100]!r}; allowed are letters, digits, _ and -")
        return await self.run(call.hpath, call.phase, call.env)

    async def run(
        self, hook: str, phase: HookPhase, told: Mapping[str, str], limit: float = TIME_LIMIT
    ) -> list[HookResult]:
        """One result for each script. All are run, whatever becomes of the others, while the `limit` in seconds lasts."""
        place = self.paths.hooks_dir / directory(hook, phase)
        if not self.files.exists(place):
            return []
        if self.files.stat(place).mode & WRITABLE_BY_OTHERS:
            return [HookResult(place.name, HookStatus.FAIL, unsafe("this directory"))]
        environment = {**told, "PATH": SEARCH_PATH, "GANETI_DATA_DIR": str(self.paths.data_dir)}
        end = self.clock.seconds() + limit
        names = sorted(name for name in self.files.listdir(place) if NAME.fullmatch(name))
        return [await self._run(place / name, environment, end) for name in names]

    async def _run(self, script: Path, environment: Mapping[str, str], end: float) -> HookResult:
        name = f"{script.parent.name}/{script.name}"
        try:
            stat = self.files.stat(script)
        except FileNotFoundError:  # a link to nothing; those beside it are run all the same
            return HookResult(name, HookStatus.SKIP)
        except OSError as error:
            return HookResult(name, HookStatus.FAIL, f"not run: {reason(error)}")
        if stat.is_directory or not stat.mode & EXECUTABLE:
            return HookResult(name, HookStatus.SKIP)
        if stat.mode & WRITABLE_BY_OTHERS:
            return HookResult(name, HookStatus.FAIL, unsafe("it"))
        left = end - self.clock.seconds()
        if left <= 0:
            return HookResult(name, HookStatus.FAIL, "not run: those before it took all the time that there is")
        result = await self.runner.run(
            [str(script)], env=environment, cwd=Path("/"), timeout=left, output_limit=OUTPUT_LIMIT
        )
        if not result.succeeded:
            log.warn("hook {script}: {how}", script=name, how=result.describe())
        return HookResult(name, HookStatus.SUCCESS if result.succeeded else HookStatus.FAIL, output(result))


def unsafe(what: str) -> str:
    """Why a script is not run that anybody could have written."""
    return f"not run: others may write to {what}; 'chmod o-w' mends that"


def output(result: ProcessResult) -> str:
    """What a script said, and how it ended if not by itself."""
    said = (result.stdout + result.stderr).decode("utf-8", "replace").strip()[:TOLD]
    if result.status is not None and not result.timed_out and (said or result.succeeded):
        return said
    return "\n".join(filter(None, (said, result.describe().split(":")[0])))
