The Remote API shows the whole cluster to Prometheus at /metrics: jobs by status and how they ended, queue length and age, how
long jobs waited and ran, the processes that run them, locks and how long they are waited for, how fast each node answers each
call and how often it fails, the configuration's writes and its way to the nodes, LUXI requests, memory and lag of the daemons,
and for each node memory, disk, processors and instances by status. Readers need the option "read", or only the permission
metrics:GET. etc/prometheus has a scrape configuration and alert rules to begin with.
