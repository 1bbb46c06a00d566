bash, zsh and fish complete the ``gnt-*`` commands and all other programs: subcommands, options, their values (templates, hypervisors, fields,
names of parameters, priorities), and names of instances, nodes, groups, networks, operating systems, jobs, filters and tags of the
cluster. ``ganeti-setup`` puts it in place.
