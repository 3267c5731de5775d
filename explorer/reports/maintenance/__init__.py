"""Plan Iceberg's maintenance procedures from metadata alone, and run them through Spark."""

from explorer.reports.maintenance.previews import Preview, preview

__all__ = ["Preview", "preview"]
