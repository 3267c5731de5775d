"""Words: short names, units, the glossary."""
