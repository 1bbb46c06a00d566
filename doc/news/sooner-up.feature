Daemons no longer look for garbage among the modules that they import, again and again while they come up and now and then later.
