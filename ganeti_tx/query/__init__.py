"""The query language: what may be asked of nodes, instances, groups, networks, jobs, locks and job filters."""
