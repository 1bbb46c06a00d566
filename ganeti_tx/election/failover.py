"""`gnt-cluster master-failover`: this node becomes the master, step by step (design-2.0, Master startup/failover).

The step that decides is the claim: every node is asked to follow this one, and at least half of them plus one must do so.
Before it the old master is the master, though its daemons may have been stopped; after it they cannot start any more. What
comes later only makes this node complete, and the command can be run again at any point.
"""

from collections.abc import Callable, Sequence

import attrs
from msgspec.structs import replace
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.config.ssconf_reader import SsconfReader
from ganeti_tx.config.upgrade import read_config
from ganeti_tx.election.address import network_of
from ganeti_tx.election.jobs_left import JobsLeft
from ganeti_tx.election.poll import poll
from ganeti_tx.election.votes import Claim, Outcome, Purpose, Tally, Vote, count, listed, outcast, refusal
from ganeti_tx.errors import ConfigurationError, ECode, GanetiError, OpExecError, OpPrereqError
from ganeti_tx.mastership.ballot import Ballot, job_serial, own_ballot, ssconf_master
from ganeti_tx.mastership.term import read_term
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES, ConfigData, encode
from ganeti_tx.model.node import Node
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.rpc.calls.cluster import UploadFile, WriteRapiFiles, WriteSsconfFiles
from ganeti_tx.rpc.calls.master import (
    MasterVote,
    NodeDeactivateMasterIp,
    NodeStartMasterDaemons,
    NodeStopMaster,
)
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, NodeUnreachableError, RpcError
from ganeti_tx.runtime.daemon_control import DaemonControl
from ganeti_tx.runtime.daemon_names import MASTER
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.rapi_files import read_rapi_files, read_record

#: By so much the serial number rises: an old master that nobody reaches may have gone on counting.
MARGIN = 1000
#: Seconds for which nodes that do not answer are asked for their votes.
TIMEOUT = 10.0
#: Seconds that the old master may take to stop, and others to take what is sent; and each that has not voted.
STOP_LIMIT = 60.0
SEND_LIMIT = 20.0
SILENT_LIMIT = 3.0


@attrs.define(eq=False)
class Failover:
    """One change of masters, from the new one's point of view. `say` tells the operator; `is_up` whether luxid answers here."""

    files: IFiles
    paths: Paths
    own_name: str
    clock: IReactorTime
    now: Callable[[], float]
    rpc: INodeRpc
    jobs: JobsLeft
    is_up: Callable[[], bool]
    say: Callable[[str], None]

    async def run(self, vote: bool) -> None:
        """Do it. @raise GanetiError: why not, who is the master then, and what to do."""
        config, followed = self._own_config(), ssconf_master(self.files, self.paths)
        own = self._own_node(config)
        if await self._is_master(config, own, vote):
            await self._finish(config, own, frozenset(node.name for node in config.nodes.values()), vote)
            return
        if config.cluster.master_node == own.uuid and self.is_up():
            raise OpPrereqError(
                f"the master daemons of this node ({self.own_name}) run, and at least half of the nodes and one more do "
                "not confirm that it is the master; see that they can be reached, or stop it here "
                f"({DaemonControl.here().command('stop', MASTER)}) before the command is run again",
                ECode.STATE,
            )
        tally = await self._ask(config, own, vote)
        old = config.nodes[config.cluster.master_node]
        stopped = await self._stop(old, config, tally, vote)
        try:
            # the old master may have written until now, and another candidate may have become the master
            config, before = self._config_still_of(old, followed), own_ballot(self.files, self.paths)
            tally = await self._ask(config, own, vote, SILENT_LIMIT)
            self._check_unchanged(old, before)
            new = self._new_config(config, own, tally)
            followers = await self._claim(new, old, tally, tally.needed if vote else 1)
        except GanetiError:
            if stopped:
                await self._start_again(old)
            raise
        await self._take_over(new, own, old)
        await self._finish(new, own, followers, vote)

    async def _is_master(self, config: ConfigData, own: Node, vote: bool) -> bool:
        """Whether this node is the master already: its own files say so, which others may know better."""
        if config.cluster.master_node != own.uuid or ssconf_master(self.files, self.paths) != self.own_name:
            return False
        return not vote or (await self._poll(Purpose.START, config, 0.0)).outcome is Outcome.WON

    # What must be true before anything is done

    def _own_config(self) -> ConfigData:
        """@raise OpPrereqError: this node has no copy. @raise ConfigurationError: the copy cannot be read."""
        try:
            return read_config(self.files.read(self.paths.config_file, MAX_CONFIG_BYTES)).config
        except FileNotFoundError:
            raise self._no_candidate() from None
        except OSError as error:
            raise ConfigurationError(f"cannot read {self.paths.config_file}: {error.strerror}") from None

    def _own_node(self, config: ConfigData) -> Node:
        """This node, which must be a candidate. @raise OpPrereqError: it is none."""
        found = [node for node in config.nodes.values() if node.name == self.own_name]
        named = SsconfReader(self.files, self.paths).words("master_candidates")
        if not found or not found[0].master_candidate or found[0].offline or self.own_name not in named:
            raise self._no_candidate()
        return found[0]

    def _no_candidate(self) -> OpPrereqError:
        try:
            names = SsconfReader(self.files, self.paths).words("master_candidates")
        except ConfigurationError as error:
            return OpPrereqError(str(error), ECode.STATE)
        return OpPrereqError(
            f"this node ({self.own_name}) is not a master candidate, so it cannot become the master; run the command on "
            f"one of {listed(names)}",
            ECode.STATE,
        )

    def _config_still_of(self, old: Node, followed: str | None) -> ConfigData:
        """This node's configuration as it is now. @raise OpExecError: this node follows another master by now."""
        config = self._own_config()
        if config.cluster.master_node != old.uuid or ssconf_master(self.files, self.paths) != followed:
            raise self._another_is_master()
        return config

    def _check_unchanged(self, old: Node, before: Ballot) -> None:
        """While silent nodes were waited for, the votes of the others grew old: nobody may have been at work since.

        @raise OpExecError: this node has been sent something.
        """
        if own_ballot(self.files, self.paths) != before:
            raise OpExecError(
                f"{self.own_name} was sent something while it asked for votes: {old.name}, or another master, is at work; "
                "run the command again"
            )

    async def _ask(self, config: ConfigData, own: Node, vote: bool, limit: float | None = None) -> Tally:
        """@raise OpPrereqError: the own node daemon does not answer. @raise ConfigurationError: the vote was lost."""
        try:
            await self.rpc.call(own, MasterVote())
        except RpcError as error:
            raise OpPrereqError(f"the node daemon of this node is needed: {error}", ECode.ENVIRON) from None
        tally = await self._poll(Purpose.FAILOVER, config, TIMEOUT if vote else 0.0, limit)
        if vote and tally.outcome is not Outcome.WON:
            raise refusal(Purpose.FAILOVER, self.own_name, tally)
        if (reason := outcast(self.own_name, tally)) is not None and not vote:
            raise reason
        return tally

    async def _poll(self, purpose: Purpose, config: ConfigData, timeout: float, limit: float | None = None) -> Tally:
        claim = Claim(
            name=self.own_name,
            cluster_uuid=config.cluster.uuid,
            serial=config.serial_no,
            job_serial=job_serial(self.files, self.paths),
            term=read_term(self.files, self.paths),
        )

        def counted(votes: Sequence[Vote]) -> Tally:
            return count(purpose, claim, votes)

        others = [node for node in config.nodes.values() if node.name != self.own_name]
        return await poll(self.rpc, self.clock, others, counted, timeout, limit)

    # The old master

    async def _stop(self, old: Node, config: ConfigData, tally: Tally, vote: bool) -> bool:
        """Stop the old master's daemons; gives whether they were stopped. It may be this node, with one that is left.

        @raise OpExecError: it answers but does not stop; it is the master still.
        """
        if old.offline:
            return False
        try:
            limit = STOP_LIMIT if old.name in tally.answered else SILENT_LIMIT
            await self.rpc.call(old, NodeStopMaster(), limit)
        except NodeUnreachableError as error:
            self.say(f"the old master {old.name} cannot be stopped, it is taken for dead: {error}")
            return False
        except RpcError as error:
            if vote:
                raise OpExecError(f"the old master {old.name} does not stop and remains the master: {error}") from None
            self.say(f"the old master {old.name} does not stop; stop it by hand: {error}")
            return False
        try:
            await self.rpc.call(old, NodeDeactivateMasterIp(**network_of(config.cluster)), SEND_LIMIT)
        except RpcError as error:
            self.say(f"the old master {old.name} may still have the cluster's address: {error}")
        return True

    async def _start_again(self, old: Node) -> None:
        """The failover was not to be: the old master goes on, if the others still follow it."""
        try:
            await self.rpc.call(old, NodeStartMasterDaemons(no_voting=False))
        except RpcError as error:
            self.say(f"the daemons of {old.name}, which were stopped, could not be started again: {error}")

    # Becoming the master

    def _new_config(self, config: ConfigData, own: Node, tally: Tally) -> ConfigData:
        now = self.now()
        cluster = touched(replace(config.cluster, master_node=own.uuid), now)
        return replace(config, cluster=cluster, serial_no=tally.highest_serial + MARGIN, mtime=now)

    async def _claim(self, new: ConfigData, old: Node, tally: Tally, needed: int) -> frozenset[str]:
        """Have the nodes follow this one, itself included; gives those that do.

        The old master comes last: until the others follow this one it must be able to start.
        @raise OpExecError: too few of them do.
        """
        stamp = Stamp(cluster=new.cluster.uuid, master=self.own_name, term=tally.term or int(self.now()))
        call = WriteSsconfFiles(values=ssconf_values(new), serial=new.serial_no, stamp=stamp)
        awake = {self.own_name, *tally.answered} - {old.name}
        asked = [node for node in new.nodes.values() if not node.offline]
        rest = [node for node in asked if node.name not in awake]
        limit = SEND_LIMIT if old.name in tally.answered else SILENT_LIMIT
        outcomes = dict(await self.rpc.call_many([node for node in asked if node.name in awake], call, SEND_LIMIT))
        own = outcomes.get(self.own_name)
        if own is None or not isinstance(own.error, NodeCallError):  # else another was faster, and shall get the rest
            outcomes.update(await self.rpc.call_many(rest, call, limit))
        failed = {name: outcome.error for name, outcome in outcomes.items() if outcome.error is not None}
        if len(outcomes) - len(failed) < needed or self.own_name in failed:
            raise OpExecError(
                f"only {len(outcomes) - len(failed)} of {len(asked)} nodes follow {self.own_name}, {needed} are needed: "
                f"{listed(map(str, failed.values()))}; run the command again when they can be reached"
            )
        for error in failed.values():
            self.say(f"a node does not know the new master yet: {error}")
        return frozenset(outcomes.keys() - failed.keys())

    async def _take_over(self, new: ConfigData, own: Node, old: Node) -> None:
        """Make this node's own files those of a master. @raise OpExecError: one cannot be written."""
        if self._overtaken(new):
            raise self._another_is_master()
        try:
            if over := await self.jobs.end(old.name, self.now()):
                self.say(f"jobs that {old.name} had under way have failed: {listed(map(str, over))}")
        except OSError as error:
            raise self._cannot_write(f"{error.filename}: {error.strerror}") from None
        if self._overtaken(new):  # what came since the claim is not written over
            raise self._another_is_master()
        try:  # by the node daemon, which writes nothing over that is newer, and notes the term in which it was written
            await self.rpc.call(own, self._upload(new), SEND_LIMIT)
        except RpcError as error:
            raise self._cannot_write(f"{self.paths.config_file}: {error}") from None

    def _cannot_write(self, what: str) -> OpExecError:
        return OpExecError(
            f"the nodes follow {self.own_name} now, but it cannot write {what}; when that is mended, run the command again"
        )

    def _upload(self, config: ConfigData) -> UploadFile:
        return UploadFile(
            path=str(Paths().config_file), data=encode(config), serial=config.serial_no, stamp=self._own_stamp(config)
        )

    def _overtaken(self, new: ConfigData) -> bool:
        """Whether this node has been given newer things by somebody else: the old master may have come back."""
        ballot = own_ballot(self.files, self.paths)
        return ssconf_master(self.files, self.paths) != self.own_name or ballot.newest > new.serial_no

    def _another_is_master(self) -> OpExecError:
        return OpExecError(
            f"another node has become the master meanwhile; see 'gnt-cluster getmaster' on {self.own_name}"
        )

    async def _finish(self, config: ConfigData, own: Node, followers: frozenset[str], vote: bool) -> None:
        """Bring the configuration to the candidates and start the daemons, which take the cluster's address.

        @raise OpPrereqError: they run already. @raise OpExecError: they do not start.
        """
        if self.is_up():
            raise OpPrereqError(f"this node ({self.own_name}) is the master already", ECode.INVAL)
        candidates = [node for node in config.nodes.values() if node.master_candidate and node.uuid != own.uuid]
        reached = [node for node in candidates if not node.offline and node.name in followers]
        files = self._rapi_files(config)
        given = await self.rpc.call_many(reached, files, SEND_LIMIT) if files is not None else {}
        for outcome in given.values():
            if outcome.error is not None:
                self.say(f"a candidate does not have the users of the Remote API yet: {outcome.error}")
        reached = [node for node in reached if node.name not in given or given[node.name].error is None]
        for outcome in (await self.rpc.call_many(reached, self._upload(config), SEND_LIMIT)).values():
            if outcome.error is not None:
                self.say(f"a candidate does not have the new configuration yet: {outcome.error}")
        try:
            await self.rpc.call(own, NodeStartMasterDaemons(no_voting=not vote))
        except RpcError as error:
            raise OpExecError(
                f"{self.own_name} is the master now, but its daemons do not run: {error}; when that is mended, run "
                f"'{DaemonControl.here().command('start', MASTER)}' here, or the command again"
            ) from None
        self.say(f"{self.own_name} is the master now")

    def _rapi_files(self, config: ConfigData) -> WriteRapiFiles | None:
        """What whoever gets the new configuration must have; None when the cluster never had such files."""
        try:
            content = read_rapi_files(self.files, self.paths)
        except OSError as error:
            self.say(f"the users of the Remote API are not sent to the candidates: {error.filename}: {error.strerror}")
            return None
        if not content and read_record(self.files, self.paths) is None:
            return None
        return WriteRapiFiles(files=dict(content), serial=config.serial_no, stamp=self._own_stamp(config))

    def _own_stamp(self, config: ConfigData) -> Stamp:
        """Of the term that was claimed, which the own node daemon has kept; where it is lost, as of a first master."""
        term = read_term(self.files, self.paths)
        if term is None or term.master != self.own_name:
            return Stamp(cluster=config.cluster.uuid, master=self.own_name, term=int(self.now()))
        return Stamp(cluster=term.cluster, master=term.master, term=term.number)
