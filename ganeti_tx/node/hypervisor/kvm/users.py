"""Whom QEMU becomes when it runs (the parameters `security_model` and `security_domain`)."""

from collections.abc import Iterator
from contextlib import contextmanager

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool


@contextmanager
def user_of(uids: UidPool, params: KvmParams) -> Iterator[str]:
    """Nobody else, a named user, or an id of the pool, which is kept from others meanwhile."""
    if params.security_model == "pool":
        with uids.lent() as uid:
            yield f"{uid}:{uid}"
    else:
        yield params.security_domain if params.security_model == "user" else ""
