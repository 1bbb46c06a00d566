Who may do what on the Remote API: besides Ganeti's users file, `rapi/users`, with bcrypt passwords, there are roles (`@admin`,
`@readonly`, and those of `rapi/roles`), permissions by resource and method, scopes that keep somebody to the instances with a
tag or in a node group, API tokens with an end, and users of an LDAP directory (`rapi/ldap`). Failed logins are throttled.
`ganeti-rapi-access` makes users and tokens. doc/design/rapi-access.rst tells how the files are written.
