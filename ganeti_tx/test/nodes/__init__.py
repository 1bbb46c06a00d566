"""Nodes with systemd as PID 1, an sshd and addresses of their own, in namespaces of this machine: up in seconds, by root.

By hand: `python -m ganeti_tx.test.nodes up STATE`, and the rest that it shows without arguments.

A node sees this machine's file system read-only, with its own /root, /tmp, /run and /dev and its own overlays over `COVERED`.
What the nodes need of Debian is installed into such an overlay, too, made once and kept below `layers.cache_directory()`.
Nothing leads out of the nodes' network. Nothing in a node can set the clock, which is the machine's own: all of it, commands
by `run` too, is without CAP_SYS_TIME. The processes of a set of nodes are in one control group: its end is the end of them.
"""
