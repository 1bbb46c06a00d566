gnt-node modify changes a node's role (master candidate, drained, offline), capabilities, power state, parameters and
secondary address. The pool of master candidates keeps its size by itself: whenever a candidate leaves it or the pool
grows, other nodes are promoted in the same job. gnt-cluster modify changes the cluster's settings; gnt-cluster redist-conf
sends configuration and key files to all nodes again. A candidate that was away gets the newest configuration and job queue
when it is back, and nothing that a former master or a late message brings replaces anything newer.
