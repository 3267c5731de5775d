"""Decode untrusted bytes in a child process with limits."""
