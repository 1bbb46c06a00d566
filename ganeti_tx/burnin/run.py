"""A burnin from its first look to its last."""

from collections.abc import Callable, Mapping, Sequence

from attrs import define, field

from ganeti_tx.burnin import before
from ganeti_tx.burnin.command_words import LEAVE_OUT
from ganeti_tx.burnin.confd_questions import Ask, wrong_answers
from ganeti_tx.burnin.definitions import check_os
from ganeti_tx.burnin.exports import Exports
from ganeti_tx.burnin.instances import Burned, Instances
from ganeti_tx.burnin.jobs import Jobs
from ganeti_tx.burnin.living import Fetch, Living
from ganeti_tx.burnin.operations import Part, Situation, created, removal, removal_of_export
from ganeti_tx.burnin.orphans import orphans
from ganeti_tx.burnin.steps import STEPS, Step
from ganeti_tx.burnin.wanted import Wanted
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import GanetiError, OpExecError, error_text, one_line
from ganeti_tx.model.hypervisor import HypervisorKind

#: The destination of the option that leaves the configuration daemons out.
CONFD_OPTION = "do_confd_tests"
REMOVING = "Removing instances"


@define
class Burnin:
    """One run.

    @ivar confd: makes what asks the configuration daemons. @ivar fetch: asks an instance for its name.
    @ivar resolve: asks for a name's address.
    """

    session: Session
    wanted: Wanted
    confd: Callable[[], Ask]
    fetch: Fetch
    resolve: before.Resolve
    jobs: Jobs = field(init=False)
    instances: Instances = field(init=False)
    exports: Exports = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.instances = Instances(self.session.client, self.wanted.names)
        self.exports = Exports(self.session.client, self.instances)
        self.jobs = Jobs(self.session, self.wanted, self.exports)

    def run(self) -> bool:
        """Whether all went well, and nothing is left. @raise GanetiError: nothing was begun."""
        wanted, client = self.wanted, self.session.client
        before.check_names(client, wanted)
        before.check_resolved(wanted, self.resolve)
        before.check_template(client, wanted)
        hypervisor, kind = before.hypervisor_of(client, wanted)
        situation = Situation(wanted=wanted, ring=before.usable_nodes(client, wanted), tag=self.instances.tag)
        check_os(self.session, wanted)
        self._say_what(situation, hypervisor)
        orphaned = orphans(self.session, self.wanted)
        begun = self.session.now()
        well = self._guarded(lambda: self._steps(situation, hypervisor, kind))
        if wanted.keep_instances:
            kept = [*self.instances.names_left(), *self.exports.left()]
            self.session.print(f"Kept: {', '.join(kept) or 'no instance'}")
        else:
            failed = not well
            well = self._guarded(lambda: self._remove(orphaned, failed=failed)) and well
        self.session.print(f"Burnin {'passed' if well else 'FAILED'} after {self.session.now() - begun:.1f} s")
        return well

    def _say_what(self, situation: Situation, hypervisor: str) -> None:
        wanted, nodes = self.wanted, situation.ring.nodes
        how = "all at once" if wanted.parallel else "one by one"
        self.session.print(
            f"Burnin of {len(wanted.names)} instances ({how}), disk template {wanted.template.value}, hypervisor {hypervisor},"
            f" on {', '.join(nodes)}"
        )

    def _guarded(self, work: Callable[[], None]) -> bool:
        """Whether it was done; what failed is told, and jobs that still run are stopped, and waited for."""
        try:
            work()
        except GanetiError as error:
            self.session.warn(f"Failed: {one_line(error_text(error))}")
        except KeyboardInterrupt:
            self.session.warn("Interrupted")
        except OSError as error:
            self.session.warn(f"Stopped, for nobody can read on: {error.strerror}")
        else:
            return True
        self.jobs.stop()
        return False

    # Doing

    def _steps(self, situation: Situation, hypervisor: str, kind: HypervisorKind) -> None:
        self._create(situation)
        for step in STEPS:
            why_not = step.why_not(self.wanted, hypervisor, kind, len(situation.ring.nodes))
            if why_not:
                self.session.print(f"- {step.title}: left out ({why_not})")
            else:
                self._step(situation, step)
        self._ask_confd(situation)

    def _create(self, situation: Situation) -> None:
        title = "Creating instances"
        self.session.print(f"- {title}")
        work = {name: created(situation, number) for number, name in enumerate(self.wanted.names)}
        self.jobs.do(title, work, together=self.wanted.parallel)
        self._check_living()

    def _step(self, situation: Situation, step: Step) -> None:
        self.session.print(f"- {step.title}")
        work = {instance.name: step.parts(situation, instance) for instance in self.instances.known()}
        together = self.wanted.parallel and not step.one_by_one
        for some in [work] if together else [{name: parts} for name, parts in work.items()]:
            self.jobs.do(step.title, some, together=together)
            self.jobs.do(step.title, self._removals_of_exports(), together=together)
        self._check_living()

    def _check_living(self) -> None:
        fetch = self.fetch if self.wanted.http_check else None
        names = [each.name for each in self.instances.known()]
        Living(self.session, self.instances, self.wanted.net_timeout, fetch).check(names)
        self.session.print("    all instances run")

    def _ask_confd(self, situation: Situation) -> None:
        if CONFD_OPTION in self.wanted.left_out:
            self.session.print(f"- Asking the configuration daemons: left out ({LEAVE_OUT[CONFD_OPTION][0]})")
            return
        self.session.print("- Asking the configuration daemons")
        ask, master = self.confd(), str(self.session.client.query_cluster_info()["master"])
        instances = self.instances.known()
        nodes = sorted({*situation.ring.nodes, *(each.primary for each in instances)})
        wrong = self._wrong_answers(ask, master, nodes, instances)
        if wrong:
            raise OpExecError(f"a configuration daemon says otherwise: {'; '.join(wrong)}")
        self.session.print(f"    {len(nodes)} nodes and {len(instances)} instances are as they should be")

    def _wrong_answers(self, ask: Ask, master: str, nodes: Sequence[str], instances: Sequence[Burned]) -> list[str]:
        """Those that stay wrong: a change takes a moment to reach all candidates."""
        deadline = self.session.now() + self.wanted.net_timeout
        while wrong := list(wrong_answers(ask, master, nodes, instances)):
            if self.session.now() >= deadline:
                break
            self.session.sleep(1.0)
        return wrong

    # Removing

    def _remove(self, orphaned: set[str], *, failed: bool) -> None:
        """Whatever there is, by any name; after a failure also what cannot be removed in all its parts."""
        self.session.print(f"- {REMOVING}")
        faults = [
            *self._undo({name: [removal(name, whatever=failed)] for name in self.instances.names_left()}),
            *self._undo(self._removals_of_exports()),
        ]
        left = [
            *self.instances.names_left(),
            *self.exports.left(),
            *sorted(orphans(self.session, self.wanted) - orphaned),
        ]
        for export in self.exports.of_others():
            self.session.warn(f"    {export} stays: this burnin has not made it")
        if left:
            faults.append(f"something is left: {'; '.join(left)}")
        if faults:
            raise OpExecError("; ".join(faults))
        self.session.print("    nothing of this burnin is left")

    def _undo(self, work: Mapping[str, Sequence[Part]]) -> list[str]:
        """What went wrong; the rest was done."""
        try:
            self.jobs.do(REMOVING, work, together=self.wanted.parallel, go_on=True)
        except OpExecError as error:
            return [str(error)]
        return []

    def _removals_of_exports(self) -> Mapping[str, Sequence[Part]]:
        """By names."""
        return {name: [removal_of_export(name)] for name in self.exports.removable()}
