"""Instances: which there are, making, changing and removing them."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ganeti_tx.rapi_client.actions.listing import names
from ganeti_tx.rapi_client.records.instance import Instance, InstanceConsole
from ganeti_tx.rapi_client.request import JobId, Request, get, given, path, submit

#: Disks and NICs as opcodes take them, such as {"size": 1024} and {"link": "br0"}.
Devices: TypeAlias = Sequence[Mapping[str, Any]]


def get_instances() -> Request[list[str]]:
    """The instances' names."""
    return names("/2/instances", "id")


def get_instances_bulk() -> Request[list[Instance]]:
    """All instances in full."""
    return get("/2/instances", list[Instance], {"bulk": True})


def get_instance(instance: str) -> Request[Instance]:
    """One instance."""
    return get(path("/2/instances/{}", instance), Instance)


def get_instance_info(instance: str, *, static: bool = False, reason: str | None = None) -> Request[JobId]:
    """Submit a job whose result is everything about an instance; `static` asks no node."""
    return submit("GET", path("/2/instances/{}/info", instance), {"static": static, "reason": reason})


def get_instance_console(instance: str) -> Request[InstanceConsole]:
    """How to reach the console. @raise RapiError: 503 when the instance does not run"""
    return get(path("/2/instances/{}/console", instance), InstanceConsole)


def instance_allocation(
    mode: str, name: str, disk_template: str, disks: Devices, nics: Devices, **parameters: Any
) -> dict[str, Any]:
    """One instance for `instances_multi_alloc`; it asks the server for nothing."""
    devices = {"disk_template": disk_template, "disks": list(disks), "nics": list(nics)}
    return {"__version__": 1, "mode": mode, "name": name, **devices, **parameters}


def create_instance(
    mode: str,
    name: str,
    disk_template: str,
    disks: Devices,
    nics: Devices,
    *,
    dry_run: bool = False,
    reason: str | None = None,
    **parameters: Any,
) -> Request[JobId]:
    """Make an instance: the parameters of OP_INSTANCE_CREATE; `mode` is "create" or "import"."""
    body = instance_allocation(mode, name, disk_template, disks, nics, **parameters)
    return submit("POST", "/2/instances", {"dry-run": dry_run, "reason": reason}, body)


def instances_multi_alloc(
    instances: Sequence[Mapping[str, Any]], *, dry_run: bool = False, reason: str | None = None, **parameters: Any
) -> Request[JobId]:
    """Make several instances, each from `instance_allocation`."""
    body = {"instances": list(instances), **parameters}
    return submit("POST", "/2/instances-multi-alloc", {"dry-run": dry_run, "reason": reason}, body)


def modify_instance(instance: str, *, reason: str | None = None, **parameters: Any) -> Request[JobId]:
    """Change an instance: the parameters of OP_INSTANCE_SET_PARAMS."""
    return submit("PUT", path("/2/instances/{}/modify", instance), {"reason": reason}, parameters)


def rename_instance(
    instance: str,
    new_name: str,
    *,
    ip_check: bool | None = None,
    name_check: bool | None = None,
    reason: str | None = None,
) -> Request[JobId]:
    """Give a stopped instance another name."""
    body = given(new_name=new_name, ip_check=ip_check, name_check=name_check)
    return submit("PUT", path("/2/instances/{}/rename", instance), {"reason": reason}, body)


def reinstall_instance(
    instance: str,
    *,
    os: str | None = None,
    no_startup: bool = False,
    osparams: Mapping[str, Any] | None = None,
    reason: str | None = None,
) -> Request[JobId]:
    """Stop an instance, install its operating system anew or another one, and start it unless `no_startup`."""
    body = given(os=os, start=not no_startup, osparams=osparams)
    return submit("POST", path("/2/instances/{}/reinstall", instance), {"reason": reason}, body)


def delete_instance(
    instance: str, *, dry_run: bool = False, reason: str | None = None, **parameters: Any
) -> Request[JobId]:
    """Remove an instance with its disks: the parameters of OP_INSTANCE_REMOVE."""
    query = {"dry-run": dry_run, "reason": reason}
    return submit("DELETE", path("/2/instances/{}", instance), query, parameters)
