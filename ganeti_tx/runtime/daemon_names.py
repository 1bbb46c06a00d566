"""Which daemons a node runs."""

NODE = "ganeti-noded"
MASTER = "ganeti-master"
#: What ganeti-master is in one process.
MASTER_PARTS = ("ganeti-luxid", "ganeti-wconfd")
RAPI = "ganeti-rapi"
#: Beside the node daemon, on every node; confd keeps silent on those that have no configuration.
ON_ALL_NODES = ("ganeti-confd", "ganeti-mond")
#: Where a node has instances that ask it, started by the node daemon when there are some.
METADATA = "ganeti-metad"
#: Every daemon of the family, in the order in which they are started.
ALL = (NODE, MASTER, *MASTER_PARTS, *ON_ALL_NODES, METADATA, RAPI)
