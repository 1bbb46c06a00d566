``gnt-node volumes``, ``list-storage``, ``modify-storage`` and ``repair-storage`` (also over RAPI): logical volumes with their
instances; directories, volume groups and physical volumes with their room; physical volumes closed for new disks; volume groups
that do without what they lost.
