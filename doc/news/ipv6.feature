Clusters with IPv6: ``gnt-cluster init --primary-ip-version 6 -s IPV4`` makes one, whose nodes have IPv6 primary and IPv4 secondary addresses. Names
mean addresses of that family; what has another is refused. The master begins its connections from its own address, tells its neighbours when it takes
the cluster's, and ``gnt-cluster verify`` finds nodes with addresses of the wrong kind. ``ganeti-devcluster up --primary-ip-version 6`` makes
one on a single machine.
