"""Exercises, and how their answers are judged."""
