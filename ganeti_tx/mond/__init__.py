"""The monitoring daemon: what this node's disks, processors, volumes, mirrors and instances do, told over HTTP."""
