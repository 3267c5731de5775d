"""What is drawn of a table: its graphs, where their nodes stand, and the words, colours and marks of what they show."""
