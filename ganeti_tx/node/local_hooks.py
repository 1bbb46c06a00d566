"""Hooks that one node runs by itself, such as those around taking the master's address (Ganeti 3.0 hook table)."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from attrs import define
from twisted.logger import Logger

from ganeti_tx.errors import HooksAbort
from ganeti_tx.mastership.own_ballot import read_word
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

log = Logger()

NAME = re.compile(r"[a-zA-Z0-9_-]+")
VERSION = "2"
HOOK_PATH = "/sbin:/bin:/usr/sbin:/usr/bin"
EXECUTABLE = 0o111
#: Seconds that one script may take.
SCRIPT_LIMIT = 60.0


@define
class LocalHooks:
    """Runs a hook directory's scripts by name, one after the other."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    own_name: str

    async def run(self, hook: str, phase: Literal["pre", "post"], opcode: str, values: Mapping[str, str]) -> None:
        """@raise HooksAbort: a script of the pre phase failed; one of the post phase that fails is only logged."""
        failed = []
        environment = self._environment(hook, phase, opcode, values)
        for script in self._scripts(self.paths.hooks_dir / f"{hook}-{phase}.d"):
            result = await self.runner.run([str(script)], env=environment, cwd=Path("/"), timeout=SCRIPT_LIMIT)
            if not result.succeeded:
                failed.append([self.own_name, str(script), result.describe()])
                log.warn("hook {script}: {how}", script=str(script), how=result.describe())
        if failed and phase == "pre":
            raise HooksAbort(failed)

    def _scripts(self, directory: Path) -> list[Path]:
        if not self.files.exists(directory):
            return []
        found = [directory / name for name in self.files.listdir(directory) if NAME.fullmatch(name)]
        stats = {path: self.files.stat(path) for path in found}
        return [path for path, stat in stats.items() if not stat.is_directory and stat.mode & EXECUTABLE]

    def _environment(self, hook: str, phase: str, opcode: str, values: Mapping[str, str]) -> dict[str, str]:
        prefixes = ("GANETI_", "GANETI_POST_") if phase == "post" else ("GANETI_",)
        return {
            **{f"{prefix}{name}": value for prefix in prefixes for name, value in values.items()},
            "PATH": HOOK_PATH,
            "GANETI_HOOKS_VERSION": VERSION,
            "GANETI_HOOKS_PHASE": phase,
            "GANETI_HOOKS_PATH": hook,
            "GANETI_OBJECT_TYPE": "CLUSTER",
            "GANETI_OP_CODE": opcode,
            "GANETI_CLUSTER": read_word(self.files, self.paths.ssconf_file("cluster_name")),
            "GANETI_MASTER": read_word(self.files, self.paths.ssconf_file("master_node")),
            "GANETI_DATA_DIR": str(self.paths.data_dir),
        }
