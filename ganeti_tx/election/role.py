"""Taking the master role when the daemons start (design-2.0, Master startup/failover), and losing it while they run."""

from collections.abc import Awaitable, Callable, Sequence

import attrs
from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from ganeti_tx.config.copies import read_own
from ganeti_tx.election.failover import SEND_LIMIT
from ganeti_tx.election.poll import poll
from ganeti_tx.election.votes import Claim, Outcome, Purpose, Tally, Vote, count, listed, outcast, refusal
from ganeti_tx.election.voting import Voting
from ganeti_tx.errors import ConfigurationError, GanetiError, one_line
from ganeti_tx.mastership.ballot import job_serial
from ganeti_tx.mastership.term import claim_term, read_term
from ganeti_tx.mastership.this_node import NotMasterError, check_master, check_ssconf_master
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.model.node_files import CONFIG
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.membership import NotInClusterError
from ganeti_tx.runtime.paths import Paths

log = Logger()

SERIAL_MODE = 0o640
WAITS_MODE = 0o644
#: Seconds between two looks at this node's own ssconf, which a new master rewrites.
INTERVAL = 2.0
#: Seconds after which a claim that most nodes have not taken is one that was broken off: longer than a claim may take.
BROKEN_OFF_AFTER = 3 * SEND_LIMIT


def own_config(files: IFiles, paths: Paths, own_name: str) -> ConfigData:
    """This node's configuration, by which it is the master.

    @raise ConfigurationError: it cannot be read. @raise NotMasterError: it, or ssconf, names another master.
    """
    try:
        check_ssconf_master(files, paths, own_name)
        config = read_own(files, paths).config
    except FileNotFoundError:
        raise NotInClusterError(
            f"this node is not part of a cluster, or not its master: no {paths.config_file}; create a cluster with "
            "'gnt-cluster init', or add this node to one with 'gnt-node add' on its master"
        ) from None
    check_master(config, paths, own_name)
    return config


@attrs.define(eq=False)
class MasterRole:
    """The role of one daemon. `lost` is called once when another node has taken it while the daemon runs.

    Who is given to `when_risen` is called each time this master has got a higher term: what nodes have of it has to be
    sent anew, for copies of different terms do not count alike.
    """

    files: IFiles
    paths: Paths
    own_name: str
    clock: IReactorTime
    #: Seconds since the epoch.
    now: Callable[[], float]
    make_rpc: Callable[[], INodeRpc]
    lost: Callable[[GanetiError], None]
    is_lost: bool = attrs.field(default=False, init=False)
    _term: int = attrs.field(default=0, init=False)
    _risen: list[Callable[[], None]] = attrs.field(factory=list, init=False)
    _looking: LoopingCall | None = attrs.field(default=None, init=False)
    _doubting: bool = attrs.field(default=False, init=False)
    _winning: IDelayedCall | None = attrs.field(default=None, init=False)

    async def take(self, voting: Voting, lead: bool) -> ConfigData:
        """Make sure that this node is the master; gives its configuration.

        @param lead: this daemon owns the configuration: make it newer than anything that anybody has, so that every
            node takes what comes from here. To be done before the files are opened by those who own them.
        @raise NotMasterError: this node is not the master. @raise NoQuorum: too few nodes have answered.
        """
        config = own_config(self.files, self.paths, self.own_name)
        tally = await self._poll(config, voting.timeout if voting.vote else 0.0, self._tell_waits)
        if not voting.vote:
            if (error := outcast(self.own_name, tally)) is not None:
                raise error
            log.warn("no votes were taken: {name} becomes the master, whatever others say", name=self.own_name)
        elif tally.outcome is not Outcome.WON:
            if tally.outcome is Outcome.OPEN:
                await self._tell_waits(tally)
            else:
                self._forget_waits()
            raise refusal(Purpose.START, self.own_name, tally)
        self._forget_waits()
        if tally.against:
            log.warn("some nodes do not agree: {nodes}", nodes=listed(tally.against))
        return await self._lead(config, tally) if lead else config

    async def _tell_waits(self, tally: Tally) -> None:
        """Leave for the commands what keeps this node from being the master; that it cannot be left keeps nobody from asking."""
        told = one_line(refusal(Purpose.START, self.own_name, tally))
        try:
            await self.files.write_atomic(self.paths.master_waits_file, f"{told}\n".encode(), WAITS_MODE)
        except OSError as error:
            log.warn("commands will not tell what is waited for: {error}", error=reason(error))

    def _forget_waits(self) -> None:
        """Nothing is waited for any more."""
        if self.files.exists(self.paths.master_waits_file):
            self.files.remove(self.paths.master_waits_file)

    async def _lead(self, config: ConfigData, tally: Tally) -> ConfigData:
        await claim_term(self.files, self.paths, config.cluster.uuid, self.own_name, self.now(), at_least=tally.term)
        if tally.highest_job > job_serial(self.files, self.paths):
            await self.files.write_atomic(self.paths.queue_serial_file, f"{tally.highest_job}\n".encode(), SERIAL_MODE)
        if tally.highest_serial < config.serial_no or (tally.highest_serial == config.serial_no and not tally.against):
            return config  # who follows another candidate, which claimed the same, follows only what is newer
        raised = replace(config, serial_no=tally.highest_serial + 1)
        await self.files.write_atomic(self.paths.config_file, encode(raised), CONFIG.mode)
        log.warn("the configuration's serial number was raised to {serial}", serial=raised.serial_no)
        return raised

    def _claim(self, config: ConfigData) -> Claim:
        return Claim(
            name=self.own_name,
            cluster_uuid=config.cluster.uuid,
            serial=config.serial_no,
            job_serial=job_serial(self.files, self.paths),
            term=read_term(self.files, self.paths),
        )

    async def _poll(
        self, config: ConfigData, timeout: float, waits: Callable[[Tally], Awaitable[None]] | None = None
    ) -> Tally:
        claim = self._claim(config)
        others = [node for node in config.nodes.values() if node.name != self.own_name]

        def counted(votes: Sequence[Vote]) -> Tally:
            tally = count(Purpose.START, claim, votes)
            if not tally.newer:
                return tally
            # another daemon of this master may have gone on meanwhile: what others have from it is here by now
            newest = own_config(self.files, self.paths, self.own_name)
            return count(Purpose.START, self._claim(newest), votes)

        if not any(not node.offline for node in others):
            return counted(())
        return await poll(self.make_rpc(), self.clock, others, counted, timeout, waits=waits)

    # While the daemon runs

    def watch(self) -> None:
        """Look at this node's own ssconf, and its term, again and again."""
        self._term = self._own_term()
        self._looking = LoopingCall(self._look)
        self._looking.clock = self.clock
        looking: Deferred[LoopingCall] = self._looking.start(INTERVAL, now=False)
        looking.addErrback(lambda failure: log.failure("nobody looks for another master any more", failure))

    def when_risen(self, tell: Callable[[], None]) -> None:
        """Have somebody called with each higher term."""
        self._risen.append(tell)

    def stop(self) -> None:
        """Do not look any more."""
        if self._looking is not None and self._looking.running:
            self._looking.stop()
        if self._winning is not None and self._winning.active():
            self._winning.cancel()

    def _look(self) -> None:
        try:
            check_ssconf_master(self.files, self.paths, self.own_name)
            if (term := self._own_term()) > self._term:
                self._term = term
                for tell in self._risen:
                    tell()
        except NotMasterError as error:
            self._lose(error)
        except ConfigurationError as error:  # it is perhaps being written
            log.warn("cannot tell who is the master: {error}", error=error)

    def _own_term(self) -> int:
        """The term of this master, which its other daemons raise, too; 0 when it cannot be told."""
        try:
            term = read_term(self.files, self.paths)
        except OSError:
            return 0
        return 0 if term is None or term.master != self.own_name else term.number

    def _lose(self, error: GanetiError) -> None:
        self.stop()
        if not self.is_lost:
            self.is_lost = True
            self.lost(error)

    def refused(self, text: str) -> None:
        """A node did not take what we sent, since it knows another master; the others are asked who is right."""
        if self._doubting:
            return
        self._doubting = True
        log.warn("{text}; asking the other nodes who is the master", text=text)
        asking = Deferred.fromCoroutine(self._ask_again())
        asking.addErrback(lambda failure: log.failure("the other nodes could not be asked", failure))
        asking.addBoth(self._asked)

    async def _ask_again(self) -> None:
        try:
            tally = await self._poll(own_config(self.files, self.paths, self.own_name), 0.0)
        except NotMasterError as error:
            self._lose(error)
            return
        if not tally.overtaken:
            return
        if tally.outcome is not Outcome.WON:
            self._lose(refusal(Purpose.START, self.own_name, tally))
            return
        if self._winning is None or not self._winning.active():
            log.warn(
                "{name} stays the master, since most nodes follow it; {nodes} will be won back when no failover can be "
                "under way any more",
                name=self.own_name,
                nodes=listed(tally.overtaken),
            )
            self._winning = self.clock.callLater(BROKEN_OFF_AFTER, self._win_back)

    def _asked(self, result: object) -> object:
        self._doubting = False
        return result

    def _win_back(self) -> None:
        winning = Deferred.fromCoroutine(self._rise())
        winning.addErrback(lambda failure: log.failure("nodes that follow another master were not won back", failure))

    async def _rise(self) -> None:
        """Get ahead of a failover that did not get through, as a start does: a higher term, in which all is sent again."""
        try:
            config = own_config(self.files, self.paths, self.own_name)
            tally = await self._poll(config, 0.0)
            if self.is_lost or not tally.overtaken or tally.outcome is not Outcome.WON:
                return
            await claim_term(
                self.files, self.paths, config.cluster.uuid, self.own_name, self.now(), at_least=tally.term
            )
        except GanetiError as error:  # what is refused next time begins it anew
            log.warn("{error}", error=str(error))
            return
        log.warn("{name} is the master in a later term, for {nodes}", name=self.own_name, nodes=listed(tally.overtaken))
