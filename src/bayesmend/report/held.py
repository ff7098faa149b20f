"""What a comparison of methods on cells hidden on purpose says, for the page."""

from bayesmend.data.states import quantity
from bayesmend.drawing.text import escape
from bayesmend.report.tables import bar, table
from bayesmend.validation import Comparison, MethodScore

__all__ = ["held_out_section"]


def held_out_section(found: Comparison) -> str:
    """Show how well methods filled observed cells that were hidden from them.

    Examples
    --------
    >>> from bayesmend.outcome import Stopped
    >>> from bayesmend.validation import Share
    >>> curve = (Share(0.55, 0.5, 20), Share(0.95, 0.975, 80))
    >>> em = MethodScore("em", 0.9, 0.02, 0.3, 0.04, 0, 0, 0.03, 1.0, {}, curve)
    >>> text = held_out_section(Comparison((em,), 100, 3))
    >>> "100 observed cells" in text, text.count("<tr>")
    (True, 5)
    """
    best = found.methods[0]
    return (
        "<h3>Cells hidden on purpose</h3>"
        f'<p class="note">{quantity(found.n_hidden, "observed cell")} of this table, '
        f"in {quantity(found.n_repeats, 'repeat')}, were hidden, filled and compared "
        "with what was there. Log-loss counts how much was known, too; calibration is "
        "the mean distance of probabilities from the shares that came true.</p>"
        f"{_method_table(found)}"
        f"<p>By {escape(best.method)}, cells filled with such probabilities were right "
        "so often:</p>"
        f"{_curve_table(best)}"
    )


def _method_table(found: Comparison) -> str:
    head = (
        '<tr><th>method</th><th class="n">right</th><th class="n">log-loss</th>'
        '<th class="n">calibration</th></tr>'
    )
    rows = [
        f"<tr><td>{escape(m.method)}</td>"
        f"<td {bar(m.accuracy)}>{m.accuracy:.1%} ± {m.accuracy_error:.1%}</td>"
        f'<td class="n">{m.log_loss:.3f} ± {m.log_loss_error:.3f}</td>'
        f'<td class="n">{m.calibration_error:.1%}</td></tr>'
        for m in found.methods
    ]
    return table(head, rows, "Methods on cells hidden on purpose")


def _curve_table(method: MethodScore) -> str:
    head = (
        '<tr><th class="n">probability</th><th class="n">right</th>'
        '<th class="n">cells</th></tr>'
    )
    rows = [
        f'<tr><td class="n">{share.probability:.1%}</td>'
        f"<td {bar(share.share)}>{share.share:.1%}</td>"
        f'<td class="n">{share.n_cells:,}</td></tr>'
        for share in method.curve
        if share.n_cells
    ]
    return table(head, rows, "Calibration on cells hidden on purpose")
