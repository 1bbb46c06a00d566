"""Jobs of callers who are kept to some instances, judged once more, now that their locks are held.

They were judged when they were submitted. By now an instance may have left the scopes, a name may be that of another instance,
and a node may be in another group. Errors do not say which scopes these are: others see the job, too.
"""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpCode, encode
from ganeti_tx.model.opcodes.named import WITHOUT_INSTANCE, instances_of, nodes_of
from ganeti_tx.model.scope import Scopes, scopes_of
from ganeti_tx.model.taken_names import host_refusal, hosts_called, meant_by


async def check_scopes(unit: LogicalUnit[Any]) -> None:
    """What an opcode names, and would have instances be called, is what its reason trail keeps it to; without such entries it
    may be anything.

    @raise OpPrereqError: it is not
    """
    await check_named(unit)
    if kept_to := _kept_to(unit.op):
        await _check_new_names(unit.new_names(), unit.config, kept_to)


async def check_named(unit: LogicalUnit[Any]) -> None:
    """Of what an opcode names alone, as it is before its names are looked up: whatever fails there may tell of others' instances.

    @raise OpPrereqError: it is not what the opcode is kept to
    """
    op, config = unit.op, unit.config
    for scopes in _kept_to(op):
        await _check_instances(op, config, scopes)
        await _check_nodes(op, config, scopes)


def _kept_to(op: OpCode) -> Sequence[Scopes]:
    try:
        return list(scopes_of(op.reason))
    except ValueError as error:
        raise OpPrereqError(f"nobody knows what the caller is kept to: {error}", ECode.INVAL) from None


async def _check_instances(op: OpCode, config: IConfig, scopes: Scopes) -> None:
    names = instances_of(encode(op))
    if not names and op.op_id() not in WITHOUT_INSTANCE:
        raise OpPrereqError(f"whoever has scopes may not submit {op.op_id()} without naming instances", ECode.INVAL)
    for name in names:
        try:
            view = await config.instance_view((await config.instance(name)).uuid)
        except OpPrereqError:  # whose text may have names of others
            view = None
        if view is None or view.instance.name != name or not scopes.hold(view.instance.tags, view.group.name):
            raise OpPrereqError(
                f"instance {name} is not, or not any more, within the scopes of whoever asked for this",
                ECode.STATE,
            )


async def _check_nodes(op: OpCode, config: IConfig, scopes: Scopes) -> None:
    for _parameter, named in nodes_of(op):
        try:
            node = await config.node(str(named))
            group = await config.group(node.group)
        except OpPrereqError:
            node = None
        if node is None or node.name != named or group.name not in scopes.groups:
            raise OpPrereqError(
                f"node {named} is not, or not any more, within the scopes of whoever asked for this",
                ECode.STATE,
            )


async def _check_new_names(names: Sequence[str], config: IConfig, kept_to: Sequence[Scopes]) -> None:
    """As they are in full: whoever looks after a name in DNS says which other name it stands for."""
    if not names:
        return
    nodes, cluster = await config.nodes(), await config.cluster()
    for name in hosts_called(names, [cluster.cluster_name, *(node.name for node in nodes)]):
        raise OpPrereqError(host_refusal(name), ECode.EXISTS)
    held = await config.instance_names()
    for name in names:
        for meant in meant_by(name, held):
            await _check_own(name, meant, config, kept_to)


async def _check_own(name: str, meant: str, config: IConfig, kept_to: Sequence[Scopes]) -> None:
    """Whoever typed the short name until now meant another's instance, and would get this one from then on, or neither."""
    view = await config.instance_view(meant)
    if not all(scopes.hold(view.instance.tags, view.group.name) for scopes in kept_to):
        raise OpPrereqError(
            f"another instance is called '{name.split('.')[0]}' for short, as '{name}' would be; an instance needs a name of its"
            " own",
            ECode.EXISTS,
        )
