"""Runs the scripts of providers."""

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError, OpExecError
from ganeti_tx.node.storage.ext.provider import Provider, Providers
from ganeti_tx.node.storage.ext.volume import Volume
from ganeti_tx.runtime.process import CLEAN_ENV, IProcessRunner
from ganeti_tx.runtime.script_log import IScriptLog, OpenLog, log_end, log_name
from ganeti_tx.runtime.threads import IThreads

#: Seconds; a minute less than the node calls wait that lead to it.
TIMEOUT = 900 - 60
#: Bytes of what `attach` may print.
MAX_SAID = 1 << 16


@frozen
class ProviderScripts:
    """All that a script says goes to a log, but for what `attach` prints: that is its answer."""

    providers: Providers
    log_directory: Path
    runner: IProcessRunner
    threads: IThreads
    now: Callable[[], float]  # seconds since the epoch
    open_log: OpenLog

    async def provider_of(self, volume: Volume) -> Provider:
        """@raise BlockDeviceError: this node has none of that name, or it cannot be used."""
        return await self.threads.run(self.providers.find, volume.provider)

    async def run(
        self, script: str, volume: Volume, told: Mapping[str, object] | None = None, answers: bool = False
    ) -> str:
        """Run a script of a volume's provider, which is told some more; what it printed if that is its answer.

        One that is optional and not there is left out. @raise BlockDeviceError: it failed; with its last lines.
        """
        provider = await self.provider_of(volume)
        if not provider.has(script):
            return ""
        environment = {**CLEAN_ENV, **volume.environment, **{key: str(value) for key, value in (told or {}).items()}}
        log = await self._log(script, volume)
        try:
            result = await self.runner.run(
                [str(provider.path / script)],
                env=environment,
                cwd=provider.path,
                timeout=TIMEOUT,
                output_limit=MAX_SAID,
                child_fds={2: log.descriptor} if answers else {1: log.descriptor, 2: log.descriptor},
            )
            if not result.succeeded:
                end = await self.threads.run(log_end, log)
                raise BlockDeviceError(f"{volume.label}: {script} {result.describe()}; {end}")
        except OSError as error:
            raise BlockDeviceError(f"{volume.label}: {script}: {error.strerror}")
        finally:
            log.close()
        return result.stdout.decode("utf-8", "replace")

    async def _log(self, script: str, volume: Volume) -> IScriptLog:
        name = log_name(script, volume.provider, volume.name, self.now())
        try:
            return await self.threads.run(self.open_log, self.log_directory, name)
        except OpExecError as error:
            raise BlockDeviceError(f"{volume.label}: {error}")
