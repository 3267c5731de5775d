"""The doctor: all rules asked of one table, with what they need of its files; of one that cannot be opened, too."""

from explorer.reports.doctor.examination import diagnose
from explorer.reports.doctor.unreadable_table import report_unreadable

__all__ = ["diagnose", "report_unreadable"]
