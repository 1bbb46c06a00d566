Node groups can be added, changed, renamed and removed, and nodes moved between them, by jobs and the Remote API. A move that would put
an instance into two groups is refused with the list of such instances, unless it is forced.
