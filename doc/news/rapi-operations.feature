The Remote API has all resources and methods of version 2: programs written for Ganeti 3.0, such as Debian's
``python3-ganeti-rapi`` and ``gnt-monitoring``, work unchanged. A body is checked before the job is submitted, and a refusal
names the key at fault, such as ``disks[0].size: expected int | str, got null``. ``GET /2/info``, nodes and node groups give
back everything that can be set, so that what was read can be sent to ``modify``.
