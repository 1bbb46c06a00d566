"gnt-cluster redist-conf" also sends the files that "/etc/ganeti/distributed-files" lists, the list itself, and the password files that
parameters of hypervisors name; a node that joins, or becomes a master candidate, gets them, too.
