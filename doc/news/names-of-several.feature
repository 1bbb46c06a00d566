Where one of several jobs fails because a name is not there, as in ``gnt-instance startup web1 wbe2``, the nearest name is told, too.
