"""Answers that combine several queries about an opened table: overview, health, doctor, maintenance."""
