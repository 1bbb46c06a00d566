The master daemons ask the other nodes before they take the master role. At least half of the nodes plus one must follow
this node and must have nothing newer than it; a daemon that loses the vote ends with status 11 and one line that names who
disagrees. Nodes that do not answer yet are asked again for --voting-timeout seconds (45); nodes marked offline are not asked
and not needed. --no-voting --yes-do-it takes the role without asking.

gnt-cluster master-failover, run on a master candidate, makes it the master. It refuses when another node has newer data, and
names that node. It stops the old master if that can be reached, and can be run again whenever it was broken off. Jobs that the
old master had under way fail with "master failed over from NODE while the job ran"; queued jobs run on the new master.

A master that was cut off while another took over is refused by all nodes when it is back, and ends by itself.

The master takes the cluster's address by the script master-ip-setup, or by the administrator's own in
/etc/ganeti/scripts/master-ip-setup, between the hooks master-ip-turnup and master-ip-turndown; gnt-cluster
activate-master-ip and deactivate-master-ip do so by hand. gnt-cluster master-ping tells whether the master daemon answers.
