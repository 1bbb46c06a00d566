Jobs answer queries about the cluster, operating systems and providers of external storage (OP_QUERY, OP_QUERY_FIELDS), with the
filter language of all queries; OP_CLUSTER_CONFIG_QUERY tells of the queue's drain flag and the watcher's pause, too.
