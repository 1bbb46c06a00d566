"""The one table of what a job may read and change of the cluster configuration. There is one writer behind it.

Each operation is the function that does it and its name on the wire; the client's method, the server's dispatch and the
types are derived from there, and what kind of operation it is says the rest (`operation_kinds.py`).
"""

from ganeti_tx.config import (
    changes_certificates,
    changes_cluster,
    changes_devices,
    changes_group,
    changes_instance,
    changes_merge,
    changes_network,
    changes_node,
    changes_place,
    changes_tags,
)
from ganeti_tx.config.call import Repeat
from ganeti_tx.config.distribution import Distribution
from ganeti_tx.config.operation import Effect, Operations
from ganeti_tx.config.operation import Operation as Operation
from ganeti_tx.config.operation_kinds import changing, distributing, reading, reserving
from ganeti_tx.config.reader import Reader
from ganeti_tx.config.reserving import Reserving


class IConfig(Operations):
    """All of it, for one owner. Each answer is of one consistent state, that on disk.

    An identifier is a name, a unique short name or a uuid (design-2.1). A change is checked, counted in the serial numbers
    and on disk before it is answered.

    @raise OpPrereqError: unknown_entity, with the identifier in the text.
    """

    cluster = reading("GetCluster", Reader.cluster)
    node = reading("GetNode", Reader.node)
    nodes = reading("GetNodes", Reader.nodes)
    group = reading("GetGroup", Reader.group)
    groups = reading("GetGroups", Reader.groups)
    instance = reading("GetInstance", Reader.instance)
    instances = reading("GetInstances", Reader.instances)
    instance_names = reading("GetInstanceList", Reader.instance_names)
    instance_view = reading("GetInstanceView", Reader.instance_view)
    instance_views = reading("GetInstanceViews", Reader.instance_views)
    everything = reading("GetEverything", Reader.everything)
    instances_of_node = reading("GetNodeInstances", Reader.instances_of_node)
    disks = reading("GetInstanceDisks", Reader.disks)
    forthcoming_disks = reading("GetForthcomingDisks", Reader.forthcoming_disks)
    detached_disks = reading("GetDetachedDisks", Reader.detached_disks)
    network = reading("GetNetwork", Reader.network)
    networks = reading("GetNetworks", Reader.networks)
    filters = reading("GetFilters", Reader.filters)
    tags = reading("GetTags", Reader.tags)
    ssh_setup = reading("GetSshSetup", Reader.ssh_setup)
    verify = reading("VerifyConfig", Reader.verify)

    add_instance = changing("AddInstance", changes_instance.add_instance)
    replace_instance = changing("ReplaceInstance", changes_instance.replace_instance)
    update_instance = changing("UpdateInstance", changes_instance.update_instance)
    change_instance = changing("ChangeInstance", changes_devices.change_instance)
    restore_instance = changing("RestoreInstance", changes_devices.restore_instance, repeat=Repeat.SAFE)
    set_instance_state = changing("SetInstanceState", changes_instance.set_instance_state, repeat=Repeat.SAFE)
    rename_instance = changing("RenameInstance", changes_instance.rename_instance, repeat=Repeat.SAFE)
    remove_instance = changing("RemoveInstance", changes_instance.remove_instance)
    update_disk = changing("UpdateDisk", changes_instance.update_disk)
    add_disk = changing("AddInstanceDisk", changes_instance.add_disk)
    move_instance = changing("MoveInstance", changes_place.move_instance, repeat=Repeat.SAFE)
    place_instance = changing("PlaceInstance", changes_place.place_instance, repeat=Repeat.SAFE)
    remove_disk = changing("RemoveInstanceDisk", changes_instance.remove_disk)

    add_node = changing("AddNode", changes_node.add_node)
    update_node = changing("UpdateNode", changes_node.update_node)
    change_nodes = changing("ChangeNodes", changes_node.change_nodes)
    remove_node = changing("RemoveNode", changes_node.remove_node)
    expect_certificates = changing("ExpectCertificates", changes_certificates.expect_certificates, repeat=Repeat.SAFE)
    settle_certificates = changing("SettleCertificates", changes_certificates.settle_certificates, repeat=Repeat.SAFE)
    expect_root_keys = changing("ExpectRootKeys", changes_certificates.expect_root_keys, repeat=Repeat.SAFE)
    settle_root_keys = changing("SettleRootKeys", changes_certificates.settle_root_keys, repeat=Repeat.SAFE)
    add_group = changing("AddNodeGroup", changes_group.add_group)
    update_group = changing("UpdateNodeGroup", changes_group.update_group)
    remove_group = changing("RemoveNodeGroup", changes_group.remove_group)
    add_network = changing("AddNetwork", changes_network.add_network)
    update_network = changing("UpdateNetwork", changes_network.update_network)
    remove_network = changing("RemoveNetwork", changes_network.remove_network)
    connect_network = changing("ConnectNetwork", changes_network.connect_network)
    disconnect_network = changing("DisconnectNetwork", changes_network.disconnect_network)

    update_cluster = changing("UpdateCluster", changes_cluster.update_cluster)
    rename_cluster = changing("RenameCluster", changes_cluster.rename_cluster, repeat=Repeat.SAFE)
    put_filter = changing("PutFilter", changes_cluster.put_filter, repeat=Repeat.SAFE)
    remove_filter = changing("RemoveFilter", changes_cluster.remove_filter)
    join_cluster = changing("JoinCluster", changes_merge.join_cluster)
    part_clusters = changing("PartClusters", changes_merge.part_clusters, repeat=Repeat.SAFE)
    change_tags = changing("ChangeTags", changes_tags.change_tags)

    generate_mac = reserving("GenerateMAC", Reserving.generate_mac)
    reserve_mac = reserving("ReserveMAC", Reserving.reserve_mac)
    reserve_storage = reserving("ReserveStorage", Reserving.reserve_storage)
    generate_uuid = reserving("GenerateUniqueID", Reserving.generate_uuid)
    allocate_port = reserving("AllocatePort", Reserving.allocate_port)
    generate_ip = reserving("GenerateIp", Reserving.generate_ip)
    reserve_ip = reserving("ReserveIp", Reserving.reserve_ip)
    allocate_minors = reserving("AllocateDRBDMinor", Reserving.allocate_minors)
    generate_secret = reserving("GenerateDRBDSecret", Reserving.generate_secret)
    take_over_reservations = reserving("TakeOverReservations", Reserving.take_over_reservations)
    drop_reservations = reserving("DropAllReservations", Reserving.drop_reservations, effect=Effect.GIVEN_BACK)

    redistribute = distributing("RedistributeConfig", Distribution.redistribute, effect=Effect.CHANGED)
    when_distributed = distributing("FlushConfig", Distribution.when_distributed, waits=True)
    undistributed = distributing("ListUndistributed", Distribution.undistributed)
