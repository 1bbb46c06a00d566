"""Node groups."""

from ganeti_tx.rapi_client.records.base import Entity, Parameters


class Group(Entity, frozen=True, kw_only=True):
    """A group of nodes; what is "custom" was set on it, the rest comes from the cluster."""

    alloc_policy: str
    node_cnt: int
    node_list: tuple[str, ...]
    ipolicy: Parameters = {}
    custom_ipolicy: Parameters = {}
    diskparams: Parameters = {}
    custom_diskparams: Parameters = {}
    ndparams: Parameters = {}
    custom_ndparams: Parameters = {}
