"""The settings that a node group has of its own, as a request changes them."""

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from ganeti_tx.errors import ECode, GanetiError, OpPrereqError, ParameterError, TypeEnforcementError
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes import OpGroupAdd, OpGroupSetParams
from ganeti_tx.model.params.disk import check_diskparams
from ganeti_tx.model.params.ipolicy import PartialPolicy, check_ipolicy
from ganeti_tx.model.params.kinds import DEFAULT, types_of, updated
from ganeti_tx.model.params.node import check_ndparams
from ganeti_tx.model.params.state import changed_disk_state, changed_hv_state

#: As the value of a part of the policy: leave it to the cluster again.
RESET = (DEFAULT, [DEFAULT], (DEFAULT,))
#: The usual instance is the cluster's; a group only sets bounds.
OF_CLUSTER = "std"


def with_settings(group: NodeGroup, op: OpGroupAdd | OpGroupSetParams, cluster: Cluster) -> NodeGroup:
    """The group with what was asked for; what is null stays.

    @raise OpPrereqError: the policy, the state, the disk templates or the parameters do not fit.
    """
    try:
        ndparams = updated(group.ndparams, check_ndparams(op.ndparams or {}))
        diskparams = changed_diskparams(group.diskparams, op.diskparams or {})
    except (ParameterError, TypeEnforcementError) as error:
        raise OpPrereqError(str(error), ECode.INVAL) from None
    return replace(
        group,
        alloc_policy=op.alloc_policy or group.alloc_policy,
        ndparams=ndparams,
        diskparams=diskparams,
        ipolicy=changed_policy(group.ipolicy, op.ipolicy or {}, cluster),
        hv_state_static=changed_hv_state(group.hv_state_static, op.hv_state),
        disk_state_static=changed_disk_state(group.disk_state_static, op.disk_state),
    )


def changed_diskparams(
    held: Mapping[DiskTemplate, Params], given: Mapping[DiskTemplate, Params]
) -> dict[DiskTemplate, Params]:
    """By template; one of which nothing differs from the cluster's is left out."""
    checked = check_diskparams({template.value: params for template, params in given.items()})
    after = {template: updated(held.get(template, {}), checked.get(template, {})) for template in TEMPLATES}
    return {template: params for template, params in after.items() if params}


def changed_policy(held: PartialPolicy, given: Params, cluster: Cluster) -> PartialPolicy:
    """The group's own part of the policy; "default" leaves a part to the cluster.

    @raise OpPrereqError: wrong_input.
    """
    known = types_of(PartialPolicy)
    if OF_CLUSTER in given:
        raise OpPrereqError(f"ipolicy.{OF_CLUSTER}: may be set for the cluster only", ECode.INVAL)
    reset = {name for name, value in given.items() if value in RESET and name in known}
    try:
        policy = check_ipolicy({name: value for name, value in given.items() if name not in reset})
    except GanetiError as error:
        raise OpPrereqError(f"Invalid instance policy: {error}", ECode.INVAL) from None
    check_enabled(policy.disk_templates or (), cluster)
    fields = {name.replace("-", "_"): name for name in known}
    return PartialPolicy(
        **{
            field: None if name in reset else getattr(policy, field) or getattr(held, field)
            for field, name in fields.items()
        }
    )


def check_enabled(templates: Collection[DiskTemplate], cluster: Cluster) -> None:
    """@raise OpPrereqError: nobody could make disks of such a template."""
    if missing := sorted(set(templates) - set(cluster.enabled_disk_templates)):
        raise OpPrereqError(
            "The following disk templates are allowed by the ipolicy, but not enabled on the cluster: "
            + ", ".join(missing),
            ECode.INVAL,
        )
