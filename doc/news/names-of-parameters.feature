Parameters of instances can be listed and filtered by as "hvparam/NAME" and "beparam/NAME", too.
