"""What carries the app's messages to a browser; each is thin, and imports only what it needs."""
