"""How operations are declared, and what their declarations give: checks of bodies, schemas, the description."""
