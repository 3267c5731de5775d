"""Values: their order, their transforms, and how they are stored."""
