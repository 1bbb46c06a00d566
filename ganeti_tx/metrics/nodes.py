"""What is known of nodes: how they answer calls, and what they said of themselves."""

from ganeti_tx.metrics.metric import Counter, Gauge, Histogram, by_name

CALLS = Histogram(
    "ganeti_node_call_seconds",
    "How long nodes took to answer calls, be it with a failure.",
    ("node", "call"),
    bounds=(0.0025, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 300.0),
)
FAILURES = Counter(
    "ganeti_node_call_failures_total",
    "Calls without a result: unreachable, failed (the node says so) or given up by who asked.",
    ("node", "call", "reason"),
)

NODES = Gauge("ganeti_nodes", "Nodes of the cluster by role.", ("role",))
UP = Gauge("ganeti_node_up", "Whether the node's daemon answers; offline nodes are not asked.", ("node",))
MEMORY = Gauge("ganeti_node_memory_bytes", "Memory of the node.", ("node",))
MEMORY_FREE = Gauge("ganeti_node_memory_free_bytes", "Memory of the node that is free for instances.", ("node",))
DISK = Gauge("ganeti_node_disk_bytes", "Room for disks in the storage of the first enabled template.", ("node",))
DISK_FREE = Gauge("ganeti_node_disk_free_bytes", "What is free of it.", ("node",))
CPUS = Gauge("ganeti_node_cpus", "Processors of the node.", ("node",))
INSTANCES = Gauge(
    "ganeti_node_instances", "Instances by primary node and status (running, ADMIN_down, ERROR_down, ...).",
    ("node", "status"),
)  # fmt: skip
AGE = Gauge("ganeti_node_data_age_seconds", "How long ago the nodes were asked for what is told of them here.")

NODE_METRICS = by_name(globals().values())
