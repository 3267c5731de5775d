"""Agents: the questions that read, as tools of the Model Context Protocol, over stdio or HTTP. The only package that
imports `mcp`."""
