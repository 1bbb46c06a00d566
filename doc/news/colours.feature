On a terminal the commands show statuses, errors and warnings in colour; ``NO_COLOR`` and ``--color=never`` turn that off.
