gnt-group: add, assign-nodes, info, list, list-fields, modify, remove, rename, show-ispecs-cmd and the tags of node groups, also as
gnt-node group-add, group-del, group-list, group-rename and modify -g; the same by jobs and the Remote API. A move that would put
an instance into two groups is refused with the list of such instances, unless it is forced. gnt-instance startup, shutdown and reboot
take --node-group.
Neither are nodes moved whose instances would lose their networks, unless it is forced. gnt-group evacuate tells when a group has no instances; moving them is not there yet. An instance is not made on nodes of two groups.
