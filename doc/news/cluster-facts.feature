"gnt-cluster command" and "copyfile" run a shell command on all nodes and bring a file to them, "search-tags" finds tags of the whole
cluster, "show-ispecs-cmd" shows the command that sets the same bounds for instances. A copied file is whole on a node or not there at all, and
"copyfile" fails when a node does not have it.
"gnt-cluster export-config" prints the configuration with every secret blank, on any master candidate.
