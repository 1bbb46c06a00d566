``gnt-node power`` says ``powered``, ``unpowered`` and ``invoked``, and ``gnt-node health`` has a line for each part of a node, as Ganeti's commands do;
a node whose out-of-band program has no answer is shown with ``(nodata)`` and told of, in the words of Ganeti's job. What programs get with
``--output-format`` is as it was.
