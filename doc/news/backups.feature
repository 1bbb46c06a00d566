"gnt-backup export" writes the disks of an instance, by the export script of its OS, and its description to a node, and "gnt-backup import"
makes an instance of it, as Ganeti does and in its form, with the checksum of each disk besides. A running instance is down only until there
are snapshots of its disks, where their template can have them. "gnt-backup remove" removes the exports of an instance from all nodes.
