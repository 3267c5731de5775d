"""Changes to objects of other libraries, of which there are at most two (ADR 37). Each module is one, and says of which
library in which versions, why, and what upstream says."""
