ganeti-mond runs on every node and tells over HTTP, port 1815, how the node fares, in the URLs and reports of Ganeti's monitoring
daemon: disk statistics, CPU loads, logical volumes, DRBD, Xen instances; and, which is new, KVM instances ("inst-status-kvm").
It goes on when the master is gone. /metrics tells Prometheus of the node's memory, processors, storage and instances. Collectors are
switched with gnt-cluster modify --enabled-data-collectors and --data-collector-interval.
