``default_iallocator`` may name several instance allocators, separated by commas, which are tried in order until one finds nodes; each kind of request may have a list of its own
(``hail,spread/relocate:near``), and each program parameters of its own (``near:level=3`` in ``default_iallocator_params``).
