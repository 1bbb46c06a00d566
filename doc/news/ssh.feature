Nodes know each other's SSH host keys (`/var/lib/ganeti/known_hosts`), so that `gnt-instance console` works on all nodes, and the roots of
the master candidates reach all nodes, so that each can be the master. As in Ganeti, `gnt-cluster init --no-ssh-init` and
`gnt-node add --no-node-setup` leave root's keys alone. In a cluster that is there already, `gnt-cluster redist-conf` sets this up.
`gnt-cluster init` refuses lengths that SSH keys of a type cannot have.
