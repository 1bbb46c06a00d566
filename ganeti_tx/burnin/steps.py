"""The steps of a burnin, in their order; what a step needs stands in its line."""

from collections.abc import Callable

from attrs import frozen

from ganeti_tx.burnin import operations
from ganeti_tx.burnin.command_words import LEAVE_OUT
from ganeti_tx.burnin.instances import Burned
from ganeti_tx.burnin.operations import Part, Situation
from ganeti_tx.burnin.wanted import Wanted
from ganeti_tx.model.disk_template import Mirrored, Template
from ganeti_tx.model.hypervisor import HypervisorKind


@frozen(kw_only=True)
class Step:
    """What is done with each instance, by one job.

    @ivar option: the destination of the option that leaves it out; empty where another one does.
    @ivar suits: the disk templates that have it, as `what_suits` calls them. @ivar nodes: how many it needs.
    @ivar with_secondaries: such nodes are needed besides those that have the disks.
    @ivar can: whether a hypervisor has it. @ivar asked_for: whether the options that say how do not leave it out.
    @ivar one_by_one: also where the other steps are done with all instances at once.
    """

    title: str
    option: str = ""
    parts: Callable[[Situation, Burned], list[Part]]
    suits: Callable[[Template], bool] = lambda kind: True
    what_suits: str = ""
    nodes: int = 1
    can: Callable[[HypervisorKind], bool] = lambda hypervisor: True
    asked_for: Callable[[Wanted], bool] = lambda wanted: True
    one_by_one: bool = False

    def why_not(self, wanted: Wanted, hypervisor: str, kind: HypervisorKind, nodes: int) -> str:
        """Why it is left out, or nothing; what was asked for comes first."""
        if self.option in wanted.left_out:
            return LEAVE_OUT[self.option][0]
        if not self.asked_for(wanted):
            return "not asked for"
        if not self.suits(wanted.kind):
            return f"only for {self.what_suits}, not for {wanted.template.value}"
        if not self.can(kind):
            return f"hypervisor {hypervisor} cannot"
        if nodes < self.nodes:
            return f"needs {self.nodes} nodes, and there are {nodes}"
        return ""


def _has_disks(kind: Template) -> bool:
    return kind.has_disks


def _mirrors(kind: Template) -> bool:
    return kind.mirrored is Mirrored.INTERNALLY


def _goes_elsewhere(kind: Template) -> bool:
    return kind.mirrored is not Mirrored.NOT


WITH_DISKS = "instances with disks"
SEVERAL = "disks that several nodes have"
STEPS = (
    Step(
        title="Replacing disks on the same nodes",
        option="do_replace1",
        parts=operations.replaced_disks,
        suits=_mirrors,
        what_suits="mirrored disks",
        nodes=2,
    ),
    Step(
        title="Replacing the secondary node",
        option="do_replace2",
        parts=operations.replaced_secondary,
        suits=_mirrors,
        what_suits="mirrored disks",
        nodes=3,
    ),
    Step(
        title="Growing disks",
        parts=operations.grown,
        suits=lambda kind: kind.growable,
        what_suits="disks that can grow",
        asked_for=lambda wanted: any(wanted.disk_growth),
    ),
    Step(
        title="Failing over",
        option="do_failover",
        parts=operations.failed_over,
        suits=_goes_elsewhere,
        what_suits=SEVERAL,
        nodes=2,
    ),
    Step(
        title="Migrating",
        option="do_migrate",
        parts=operations.migrated,
        suits=_goes_elsewhere,
        what_suits=SEVERAL,
        nodes=2,
        can=lambda hypervisor: hypervisor.migrates,
    ),
    Step(
        title="Moving",
        option="do_move",
        parts=operations.moved,
        suits=lambda kind: kind.has_disks and not _goes_elsewhere(kind),
        what_suits="disks that one node has",
        nodes=2,
    ),
    Step(
        title="Exporting and importing",
        option="do_importexport",
        parts=operations.exported_and_imported,
        suits=_has_disks,
        what_suits=WITH_DISKS,
        nodes=2,
    ),
    Step(
        title="Reinstalling",
        option="do_reinstall",
        parts=operations.reinstalled,
        suits=_has_disks,
        what_suits=WITH_DISKS,
    ),
    Step(title="Rebooting", option="do_reboot", parts=operations.rebooted),
    Step(
        title="Adding and removing disks",
        option="do_addremove_disks",
        parts=operations.disks_changed,
        suits=_has_disks,
        what_suits=WITH_DISKS,
    ),
    Step(title="Adding and removing network interfaces", option="do_addremove_nics", parts=operations.nics_changed),
    Step(
        title="Activating and deactivating disks",
        option="do_activate_disks",
        parts=operations.activated,
        suits=_has_disks,
        what_suits=WITH_DISKS,
    ),
    Step(
        title="Renaming",
        parts=operations.renamed,
        asked_for=lambda wanted: wanted.rename is not None,
        one_by_one=True,
    ),
    Step(title="Renaming to the same name", option="do_renamesame", parts=operations.renamed_same),
    Step(title="Stopping and starting", option="do_startstop", parts=operations.restarted),
)
