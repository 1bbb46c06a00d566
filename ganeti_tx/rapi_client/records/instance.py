"""Instances."""

from typing import Any

from msgspec import field

from ganeti_tx.rapi_client.records.base import Entity, Parameters, Record


class Instance(Entity, frozen=True, kw_only=True):
    """An instance; sizes are in mebibytes, and what its node must tell is None when the node does not answer."""

    status: str | None
    admin_state: str
    #: Whether it runs.
    oper_state: bool | None
    oper_ram: int | None = None
    oper_vcpus: int | None = None
    os: str
    #: The primary node.
    pnode: str
    #: The secondary nodes.
    snodes: tuple[str, ...]
    disk_template: str
    disk_usage: int | None = None
    disk_sizes: tuple[int, ...] = field(name="disk.sizes")
    disk_names: tuple[str | None, ...] = field(name="disk.names", default=())
    disk_uuids: tuple[str, ...] = field(name="disk.uuids", default=())
    disk_spindles: tuple[int | None, ...] = field(name="disk.spindles", default=())
    nic_ips: tuple[str | None, ...] = field(name="nic.ips")
    nic_macs: tuple[str, ...] = field(name="nic.macs")
    nic_modes: tuple[str, ...] = field(name="nic.modes", default=())
    nic_links: tuple[str | None, ...] = field(name="nic.links", default=())
    nic_names: tuple[str | None, ...] = field(name="nic.names", default=())
    nic_uuids: tuple[str, ...] = field(name="nic.uuids", default=())
    nic_networks: tuple[str | None, ...] = field(name="nic.networks", default=())
    nic_networks_names: tuple[str | None, ...] = field(name="nic.networks.names", default=())
    nic_bridges: tuple[str | None, ...] = field(name="nic.bridges", default=())
    network_port: int | None = None
    beparams: Parameters = {}
    hvparams: Parameters = {}
    custom_beparams: Parameters = {}
    custom_hvparams: Parameters = {}
    custom_nicparams: tuple[Parameters, ...] = ()


class InstanceConsole(Record, frozen=True, kw_only=True):
    """How to reach a console; which fields are set follows from `kind` (ssh, vnc, spice, msg)."""

    instance: str
    kind: str
    message: str | None = None
    host: str | None = None
    port: int | None = None
    user: str | None = None
    command: Any = None
    display: int | None = None
