"""What may be asked in a query, and how it is answered in pieces: fields, cells, filters, patterns."""
