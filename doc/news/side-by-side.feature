`doc/differences.rst` says what differs from Ganeti 3.0 on purpose; `doc/side-by-side.rst` is held by a test that runs every command of Ganeti's that only shows something beside ours.
