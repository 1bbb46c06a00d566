"""Runs the scripts of OS definitions."""

from collections.abc import Callable, Mapping, Sequence

import attrs
from attrs import frozen

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.opcodes.private import hidden_texts, without_values
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.os.api_versions import PARAMETERS_SINCE
from ganeti_tx.node.os.catalogue import OsCatalogue
from ganeti_tx.node.os.definition import OsDefinition
from ganeti_tx.node.os.environment import core_environment, os_environment
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner, ProcessResult
from ganeti_tx.runtime.script_log import IScriptLog, OpenLog, log_end, log_name, open_log
from ganeti_tx.runtime.threads import IThreads

#: Seconds; each a minute less than the node call waits that asks for it.
CREATE_TIMEOUT = 86400 - 60
RENAME_TIMEOUT = 3600 - 60
VERIFY_TIMEOUT = 300 - 60

#: The checks that `verify` knows.
CHECKS = ("parameters",)


@frozen
class OsScripts:
    """The scripts of this node's OS definitions. Parameters reach them in their environment and nowhere else."""

    catalogue: OsCatalogue
    paths: Paths
    runner: IProcessRunner
    threads: IThreads
    now: Callable[[], float]  # seconds since the epoch
    open_log: OpenLog = open_log

    async def run_create(
        self,
        instance: InstanceSpec,
        disks: Sequence[AttachedDisk],
        reinstall: bool = False,
        debug: int = 0,
        prefix: Sequence[str] = (),
    ) -> None:
        """Install the instance's OS on its disks. @param prefix: what stands before the command of the script.

        @raise OpPrereqError: this node has no such OS, or may not run it.
        @raise OpExecError: the script failed; with its last lines and the name of its log.
        """
        os = self.catalogue.find(instance.os)
        extra = {"INSTANCE_REINSTALL": "1"} if reinstall else {}
        environment = {**os_environment(os, instance, disks, debug), **extra}
        await self._run_logged("create", "add", os, instance, environment, CREATE_TIMEOUT, prefix)

    async def run_rename(
        self,
        instance: InstanceSpec,
        disks: Sequence[AttachedDisk],
        old_name: str,
        debug: int = 0,
        prefix: Sequence[str] = (),
    ) -> None:
        """Tell the guest's disks that the instance has a new name; as `run_create` does."""
        os = self.catalogue.find(instance.os)
        environment = {**os_environment(os, instance, disks, debug), "OLD_INSTANCE_NAME": old_name}
        await self._run_logged("rename", "rename", os, instance, environment, RENAME_TIMEOUT, prefix)

    async def validate(self, asked: OsValidate) -> bool:
        """Is the OS there, with this variant and these parameters? False only when it is not and need not be.

        @raise OpPrereqError: it is missing though required, or variant, parameters, hypervisor or checks are wrong.
        """
        if unknown := [check for check in asked.checks if check not in CHECKS]:
            raise OpPrereqError(f"unknown OS checks {', '.join(unknown)}; allowed: {', '.join(CHECKS)}", ECode.INVAL)
        if not asked.required and not self.catalogue.has(asked.os_name):
            return False
        os = self.catalogue.find(asked.os_name)
        os.check_variant(asked.os_name.partition("+")[2], asked.force_variant)
        for script in (*asked.scripts, *(["create"] if asked.on_node else [])):
            os.script(script)
        if asked.hypervisor is not None:
            os.check_hypervisor(asked.hypervisor)
        if "parameters" in asked.checks and os.api_version >= PARAMETERS_SINCE:
            os.check_parameters(list(asked.osparams))
            if os.trusted:  # its parameters' values are judged where its create script runs
                await self._verify(os, asked)
        return True

    async def _verify(self, os: OsDefinition, asked: OsValidate) -> None:
        result = await self.runner.run(
            [str(os.script("verify")), *CHECKS],
            env=core_environment(os, asked.os_name, asked.osparams, debug=0),
            cwd=os.path,
            timeout=VERIFY_TIMEOUT,
        )
        if not result.succeeded:
            hidden = [value for name, value in asked.osparams.items() if name in asked.hidden]
            ending, _, said = _whole(result, hidden).describe(lambda text: without_values(text, hidden)).partition(": ")
            ending = ending.replace("status", "exit code")
            raise OpPrereqError(f"OS validation script failed ({ending}), output: {said or 'none'}", ECode.INVAL)

    async def _run_logged(
        self,
        script: str,
        action: str,
        os: OsDefinition,
        instance: InstanceSpec,
        environment: Mapping[str, str],
        timeout: float,
        prefix: Sequence[str],
    ) -> None:
        program = str(os.script(script))
        name = log_name(action, instance.os, instance.name, self.now())
        log = await self.threads.run(self.open_log, self.paths.log_os_dir, name)
        try:
            result = await self.runner.run(
                [*prefix, program],
                env=environment,
                cwd=os.path,
                timeout=timeout,
                child_fds={1: log.descriptor, 2: log.descriptor},
            )
            await self._hide(instance, log)
            if not result.succeeded:
                await self._fail(script, os, instance, result, log)
        finally:
            log.close()

    async def _hide(self, instance: InstanceSpec, log: IScriptLog) -> None:
        """Whatever the script has said: what is private or secret stays in no log."""
        if values := hidden_texts([*instance.osparams_private.values(), *instance.osparams_secret.values()]):
            try:
                await self.threads.run(log.hide, values)
            except OSError as error:
                raise OpExecError(
                    f"private parameters may stand in log {log.path}: {error.strerror}; remove it"
                ) from None

    async def _fail(
        self, script: str, os: OsDefinition, instance: InstanceSpec, result: ProcessResult, log: IScriptLog
    ) -> None:
        end = await self.threads.run(log_end, log)
        raise OpExecError(f"OS {os.name!r}: {script} script of instance {instance.name} {result.describe()}; {end}")


def _whole(result: ProcessResult, hidden: Sequence[object]) -> ProcessResult:
    """Without the end of what was said too much: a value that was cut off there would not be found."""
    longest = max((len(text.encode()) for text in hidden_texts(hidden)), default=0)
    if not result.truncated or not longest:
        return result
    return attrs.evolve(result, stdout=result.stdout[:-longest], stderr=result.stderr[:-longest])
