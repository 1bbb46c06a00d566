"gnt-os info" and "gnt-os modify" show and set what the cluster knows of operating systems: parameters, which the nodes' definitions
judge, parameters of hypervisors, which ones are hidden and which are not installed any more. "gnt-os diagnose" asks each node group by a
job of its own, or one group: "gnt-os diagnose GROUP". An OS definition may have a file "hypervisors", with one a line; it is installed under
no other ones. A name that is in the list of hidden or black-listed systems already is no error any more, as with Ganeti.
