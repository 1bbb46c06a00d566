Node calls take the master less than half the time, so that lists that ask all nodes are faster; an answer whose end is not clear is refused.
