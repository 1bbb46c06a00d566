"""`burnin`: makes instances, does to them all that a cluster can do to instances, and removes them. It imports no Twisted."""
