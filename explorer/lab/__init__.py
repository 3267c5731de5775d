"""The commit lab: real staged Iceberg commits, step by step, in every order, on small tables in a catalog of its
own."""
