Queries wait for a node about as long as the others took, so that one that is down or hangs no longer holds up lists; what it did not tell is "?".
