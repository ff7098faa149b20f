"""A page that shows a result: certificate, network, mended cells, tables, trace."""

from bayesmend.report.page import render_report, write_report

__all__ = ["render_report", "write_report"]
