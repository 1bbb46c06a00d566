"""The query language: fields, filters and the collection of what they need."""
