"""What the Remote API answers, typed (Ganeti 3.0 RAPI table, field_sets). Fields that a server adds are left out."""

from ganeti_tx.rapi_client.records.cluster import ClusterInfo
from ganeti_tx.rapi_client.records.group import Group
from ganeti_tx.rapi_client.records.instance import Instance, InstanceConsole
from ganeti_tx.rapi_client.records.job import Job, JobChange
from ganeti_tx.rapi_client.records.network import Network
from ganeti_tx.rapi_client.records.node import Node
from ganeti_tx.rapi_client.records.query import FieldDefinition, FieldDefinitions, FilterRule, QueryResult

__all__ = [
    "ClusterInfo",
    "FieldDefinition",
    "FieldDefinitions",
    "FilterRule",
    "Group",
    "Instance",
    "InstanceConsole",
    "Job",
    "JobChange",
    "Network",
    "Node",
    "QueryResult",
]
