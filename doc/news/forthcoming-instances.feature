``gnt-instance add --forthcoming`` reserves an instance (its name, addresses, disks and place) without anything of it on a node, and
``gnt-instance add --commit`` makes it, by what is said then and, for the rest, as it was reserved. Until then it can only be removed; allocators are told that it is reserved.
