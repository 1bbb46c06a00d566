"""Every method of the clients: the names are those of Ganeti's own client library, in lower case."""

from ganeti_tx.rapi_client.actions import (
    cluster,
    filters,
    groups,
    instance_disks,
    instance_state,
    instances,
    job_end,
    jobs,
    networks,
    nodes,
    queries,
    tags,
)
from ganeti_tx.rapi_client.call import Call


class Calls:
    """What can be asked for; who inherits is `Blocking` or `Waiting` besides."""

    get_version = Call(cluster.get_version)
    get_features = Call(cluster.get_features)
    get_info = Call(cluster.get_info)
    get_operating_systems = Call(cluster.get_operating_systems)
    modify_cluster = Call(cluster.modify_cluster)
    redistribute_config = Call(cluster.redistribute_config)
    get_metrics = Call(cluster.get_metrics)
    get_openapi = Call(cluster.get_openapi)

    get_instances = Call(instances.get_instances)
    get_instances_bulk = Call(instances.get_instances_bulk)
    get_instance = Call(instances.get_instance)
    get_instance_info = Call(instances.get_instance_info)
    get_instance_console = Call(instances.get_instance_console)
    instance_allocation = staticmethod(instances.instance_allocation)
    create_instance = Call(instances.create_instance)
    instances_multi_alloc = Call(instances.instances_multi_alloc)
    modify_instance = Call(instances.modify_instance)
    rename_instance = Call(instances.rename_instance)
    reinstall_instance = Call(instances.reinstall_instance)
    delete_instance = Call(instances.delete_instance)

    startup_instance = Call(instance_state.startup_instance)
    shutdown_instance = Call(instance_state.shutdown_instance)
    reboot_instance = Call(instance_state.reboot_instance)
    migrate_instance = Call(instance_state.migrate_instance)
    failover_instance = Call(instance_state.failover_instance)
    prepare_export = Call(instance_state.prepare_export)
    export_instance = Call(instance_state.export_instance)

    activate_instance_disks = Call(instance_disks.activate_instance_disks)
    deactivate_instance_disks = Call(instance_disks.deactivate_instance_disks)
    recreate_instance_disks = Call(instance_disks.recreate_instance_disks)
    grow_instance_disk = Call(instance_disks.grow_instance_disk)
    replace_instance_disks = Call(instance_disks.replace_instance_disks)

    get_nodes = Call(nodes.get_nodes)
    get_nodes_bulk = Call(nodes.get_nodes_bulk)
    get_node = Call(nodes.get_node)
    get_node_role = Call(nodes.get_node_role)
    set_node_role = Call(nodes.set_node_role)
    modify_node = Call(nodes.modify_node)
    migrate_node = Call(nodes.migrate_node)
    evacuate_node = Call(nodes.evacuate_node)
    powercycle_node = Call(nodes.powercycle_node)
    get_node_storage_units = Call(nodes.get_node_storage_units)
    modify_node_storage_units = Call(nodes.modify_node_storage_units)
    repair_node_storage_units = Call(nodes.repair_node_storage_units)

    get_groups = Call(groups.get_groups)
    get_groups_bulk = Call(groups.get_groups_bulk)
    get_group = Call(groups.get_group)
    create_group = Call(groups.create_group)
    modify_group = Call(groups.modify_group)
    rename_group = Call(groups.rename_group)
    assign_group_nodes = Call(groups.assign_group_nodes)
    delete_group = Call(groups.delete_group)

    get_networks = Call(networks.get_networks)
    get_networks_bulk = Call(networks.get_networks_bulk)
    get_network = Call(networks.get_network)
    create_network = Call(networks.create_network)
    modify_network = Call(networks.modify_network)
    rename_network = Call(networks.rename_network)
    connect_network = Call(networks.connect_network)
    disconnect_network = Call(networks.disconnect_network)
    delete_network = Call(networks.delete_network)

    get_cluster_tags = Call(tags.get_cluster_tags)
    add_cluster_tags = Call(tags.add_cluster_tags)
    delete_cluster_tags = Call(tags.delete_cluster_tags)
    get_instance_tags = Call(tags.get_instance_tags)
    add_instance_tags = Call(tags.add_instance_tags)
    delete_instance_tags = Call(tags.delete_instance_tags)
    get_node_tags = Call(tags.get_node_tags)
    add_node_tags = Call(tags.add_node_tags)
    delete_node_tags = Call(tags.delete_node_tags)
    get_group_tags = Call(tags.get_group_tags)
    add_group_tags = Call(tags.add_group_tags)
    delete_group_tags = Call(tags.delete_group_tags)
    get_network_tags = Call(tags.get_network_tags)
    add_network_tags = Call(tags.add_network_tags)
    delete_network_tags = Call(tags.delete_network_tags)

    get_jobs = Call(jobs.get_jobs)
    get_jobs_bulk = Call(jobs.get_jobs_bulk)
    get_job_status = Call(jobs.get_job_status)
    wait_for_job_change = Call(jobs.wait_for_job_change)
    cancel_job = Call(jobs.cancel_job)

    wait_for_job = Call(job_end.wait_for_job)
    wait_for_job_completion = Call(job_end.wait_for_job_completion)

    get_filters = Call(filters.get_filters)
    get_filters_bulk = Call(filters.get_filters_bulk)
    get_filter = Call(filters.get_filter)
    add_filter = Call(filters.add_filter)
    replace_filter = Call(filters.replace_filter)
    delete_filter = Call(filters.delete_filter)

    query = Call(queries.query)
    query_fields = Call(queries.query_fields)
