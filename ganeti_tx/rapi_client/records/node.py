"""Nodes."""

from msgspec import field

from ganeti_tx.rapi_client.records.base import Entity, Parameters


class Node(Entity, frozen=True, kw_only=True):
    """A node; sizes are in mebibytes, and what it must tell itself is None when it does not answer."""

    #: M (master), C (candidate), R (regular), D (drained), O (offline)
    role: str
    offline: bool
    drained: bool
    master_candidate: bool
    master_capable: bool = True
    vm_capable: bool = True
    #: Primary and secondary address.
    pip: str
    sip: str
    group_uuid: str = field(name="group.uuid")
    pinst_cnt: int
    sinst_cnt: int
    pinst_list: tuple[str, ...] = ()
    sinst_list: tuple[str, ...] = ()
    ndparams: Parameters = {}
    mtotal: int | None = None
    mnode: int | None = None
    mfree: int | None = None
    dtotal: int | None = None
    dfree: int | None = None
    sptotal: int | None = None
    spfree: int | None = None
    ctotal: int | None = None
    cnos: int | None = None
    cnodes: int | None = None
    csockets: int | None = None
