"""What is wrong with the instances, disks and networks of a configuration."""

from collections.abc import Iterator

from ganeti_tx.config.faults import MAC, refused, tag_faults, tracked_faults
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk, logical_id_fault
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.ip_family import is_address
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.params.backend import instance_beparams
from ganeti_tx.model.params.hypervisor import check_hvparams, instance_hvparams, typed_hvparams
from ganeti_tx.model.params.nic import fill_nicparams, typed_nicparams
from ganeti_tx.model.settings.checks import MAC_PREFIX

REPLACE_DISKS = "run 'gnt-instance replace-disks' or remove the instance"


def instance_faults(config: ConfigData, key: str) -> list[str]:
    """What is wrong with one instance and its disks; nothing if it is not there."""
    instance = config.instances.get(key)
    return [] if instance is None else list(faults_of_instance(config, key, instance))


def faults_of_instance(config: ConfigData, key: str, instance: Instance) -> Iterator[str]:
    """What is wrong with an instance."""
    what = f"instance {instance.name or key}"
    yield from tag_faults(what, instance.tags)
    if instance.forthcoming:
        return
    yield from tracked_faults(what, key, instance, instance.uuid)
    if not instance.name:
        yield f"{what}: has no name; set one with 'gnt-instance rename'"
    if instance.primary_node not in config.nodes:
        yield (
            f"{what}: its primary node {instance.primary_node} is not in the configuration; fail it over, or remove it"
        )
    yield from placement_faults(config, instance, what)
    yield from instance_parameter_faults(config, instance, what)
    for nic in instance.nics:
        yield from nic_faults(config, nic, what)


def placement_faults(config: ConfigData, instance: Instance, what: str) -> Iterator[str]:
    """Disks that are not there, or not where the instance runs."""
    if len(set(instance.disks)) != len(instance.disks):
        yield f"{what}: lists a disk twice; detach it once with 'gnt-instance modify --disk'"
    for uuid in instance.disks:
        disk = config.disks.get(uuid)
        if disk is None:
            yield f"{what}: its disk {uuid} is not in the configuration; {REPLACE_DISKS}"
        elif disk.nodes and instance.primary_node not in disk.nodes:
            yield f"{what}: its disk {uuid} is not on its primary node; {REPLACE_DISKS}"


def instance_parameter_faults(config: ConfigData, instance: Instance, what: str) -> Iterator[str]:
    """Parameters that do not fit, or a hypervisor that is not enabled."""
    modify = f"correct it with 'gnt-instance modify {instance.name}'"
    if instance.hypervisor not in config.cluster.enabled_hypervisors:
        enabled = ", ".join(config.cluster.enabled_hypervisors)
        yield f"{what}: hypervisor {instance.hypervisor.value} is not enabled (enabled: {enabled}); {modify}"
    yield from refused(what, modify, lambda: instance_beparams(config.cluster, instance))
    yield from refused(what, modify, lambda: check_hvparams(instance.hypervisor, instance.hvparams))
    yield from refused(
        what, modify, lambda: typed_hvparams(instance.hypervisor, instance_hvparams(config.cluster, instance))
    )


def nic_faults(config: ConfigData, nic: Nic, what: str) -> Iterator[str]:
    """What is wrong with a network interface."""
    modify = "correct it with 'gnt-instance modify --net'"
    if not MAC.match(nic.mac):
        yield f"{what}: {nic.mac!r} is no MAC address; {modify}"
    if nic.ip is not None and not is_address(nic.ip):
        yield f"{what}: {nic.ip!r} is no IP address; {modify}"
    elif nic.network is not None:
        network = config.networks.get(nic.network)
        if network is None:
            yield f"{what}: network {nic.network} of a NIC is not in the configuration; {modify}"
        elif nic.ip is not None:
            yield from refused(what, modify, lambda: AddressPool(network).check_taken(str(nic.ip)))
    else:
        yield from refused(what, modify, lambda: typed_nicparams(fill_nicparams(config.cluster, nic.nicparams)))


def disk_faults(config: ConfigData, key: str) -> list[str]:
    """What is wrong with one disk; nothing if it is not there."""
    disk = config.disks.get(key)
    return [] if disk is None or disk.forthcoming else list(faults_of_disk(config, key, disk))


def faults_of_disk(config: ConfigData, key: str, disk: Disk) -> Iterator[str]:
    """What is wrong with a disk."""
    what = f"disk {disk.name or key}"
    yield from tracked_faults(what, key, disk, disk.uuid)
    if disk.size < 0:
        yield f"{what}: size {disk.size} MiB is negative; correct it with 'gnt-cluster repair-disk-sizes'"
    fault = logical_id_fault(disk.dev_type, disk.logical_id)
    if fault is not None:
        yield f"{what}: {fault}; {REPLACE_DISKS}"
        return
    for node in dict.fromkeys((*disk.nodes, *disk.mirrors)):
        if node not in config.nodes:
            yield f"{what}: its node {node} is not in the configuration; {REPLACE_DISKS}"


def network_faults(config: ConfigData, key: str) -> list[str]:
    """What is wrong with one network; nothing if it is not there."""
    network = config.networks.get(key)
    return [] if network is None else list(faults_of_network(key, network))


def faults_of_network(key: str, network: Network) -> Iterator[str]:
    """What is wrong with a network."""
    what, modify = f"network {network.name}", f"correct it with 'gnt-network modify {network.name}'"
    yield from tracked_faults(what, key, network, network.uuid)
    yield from tag_faults(what, network.tags)
    if network.mac_prefix is not None and not MAC_PREFIX.fullmatch(network.mac_prefix):
        yield f"{what}: MAC prefix {network.mac_prefix!r} is not of the form aa:bb:cc; {modify}"
    yield from refused(what, modify, lambda: AddressPool(network).check())
