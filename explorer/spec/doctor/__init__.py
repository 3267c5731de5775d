"""What contradicts the spec or itself in a table: rules, and what they found."""
