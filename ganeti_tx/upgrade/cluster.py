"""`gnt-cluster upgrade`: another version of this program on all nodes, one after the other, while instances run.

Nothing is begun before every node was seen to have it. Then the queue is drained, so that no job is in the hands of two
versions; the master comes first, as older node daemons understand a newer master. What is under way is written down, and
each step may be done twice, so `--resume` goes on after whatever broke it off, and `--to` with the former version goes back.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from attrs import define

from ganeti_tx import __version__
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.config.older.downgrade import disk_faults
from ganeti_tx.config.ssconf_reader import SsconfReader
from ganeti_tx.errors import ConfigurationError, GanetiError
from ganeti_tx.model.decoding import read_json
from ganeti_tx.runtime.daemon_names import MASTER, MASTER_PARTS, RAPI
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.upgrade.backup import back_up
from ganeti_tx.upgrade.installations import checked, is_older, own, places, program
from ganeti_tx.upgrade.intent import Intent, drop_intent, read_intent, write_intent
from ganeti_tx.upgrade.jobs import Jobs
from ganeti_tx.upgrade.on_node import halt
from ganeti_tx.upgrade.remote import NodeFailed, UpgradeNodes, ended

CONFIGURATION = "cfgupgrade"
#: What changes the configuration, or has others change it.
ON_MASTER = (RAPI, MASTER, *MASTER_PARTS)
#: Seconds that the configuration may take, and a command that has all nodes do something.
CONVERT_LIMIT = 600.0
COMMAND_LIMIT = 3600.0


@define
class ClusterUpgrade:
    """One run on the master. `say` tells the operator."""

    paths: Paths
    ssconf: SsconfReader
    jobs: Jobs
    nodes: UpgradeNodes
    say: Callable[[str], None]

    def to(self, version: str) -> bool:
        """Begin. Whether all nodes are as they should be in the end. @raise GanetiError: nothing or not all was done."""
        self._check_master()
        prefix = self._installed(checked(version))
        looks = self._check(version, prefix)
        under_way = read_intent(self.paths)
        intent = Intent(
            version=version,
            former=__version__,
            directory=str(prefix),
            was_drained=self.jobs.is_drained() if under_way is None else under_way.was_drained,
            daemons=looks if under_way is None else {**looks, **under_way.daemons},
        )
        write_intent(self.paths, intent)
        return self._carry_out(intent, looks)

    def resume(self) -> bool:
        """Go on; as `to`. Another node than the master has nothing to do."""
        if self.ssconf.master_node() != self.nodes.here:
            return True
        intent = read_intent(self.paths)
        if intent is None:
            raise BootstrapError("No upgrade is under way; begin one with --to")
        return self._carry_out(intent, self._check(intent.version, Path(intent.directory)))

    def _check_master(self) -> None:
        master = self.ssconf.master_node()
        if master != self.nodes.here:
            raise BootstrapError(f"This is not the master node: run the command on {master}")

    def _installed(self, version: str) -> Path:
        """Where a version is on this node. @raise BootstrapError: nowhere."""
        looked = list(dict.fromkeys(places(version, own())))
        for prefix in looked:
            try:
                if self.nodes.look(self.nodes.here, prefix).version == version:
                    return prefix
            except NodeFailed:
                continue
        raise BootstrapError(
            f"Cannot upgrade to {version}: this node has it neither in {' nor in '.join(map(str, looked))}; "
            f"install it in {looked[-2]} on every node"
        )

    def _check(self, version: str, prefix: Path) -> dict[str, tuple[str, ...]]:
        """The daemons that run on each node. @raise BootstrapError: with all that keeps the cluster from that version."""
        looks, problems = self._look(prefix)
        problems += [*self._configuration_faults(prefix)] or [
            *self._disk_faults(version)
        ]  # the former have the latter in them
        if problems:
            raise BootstrapError(*problems)
        return looks

    def _look(self, prefix: Path) -> tuple[dict[str, tuple[str, ...]], list[str]]:
        """The daemons that run on each node, and which nodes do not have the version."""
        looks: dict[str, tuple[str, ...]] = {}
        problems: list[str] = []
        wanted = self.nodes.look(self.nodes.here, prefix).version
        for node in self._online():
            try:
                seen = self.nodes.look(node, prefix)
                looks[node] = seen.daemons
                if seen.version != wanted:
                    problems.append(f"node {node}: in {prefix} is version {seen.version}, not {wanted}")
            except NodeFailed as failure:
                problems.append(str(failure))
        return looks, problems

    def _online(self) -> list[str]:
        """The master first."""
        names = [node.name for node in self.ssconf.nodes() if not node.offline]
        return sorted(names, key=lambda name: name != self.nodes.here)

    def _reads(self, prefix: Path) -> str:
        """Why a version cannot read this cluster's configuration; empty when it can."""
        done = ended([program(prefix, CONFIGURATION), "--dry-run", "--force", "--no-verify"], CONVERT_LIMIT)
        return "" if done.returncode == 0 else (done.stderr or done.stdout).strip() or f"status {done.returncode}"

    def _configuration_faults(self, prefix: Path) -> Iterator[str]:
        """Why the version cannot read it, and this one cannot bring it there."""
        why = self._reads(prefix)
        if why and (back := ended(self._back("--dry-run"), CONVERT_LIMIT)).returncode != 0:
            yield f"the version in {prefix} cannot take over this cluster's configuration: {why}"
            yield from (back.stderr or back.stdout).strip().splitlines()

    def _disk_faults(self, version: str) -> Iterator[str]:
        """An older version, which cannot be asked what it leaves out, may not know a disk's format."""
        if is_older(version):
            raw = read_json(self.paths.config_file.read_bytes())
            yield from disk_faults(raw, f"version {version} may take for raw")

    def _back(self, *more: str) -> list[str]:
        return [program(own(), CONFIGURATION), "--downgrade", "--force", *more]

    def _carry_out(self, intent: Intent, looks: Mapping[str, tuple[str, ...]]) -> bool:
        """@param looks: which daemons run on each node."""
        prefix = Path(intent.directory)
        try:
            self._start_ended(intent, looks)
            if self.jobs.can_be_asked():  # else it was drained, and the upgrade broken off before the new one was up
                self.say("Draining the job queue")
                self.jobs.drain()
            self._switch_master(intent, prefix)
            for node in self._online():
                if node != self.nodes.here:
                    self.say(f"Restarting the daemons of {node}")
                    self.nodes.take_over(node, prefix, self.wanted_on(node, intent))
        except (GanetiError, OSError, KeyboardInterrupt):
            self._open_again(intent)
            self.say("The upgrade is not finished; 'gnt-cluster upgrade --resume' goes on")
            raise
        return self._finish(intent, prefix)

    def _start_ended(self, intent: Intent, looks: Mapping[str, tuple[str, ...]]) -> None:
        """Have those of the other nodes run that an upgrade has left ended when it was broken off: a master needs their votes."""
        for node, running in looks.items():
            wanted = self.wanted_on(node, intent)
            if node != self.nodes.here and not set(wanted) <= set(running):
                self.say(f"Starting the daemons of {node}")
                self.nodes.take_over(node, Path(intent.directory), wanted)

    def wanted_on(self, node: str, intent: Intent) -> tuple[str, ...]:
        """What is to run there: as at the beginning, or, on a node that was offline then, as now. @raise NodeFailed: as `look`."""
        return intent.daemons.get(node) or self.nodes.look(node, Path(intent.directory)).daemons

    def _switch_master(self, intent: Intent, prefix: Path) -> None:
        """@raise GanetiError: the master is not of the new version; as far as possible the former one runs again"""
        daemons = intent.daemons[self.nodes.here]
        self.say(f"Backing up the data directory of this node to {back_up(self.paths, intent.former)}")
        self.say("Restarting the daemons of the master")
        try:
            halt(self.paths, [each for each in daemons if each in ON_MASTER])
            if self._reads(prefix):
                self._convert(self._back())
            self._convert([program(prefix, CONFIGURATION), "--force"])
            self.nodes.take_over(self.nodes.here, prefix, daemons)
        except (GanetiError, KeyboardInterrupt):
            self.say("The master did not take it over; starting the daemons as they were")
            self.nodes.take_over(self.nodes.here, own(), daemons)
            raise

    def _convert(self, argv: list[str]) -> None:
        """@raise ConfigurationError: it failed; the former file lies beside it"""
        done = ended(argv, CONVERT_LIMIT)
        if done.returncode != 0:
            raise ConfigurationError(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip()}")

    def _open_again(self, intent: Intent) -> None:
        """Jobs go on though not all is done: versions understand each other."""
        try:
            if not intent.was_drained:
                self.jobs.open()
        except GanetiError:
            self.say("The job queue is still drained; 'gnt-cluster queue undrain' opens it")

    def _finish(self, intent: Intent, prefix: Path) -> bool:
        self._open_again(intent)
        drop_intent(self.paths)
        self.say(f"All nodes run version {intent.version}; it was {intent.former}")
        if offline := [node.name for node in self.ssconf.nodes() if node.offline]:
            again = f"'gnt-cluster upgrade --to {intent.version}' again when they are back"
            self.say(f"But those that are offline: {', '.join(offline)}; run {again}")
        if intent.was_drained:
            self.say("The job queue is drained as it was before, so nothing was distributed or verified")
            return True
        redistributed = self._command(prefix, "redist-conf")
        return self._command(prefix, "verify") and redistributed

    def _command(self, prefix: Path, verb: str) -> bool:
        """Whether a command of the new version ended well; what it said is shown if it did not."""
        done = ended([program(prefix, "gnt-cluster"), verb], COMMAND_LIMIT)
        if done.returncode != 0:
            print(f"{done.stdout}{done.stderr}".strip(), file=sys.stderr)
            self.say(f"'gnt-cluster {verb}' ended with status {done.returncode}")
        return done.returncode == 0
