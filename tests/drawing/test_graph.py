"""Where variables are drawn, and what of."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.page import Page

import bayesmend as bm
from bayesmend.drawing import draw_graph, lay_out
from bayesmend.drawing.picture import ARROW, Link, Picture, links_of
from bayesmend.drawing.svg import render_svg


@st.composite
def dags(draw):
    n_vars = draw(st.integers(1, 12))
    order = draw(st.permutations(range(n_vars)))
    pairs = list(itertools.combinations(order, 2))
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return bm.Dag.from_arcs([f"v{k}" for k in range(n_vars)], arcs)


@given(dags(), st.data())
def test_parents_stand_above_and_nothing_overlaps(dag, data):
    widths = data.draw(
        st.lists(st.floats(20, 200), min_size=dag.n_vars, max_size=dag.n_vars)
    )
    layout = lay_out(dag, widths)
    for child, members in enumerate(dag.parents):
        for parent in members:
            n_between = layout.layer[child] - layout.layer[parent] - 1
            assert n_between >= 0
            assert len(layout.routes[parent, child]) == n_between
    for a, b in itertools.combinations(range(dag.n_vars), 2):
        if layout.layer[a] == layout.layer[b]:
            distance = abs(layout.x[a] - layout.x[b])
            assert distance >= (widths[a] + widths[b]) / 2
    assert all(x - w / 2 >= -1e-6 for x, w in zip(layout.x, widths, strict=True))
    assert all(
        x + w / 2 <= layout.width + 1e-6 for x, w in zip(layout.x, widths, strict=True)
    )
    assert sorted(set(layout.layer)) == list(range(layout.n_layers))


def test_a_tree_is_drawn_without_crossings():
    arcs = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]
    dag = bm.Dag.from_arcs([str(k) for k in range(7)], arcs)
    x = lay_out(dag, [40.0] * 7).x
    assert x[3] < x[4] < x[5] < x[6]
    assert x[0] == pytest.approx((x[1] + x[2]) / 2, abs=1.0)


def test_arcs_without_a_settled_direction_are_dashed():
    dag = bm.Dag.from_arcs("abcd", [("a", "c"), ("b", "c"), ("a", "d")])
    svg = draw_graph(dag, [0] * 4)
    assert svg.count('class="arc fixed"') == 2
    assert svg.count('class="arc either"') == 1
    Page(svg)


def test_a_long_name_is_cut_in_the_drawing():
    svg = draw_graph(bm.Dag.from_arcs(["n" * 60]), [0])
    assert "n" * 23 + "…" in svg


def joined(n_vars, pairs):
    """Links in any direction, cycles and all."""
    return [Link(a, b, has_head=(a + b) % 3 > 0) for a, b in pairs if a < n_vars > b]


@given(
    st.integers(1, 8),
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda p: p[0] != p[1]),
        unique_by=frozenset,
    ),
)
def test_a_curve_leads_from_box_to_box_whatever_the_directions(n_vars, pairs):
    links = joined(n_vars, pairs)
    picture = Picture.of([f"v{k}" for k in range(n_vars)], links)
    assert [curve.link for curve in picture.curves] == links
    for curve in picture.curves:
        tail, head = (picture.boxes[v] for v in curve.link[:2])
        is_down = tail.top < head.top
        x, y = curve.points[0]
        assert y == (tail.top + tail.height if is_down else tail.top)
        assert tail.left <= x <= tail.left + tail.width
        x, y = curve.head[-1] if curve.link.has_head else curve.points[-1]
        assert y == pytest.approx(head.top if is_down else head.top + head.height)
        assert head.left <= x <= head.left + head.width
        assert len(curve.points) % 3 == 1
        assert all(0 <= x <= picture.width for x, _ in curve.points)
        if curve.link.has_head:
            assert abs(curve.head[-1][1] - curve.head[0][1]) == ARROW


@given(dags())
def test_arcs_point_down(dag):
    for curve in Picture.of(dag.names, links_of(dag)).curves:
        assert curve.head[-1][1] > curve.head[0][1]


def test_the_edges_of_a_class_have_no_heads():
    dag = bm.Dag.from_arcs("abcd", [("a", "c"), ("b", "c"), ("a", "d")])
    svg = render_svg(Picture.of(dag.names, links_of(dag.cpdag())), "a <class>")
    assert svg.count('class="arc"') == 3
    assert svg.count('<path fill="') == 2
    Page(svg)
