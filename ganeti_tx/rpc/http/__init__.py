"""HTTP/1.1 as node calls need it: one POST after the other on connections that are kept."""
