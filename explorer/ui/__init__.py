"""The widget and the dashboard. One view.js draws the graph in both; state.py is what they share."""
