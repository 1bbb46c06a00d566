``gnt-instance batch-create`` makes the instances that a file describes, each by a job of its own (``OP_INSTANCE_MULTI_ALLOC``); an allocator chooses the
nodes of all of them together, unless they are given. Secret OS parameters of these instances are kept in memory only, like those of single ones.
