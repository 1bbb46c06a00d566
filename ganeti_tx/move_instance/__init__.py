"""`move-instance`: brings instances from one cluster to another, by the Remote APIs of both. It imports no Twisted."""
