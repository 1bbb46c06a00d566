A mistyped name of an instance, node, group, network or operating system, a mistyped command, option, field, parameter, template or other choice is
answered with the one that is nearest ("Did you mean web1.dev.example?"). The lines of the errors themselves stay as they are.
