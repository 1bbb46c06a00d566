The daemons bound what clients can make them hold: all requests and answers of the LUXI and WConfD sockets together, the nesting,
numbers and values of a request, the time a request takes to come. A request that is too much is refused in one line. A
thousand idle connections keep nobody out: those that rest are evicted. One process that keeps a daemon busy waits for others.
Node daemons give callers without a valid certificate little time and few places.
