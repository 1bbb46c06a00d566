Instance allocators written for the first allocator protocol run, too: a file ``NAME.ganeti_api_version`` beside the program that names 1 asks for it.
``ganeti-setup --iallocator-search-path`` sets where allocators are looked for.
