"""Hypervisor parameters: how the layers fill up, and how given ones are checked."""

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.base import Params, Wire
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import CLUSTER_ONLY, HYPERVISORS
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.own_ports import not_for_migrations
from ganeti_tx.model.params.defaults import GuestDefaults
from ganeti_tx.model.params.kinds import DEFAULT, check, fill, refuse_global, typed
from ganeti_tx.model.params.os import os_layers


def fill_hvparams(cluster: GuestDefaults, hypervisor: Hypervisor, os: str = "", own: Params | None = None) -> Params:
    """All parameters: built-in, then the cluster's, then those of the OS (and its variant), then an instance's own."""
    os_params = (layer.get(hypervisor, {}) for layer in os_layers(cluster.os_hvp, os))
    local = [without_global(layer) for layer in (*os_params, own or {})]
    return fill(HYPERVISORS[hypervisor].params, cluster.hvparams.get(hypervisor, {}), *local)


def instance_hvparams(cluster: Cluster, instance: Instance) -> Params:
    """All hypervisor parameters of an instance."""
    return fill_hvparams(cluster, instance.hypervisor, instance.os, instance.hvparams)


def typed_hvparams(hypervisor: Hypervisor, params: Params) -> Wire:
    """Filled parameters as the struct of their hypervisor. @raise ParameterError: they do not fit it."""
    return typed(HYPERVISORS[hypervisor].params, params, f"hvparams.{hypervisor.value}")


def without_global(params: Params) -> Params:
    """Parameters without those that only the cluster sets."""
    return {name: value for name, value in params.items() if name not in CLUSTER_ONLY}


def check_hvparams(hypervisor: Hypervisor, given: Params, *, for_cluster: bool = False) -> dict[str, object]:
    """Given parameters in their types.

    @raise ParameterError: unknown, or settable for the cluster only. @raise TypeEnforcementError: of another type.
    """
    path = f"hvparams.{hypervisor.value}" if for_cluster else "hvparams"
    if not for_cluster:
        refuse_global(given, CLUSTER_ONLY, path)
    return check(HYPERVISORS[hypervisor].params, given, path)


def new_hvparams(hypervisor: Hypervisor, given: Params, *, for_cluster: bool = False) -> dict[str, object]:
    """Given parameters in their types, as `check_hvparams` has them, that somebody is to have from now on.

    A configuration from elsewhere may have others, which are seen where a node checks them.
    @raise ParameterError: as there, or a value cannot be, whatever else is set; all of those are told.
    """
    checked = check_hvparams(hypervisor, given, for_cluster=for_cluster)
    values = {name: value for name, value in checked.items() if value != DEFAULT}
    if wrong := [*HYPERVISORS[hypervisor].wrong_values(values), *not_for_migrations(values)]:
        path = f"hvparams.{hypervisor.value}" if for_cluster else "hvparams"
        raise ParameterError("; ".join(f"{path}.{fault}" for fault in wrong))
    return checked
