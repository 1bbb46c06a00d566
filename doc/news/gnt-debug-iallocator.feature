``gnt-debug iallocator`` (OP_TEST_ALLOCATOR) shows what an instance allocator would be told for any kind of request, or what it says to that, without acting on it.
A parameter in ``default_iallocator_params`` that is only named is passed as an option without a value.
