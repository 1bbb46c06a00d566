The nearest name is told for rules of job filters, tags and instances of which a command selects none, too; the error of a filter names the operators that could stand behind a field.
