``ganeti-setup`` puts a manual page for every program in place, made from what the program itself declares: ``man gnt-instance``.
