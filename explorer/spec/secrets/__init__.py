"""Find secrets in text, and hide them."""
