"""A network in a notebook that answers to clicks, and tells Python what was clicked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesmend._entrance import entrance
from bayesmend._packages import require
from bayesmend.data.states import MISSING, Label, position_of, quantity
from bayesmend.errors import ParameterError
from bayesmend.inference.query import evidence_row, shown_evidence
from bayesmend.learning.result import LearnResult
from bayesmend.network.network import Network, check_network
from bayesmend.notebook.shown import as_html
from bayesmend.report.contents import network_of
from bayesmend.view import describe, script, style

__all__ = ["NetworkView"]

anywidget: Any = require("anywidget", extra="notebook")
traitlets: Any = require("traitlets", extra="notebook")

# What the page says where it cannot answer itself.
_COMMAND = "bm.query(view.network, target, given=view.evidence)"


class _Evidence(traitlets.Dict):  # type: ignore[misc]
    """States of some variables, as `query` takes them."""

    def validate(self, view: NetworkView, value: Any) -> dict[str, Label]:
        row = evidence_row(view.network, value)
        return dict(shown_evidence(view.network, row))


class _Variable(traitlets.Any):  # type: ignore[misc]
    """The name of a variable, or None."""

    def validate(self, view: NetworkView, value: Any) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str):
            msg = f"selected must be the name of a variable or None. Got {value!r}."
            raise ParameterError(msg)
        return view.network.names[position_of(value, view.network.names)]


class NetworkView(anywidget.AnyWidget):  # type: ignore[misc]
    """A network in a notebook: drawn, searched, and asked by clicking on states.

    It is a widget, needs the extra ``notebook``, and shows itself as the last line of a
    cell. What follows from the states that are set is computed in the page, exactly.

    Parameters
    ----------
    network : Network or LearnResult
        What is shown. Of an ensemble it is the one network that it shows: `query`
        answers by the mean of all.
    evidence : mapping of str to label, optional
        States that are set from the start.
    selected : str, optional
        The variable that is chosen from the start.

    Attributes
    ----------
    evidence : dict of str to label
        The states that are set: read it after clicks, or assign to it.
    selected : str or None
        The chosen variable, likewise.
    network : Network
        What is shown.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> view = NetworkView(asia, evidence={"smoke": "yes"})
    >>> view.evidence = {"smoke": "yes", "xray": "yes"}
    >>> view.selected = "lung"
    >>> bm.query(view.network, view.selected, given=view.evidence)
    given smoke=yes, xray=yes (probability 0.075852)
    <BLANKLINE>
    lung  yes  0.645991
          no   0.354009
    """

    _esm = f"{script(['widget'])}\nexport default {{ render }};\n"
    _css = style("view", "widget")
    _network = traitlets.Dict().tag(sync=True)
    _command = traitlets.Unicode(_COMMAND).tag(sync=True)
    # Positions of variables and states: labels need not differ as text.
    _known = traitlets.List().tag(sync=True)
    _chosen = traitlets.Int(None, allow_none=True).tag(sync=True)
    evidence: Any = _Evidence()
    selected: Any = _Variable(None)

    @entrance
    def __init__(
        self,
        network: Any,
        *,
        evidence: Mapping[str, Any] | None = None,
        selected: str | None = None,
    ) -> None:
        self.network = _network_of(network)
        super().__init__(_network=_described(network))
        # Each pair is the same told twice: in labels here, in positions to the page.
        self.observe(self._show_evidence, "evidence")
        self.observe(self._show_selected, "selected")
        self.observe(self._read_evidence, "_known")
        self.observe(self._read_selected, "_chosen")
        self.evidence = {} if evidence is None else evidence
        self.selected = selected

    def __repr__(self) -> str:
        size = quantity(self.network.n_vars, "variable")
        told = f", selected={self.selected!r}" if self.selected is not None else ""
        return f"NetworkView({size}, evidence={self.evidence!r}{told})"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], Any] | None:
        """Add a picture to the view, for pages that show no widgets."""
        made = super()._repr_mimebundle_(**options)
        if made is None:
            return None
        data, about = made
        return {**data, "text/html": as_html(self.network)}, about

    def _show_evidence(self, change: Any) -> None:
        row = evidence_row(self.network, change["new"])
        known = np.flatnonzero(row != MISSING)
        self._known = [[int(v), int(row[v])] for v in known]

    def _show_selected(self, change: Any) -> None:
        name = change["new"]
        self._chosen = None if name is None else position_of(name, self.network.names)

    def _read_evidence(self, change: Any) -> None:
        names, states = self.network.names, self.network.states
        self.evidence = {names[v]: states[v][k] for v, k in change["new"]}

    def _read_selected(self, change: Any) -> None:
        v = change["new"]
        self.selected = None if v is None else self.network.names[v]


def _network_of(network: object) -> Network:
    """Return the network of a result, and a network as it is."""
    found = getattr(network, "network", network)
    check_network(found)
    assert isinstance(found, Network)
    return found


def _described(network: Any) -> dict[str, Any]:
    if isinstance(network, LearnResult):
        return network_of(network)
    return describe(_network_of(network))
