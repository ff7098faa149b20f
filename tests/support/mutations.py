"""Lies put into results, proofs and tables, one at a time, and what they are called.

Every change makes something false that was true: what may be true in spite of it, such
as a price that is a little different, is not among them. A mutation returns a pattern
of the sentence that must name it, or None where it does not apply.
"""

import base64
import gzip
import json
import re

import numpy as np


class Files:
    """A result, its proof and its table, to be changed and written."""

    def __init__(self, folder, table):
        text = (folder / "result.json").read_text()
        self.facts = json.loads(text)
        self.saved = None
        if "saved" in self.facts:  # not with a structure alone
            packed = base64.b64decode(self.facts["saved"]["content"])
            self.saved = json.loads(gzip.decompress(packed))
            self.network = json.loads(self.saved["network"])
            self.codes = bytearray(base64.b64decode(self.saved["table"]["codes"]))
        self.proof = json.loads((folder / "proof.json").read_text())
        self.rows = [line.split(",") for line in table.read_text().splitlines()]

    @property
    def n_rows(self):
        return self.saved["table"]["n_rows"]

    @property
    def names(self):
        return [variable["name"] for variable in self.network["variables"]]

    @property
    def nodes(self):
        return self.proof["nodes"]

    def leaves(self):
        inner = {node[0] for node in self.nodes}
        return [n for n in range(len(self.nodes)) if n not in inner]

    def set_both(self, key, value):
        self.facts[key] = value
        if self.saved is not None:
            self.saved[key] = value

    def write(self, folder):
        if self.saved is not None:
            self._save()
        (folder / "result.json").write_text(json.dumps(self.facts))
        (folder / "proof.json").write_text(json.dumps(self.proof))
        text = "\n".join(",".join(row) for row in self.rows) + "\n"
        (folder / "table.csv").write_text(text)

    def _save(self):
        saved = dict(self.saved)
        saved["network"] = json.dumps(self.network)
        codes = base64.b64encode(bytes(self.codes)).decode()
        saved["table"] = {**saved["table"], "codes": codes}
        packed = gzip.compress(json.dumps(saved).encode(), 1, mtime=0)
        self.facts["saved"]["content"] = base64.b64encode(packed).decode()


def pick(rng, items):
    return items[int(rng.integers(len(items)))] if len(items) else None


# --- the result ---------------------------------------------------------------------


def another_score(rng, files):
    change = float(rng.choice([-1, 1]) * 10.0 ** rng.uniform(-4, 2))
    score = files.facts["score"] + change
    files.set_both("score", score)
    files.set_both("bound", score)
    return "score is|proof only that"


def a_score_without_its_bound(rng, files):
    files.set_both("score", files.facts["score"] - float(10.0 ** rng.uniform(-3, 1)))
    return "gap|certificate"


def a_bound_below_the_score(rng, files):
    files.set_both("bound", files.facts["score"] - float(10.0 ** rng.uniform(-4, 1)))
    return "bound .* is below the score"


def a_bound_that_differs_from_what_is_saved(rng, files):
    files.facts["bound"] += 1.0
    return "contradicts itself: its bound"


def another_certificate(rng, files):
    files.set_both("certificate", str(rng.choice(["bounded", "local", "heuristic"])))
    return "certificate is"


def another_status(rng, files):
    files.facts["status"] = str(
        rng.choice(["gap 1 nats", "1-local optimum", "perfect"])
    )
    return "status is"


def an_arc_too_many(rng, files):
    arcs = {tuple(arc) for arc in files.facts["arcs"]}
    names = files.names
    free = [(a, b) for a in names for b in names if a != b and (a, b) not in arcs]
    arc = pick(rng, free)
    if arc is None:
        return None
    files.facts["arcs"].append(list(arc))
    return f"arcs of the result and of its network differ: {arc[0]} -> {arc[1]}"


def an_arc_less(rng, files):
    if not files.facts["arcs"]:
        return None
    files.facts["arcs"].pop(int(rng.integers(len(files.facts["arcs"]))))
    return "arcs of the result and of its network differ"


def a_parent_less(rng, files):
    child = pick(rng, [v for v in files.network["variables"] if v["parents"]])
    if child is None:
        return None
    gone = child["parents"].pop(int(rng.integers(len(child["parents"]))))
    files.facts["arcs"].remove([gone, child["name"]])
    return f"score is|table of '{child['name']}'"


def a_cycle(rng, files):
    child = pick(rng, [v for v in files.network["variables"] if v["parents"]])
    if child is None:
        return None
    parent = child["parents"][0]
    for variable in files.network["variables"]:
        if variable["name"] == parent:
            variable["parents"].append(child["name"])
    files.facts["arcs"].append([child["name"], parent])
    return "has a cycle"


def an_observed_cell(rng, files):
    missing = set(
        zip(
            files.saved["cells"]["rows"], files.saved["cells"]["variables"], strict=True
        )
    )
    row, v = int(rng.integers(files.n_rows)), int(rng.integers(len(files.names)))
    if (row, v) in missing:
        return None
    at = v * files.n_rows + row
    card = len(files.network["variables"][v]["states"])
    files.codes[at] = (files.codes[at] + 1) % card
    return f"row {row} of '{files.names[v]}' is .* in the table" if card > 1 else None


def a_mended_cell(rng, files):
    cells = files.saved["cells"]
    i = pick(rng, range(len(cells["rows"])))
    row, v = cells["rows"][i], cells["variables"][i]
    card = len(files.network["variables"][v]["states"])
    at = v * files.n_rows + row
    files.codes[at] = cells["codes"][i] = (files.codes[at] + 1) % card
    return f"row {row} of '{files.names[v]}' is .* in the proof" if card > 1 else None


def a_mended_cell_that_is_not_listed(rng, files):
    cells = files.saved["cells"]
    i = int(rng.integers(len(cells["rows"])))
    row, v = cells["rows"][i], cells["variables"][i]
    for values in cells.values():
        values.pop(i)
    return f"mended cells is wrong in row {row} of '{files.names[v]}'"


def a_margin(rng, files):
    cells = files.saved["cells"]
    i = int(rng.integers(len(cells["rows"])))
    if isinstance(cells["margins"][i], dict):
        return None
    cells["margins"][i] += float(rng.choice([-1, 1]) * 10.0 ** rng.uniform(-4, 1))
    row, name = cells["rows"][i], files.names[cells["variables"][i]]
    return f"margin of row {row} of '{name}'"


def a_runner_up(rng, files):
    cells = files.saved["cells"]
    i = int(rng.integers(len(cells["rows"])))
    if isinstance(cells["margins"][i], dict):
        return None
    cells["runners_up"][i] = cells["codes"][i]
    row, name = cells["rows"][i], files.names[cells["variables"][i]]
    return f"is not the runner-up of row {row} of '{name}'"


def an_example(rng, files):
    cells = files.saved["cells"]
    if "supported" not in cells:
        return None
    i = int(rng.integers(len(cells["rows"])))
    cells["supported"][i] = not cells["supported"][i]
    return f"row {cells['rows'][i]} of .* is not"


def a_probability(rng, files):
    variable = pick(rng, files.network["variables"])
    row = pick(rng, variable["cpt"])
    if len(row) < 2:
        return None
    row[0] += float(10.0 ** rng.uniform(-7, -1))
    return f"table of '{variable['name']}'"


def another_option(rng, files):
    options = files.facts["options"]
    key, value = pick(
        rng,
        [
            ("ess", 2.5),
            ("max_parents", 1),
            ("prior", "fair" if options["prior"] == "uniform" else "uniform"),
            ("support", 0.7),
            ("score", "bic"),
            ("forbidden", [files.names[:2]]),
        ],
    )
    options[key] = value
    return "proof is about another"


# --- the proof ----------------------------------------------------------------------


def a_lower_bound_of_the_proof(rng, files):
    files.proof["bound"] = files.facts["score"] - float(10.0 ** rng.uniform(-4, 1))
    return "node"


def without_node(files, leaf):
    """Take a leaf out of the tree; return its parent."""
    parent = files.nodes[leaf][0]
    del files.nodes[leaf]
    for node in files.nodes:
        if node[0] is not None and node[0] > leaf:
            node[0] -= 1
    return parent


def a_leaf_less(rng, files):
    leaf = pick(rng, [n for n in files.leaves() if n])
    if leaf is None:
        return None
    return f"node {without_node(files, leaf)} has no child"


def a_subtree_without_proof(rng, files):
    if len(files.nodes) == 1:
        return None
    if files.saved["detail"]["root_bound"] < files.facts["score"] + 1e-3:
        return None
    del files.nodes[1:]
    files.nodes[0][3] = files.nodes[0][3][:1]
    return "node 0"


def another_parent(rng, files):
    node = pick(rng, list(range(2, len(files.nodes))))
    if node is None:
        return None
    old = files.nodes[node][0]
    new = pick(rng, [n for n in range(node) if n != old])
    files.nodes[node][0] = new
    return "node"


def another_state(rng, files):
    node = pick(rng, range(1, len(files.nodes)))
    if node is None:
        return None
    files.nodes[node][2] += int(rng.choice([-1, 1]))
    return f"node {files.nodes[node][0]}|state of node {node}"


def another_cell(rng, files):
    node = pick(rng, range(1, len(files.nodes)))
    if node is None or len(files.proof["cells"]) < 2:
        return None
    n_cells = len(files.proof["cells"])
    shift = 1 + int(rng.integers(n_cells))
    files.nodes[node][1] = (files.nodes[node][1] + shift) % (n_cells + 1)
    return "fix different cells|must be a whole number|fixed already|has no child"


def priced(files):
    return [p for node in files.nodes for p in node[3] if p[0]]


def a_price_below_zero(rng, files):
    point = pick(rng, priced(files))
    if point is None:
        return None
    i = int(rng.integers(len(point[0])))
    point[3][i] = pick(rng, [-point[3][i], 0.5, None, "1", 1 << 60])
    return "prices .* of node"


def a_price_for_the_owner(rng, files):
    point = pick(rng, priced(files))
    if point is None:
        return None
    i = int(rng.integers(len(point[0])))
    point[0][i] = files.names.index(files.proof["cells"][point[1][i]][1])
    return "prices .* of node .* with its own owner"


def a_price_twice(rng, files):
    point = pick(rng, priced(files))
    if point is None:
        return None
    for column in point:
        column.append(column[0])
    return "prices .* of node .* twice"


def a_cell_that_is_observed(rng, files):
    cell = pick(rng, files.proof["cells"])
    missing = set(
        zip(
            files.saved["cells"]["rows"], files.saved["cells"]["variables"], strict=True
        )
    )
    v = files.names.index(cell[1])
    free = [r for r in range(files.n_rows) if (r, v) not in missing]
    if not free:
        return None
    cell[0] = pick(rng, free)
    return "which is not missing"


def a_cell_less(rng, files):
    files.proof["cells"].pop(int(rng.integers(len(files.proof["cells"]))))
    return "proof lacks row"


def another_completion(rng, files):
    i = int(rng.integers(len(files.proof["completion"])))
    card = len(
        files.network["variables"][files.names.index(files.proof["cells"][i][1])][
            "states"
        ]
    )
    files.proof["completion"][i] = (files.proof["completion"][i] + 1) % card
    return "in the proof" if card > 1 else None


def change_problem(rng, problem, change):
    """Make one of four changes to the problem that a proof is about."""
    score = problem["score"]
    if change == 0:
        score["ess"] *= 3.0
    elif change == 1:
        score["prior"] = "fair" if score["prior"] == "uniform" else "uniform"
    elif change == 2:
        score["kind"] = "bic" if score["kind"] != "bic" else "bdeu"
    else:
        pick(rng, problem["variables"])["max_parents"] += 1


def another_problem(rng, files):
    problem = files.proof["problem"]
    change = int(rng.integers(5))
    if change < 4:
        change_problem(rng, problem, change)
    else:
        pick(rng, problem["variables"])["forbidden"] = [pick(rng, files.names)]
    return "proof is about another|cannot be|is forbidden" if change < 4 else None


def other_states(rng, files):
    variable = pick(rng, files.proof["problem"]["variables"])
    if len(variable["states"]) < 2:
        return None
    variable["states"].reverse()
    return f"other states of '{variable['name']}'"


# --- the table ----------------------------------------------------------------------


def another_table(rng, files):
    row = 1 + int(rng.integers(files.n_rows))
    name = pick(rng, files.names)
    column = files.rows[0].index(name)
    states = files.network["variables"][files.names.index(name)]["states"]
    others = [s for s in [*states, "", "unheard"] if s != files.rows[row][column]]
    files.rows[row][column] = pick(rng, others)
    return f"row {row - 1} "


def a_row_less(rng, files):
    del files.rows[1 + int(rng.integers(files.n_rows))]
    return "rows, the table|row"


def a_column_less(rng, files):
    name = pick(rng, files.names)
    files.rows[0][files.rows[0].index(name)] = f"{name}-"
    return f"no column '{name}'"


MUTATIONS = (
    another_score,
    a_score_without_its_bound,
    a_bound_below_the_score,
    a_bound_that_differs_from_what_is_saved,
    another_certificate,
    another_status,
    an_arc_too_many,
    an_arc_less,
    a_parent_less,
    a_cycle,
    an_observed_cell,
    a_mended_cell,
    a_mended_cell_that_is_not_listed,
    a_margin,
    a_runner_up,
    an_example,
    a_probability,
    another_option,
    a_lower_bound_of_the_proof,
    a_leaf_less,
    a_subtree_without_proof,
    another_parent,
    another_state,
    another_cell,
    a_price_below_zero,
    a_price_for_the_owner,
    a_price_twice,
    a_cell_that_is_observed,
    a_cell_less,
    another_completion,
    another_problem,
    other_states,
    another_table,
    a_row_less,
    a_column_less,
)

# --- structures over complete tables ------------------------------------------------


def another_score_of_a_structure(rng, files):
    score = files.facts["score"] + float(rng.choice([-1, 1]) * 10 ** rng.uniform(-4, 2))
    files.facts["score"] = files.facts["bound"] = score
    return "score is"


def a_gap(rng, files):
    files.facts["gap"] = float(10.0 ** rng.uniform(-4, 1))
    return "gap is not"


def a_looser_bound(rng, files):
    files.facts["bound"] += float(10.0 ** rng.uniform(-4, 1))
    files.facts["gap"] = files.facts["bound"] - files.facts["score"]
    return "certificate is"


def an_arc_of_a_structure_too_many(rng, files):
    arcs = {tuple(arc) for arc in files.facts["arcs"]}
    names = [variable["name"] for variable in files.proof["problem"]["variables"]]
    free = [(a, b) for a in names for b in names if a != b and (a, b) not in arcs]
    files.facts["arcs"].append(list(pick(rng, free)))
    return "score is|has a cycle|parents|is forbidden"


def an_arc_of_a_structure_less(rng, files):
    arcs = files.facts["arcs"]
    if not arcs:
        return None
    arcs.pop(int(rng.integers(len(arcs))))
    return "score is|is required"


def another_number_of_rows(rng, files):
    files.facts["n_rows"] += int(rng.integers(1, 9))
    return "the result says .* rows"


def another_share(rng, files):
    files.facts["status"] = f"gap {10 * rng.random():.3g} nats"
    return "status is"


def another_role(rng, files):
    columns = [c for c in files.facts["columns"] if c["role"] == "model"]
    column = pick(rng, columns)
    column["role"] = "drop"
    return f"'{column['name']}' is a variable of the result or of the proof"


def a_state_twice(rng, files):
    variable = pick(rng, files.proof["problem"]["variables"])
    variable["states"].append(variable["states"][0])
    return f"names a state of '{variable['name']}' twice"


def a_column_of_weights(rng, files):
    problem = files.proof["problem"]
    problem["weights"] = None if problem["weights"] else "n"
    return "proof is about another column of weights|says .* rows|score is"


def a_cycle_of_a_structure(rng, files):
    arc = pick(rng, files.facts["arcs"])
    if arc is None:
        return None
    files.facts["arcs"].append(arc[::-1])
    return "has a cycle"


def an_arc_twice(rng, files):
    arc = pick(rng, files.facts["arcs"])
    if arc is None:
        return None
    files.facts["arcs"].append(arc)
    return "is there twice"


def an_arc_of_nobody(rng, files):
    arc = pick(rng, files.facts["arcs"])
    if arc is None:
        return None
    arc[int(rng.integers(2))] = "nobody"
    return "names 'nobody', which is no variable"


def another_option_of_a_structure(rng, files):
    options = files.facts["options"]
    changes = {
        "ess": options["ess"] or 1.0,
        "max_parents": options["max_parents"],
    }
    key = pick(rng, [*changes, "prior", "score", "forbidden"])
    if key == "score":
        options[key] = "aic" if options[key] != "aic" else "bic"
    elif key == "prior":
        fair = options["prior"] == "uniform" or options["score"] in ("bic", "aic")
        options[key] = "fair" if fair else "uniform"
    elif key == "forbidden":
        options[key] = [*(options[key] or []), ["e", "d"]]
    else:
        options[key] = changes[key] / 2 if key == "ess" else 1
    return "proof is about another"


def a_bound_below_the_optimum(rng, files):
    files.proof["bound"] = files.facts["score"] - float(10.0 ** rng.uniform(-4, 2))
    return "node .* (cannot be repeated|neither)"


def no_multipliers(rng, files):
    leaf = pick(rng, files.leaves())
    if len(files.nodes) > 1 or not files.nodes[0][5]:  # not needed
        return None
    files.nodes[leaf][4:] = [[], []]
    return f"node {leaf} has neither multipliers"


def multipliers_far_too_large(rng, files):
    node = files.nodes[pick(rng, files.leaves())]
    i = pick(rng, range(len(node[5])))
    if i is None or files.proof["cuts"][node[4][i]][1:]:
        return None
    # Beyond all scores the multiplier of a cluster costs more than it can bound: one
    # variable of it is counted for each that has a family without parents in it.
    members = files.proof["cuts"][node[4][i]][0]
    is_bound = any("required" in v for v in files.proof["problem"]["variables"])
    if len(members) < 2 or is_bound:
        return None
    node[5][i] += 1 << 70
    return "cannot be repeated"


def a_broken_multiplier(rng, files):
    node = pick(rng, [node for node in files.nodes if node[5]])
    if node is None:
        return None
    i = pick(rng, range(len(node[5])))
    node[5][i] = pick(rng, [-1, -node[5][i] - 1, 0.5, None, "1", True, [1]])
    return "multipliers of node"


def a_multiplier_too_many(rng, files):
    node = pick(rng, files.nodes)
    node[5].append(1)
    return "multipliers of node .* must be a list of"


def a_multiplier_twice(rng, files):
    node = pick(rng, [node for node in files.nodes if node[5]])
    if node is None:
        return None
    node[4].append(node[4][0])
    node[5].append(node[5][0])
    return "multipliers of node .* twice"


def a_cut_of_nothing(rng, files):
    node = pick(rng, [node for node in files.nodes if node[4]])
    if node is None:
        return None
    node[4][0] = pick(rng, [len(files.proof["cuts"]), -1, "0", None])
    return "a cut in the multipliers of node"


def a_broken_cluster(rng, files):
    number = pick(rng, [k for k, cut in enumerate(files.proof["cuts"]) if not cut[1:]])
    if number is None:
        return None
    members = files.proof["cuts"][number][0]
    change = int(rng.integers(4))
    if change == 0:
        members.append(members[0])
    elif change == 1:
        members[0] = pick(rng, [99, -1, 0.5, "a", None])
    elif change == 2:
        members.clear()
    else:
        files.proof["cuts"][number] = pick(rng, [[], None, [1, 2], {}, [[0, 1], [0]]])
    return "cut"


def a_cut_of_later_ones(rng, files):
    cuts = files.proof["cuts"]
    number = int(rng.integers(len(cuts) + 1))
    cuts.insert(number, [[pick(rng, [number, len(cuts) + 3, -1])], [], []])
    return f"a cut that cut {number} is made of"


def a_broken_half(rng, files):
    cuts = files.proof["cuts"]
    broken = [[[], [0], [0.5]], [[], [0, 0], [1, 1]], [[], [0], []], [[], [77], [1]]]
    cuts.append(pick(rng, broken))
    return f"cut {len(cuts) - 1}"


def split_root(files):
    """Give a proof of one node two halves, each with the multipliers of it."""
    if len(files.nodes) == 1:
        _, _, _, _, cuts, multipliers = files.nodes[0]
        files.nodes[0][4:] = [[], []]
        for is_present in (0, 1):
            files.nodes.append([0, 0, 1, is_present, list(cuts), list(multipliers)])


def a_part_less(rng, files):
    split_root(files)
    leaf = pick(rng, [n for n in files.leaves() if n])
    return f"node {without_node(files, leaf)} must have one child with"


def a_part_twice(rng, files):
    split_root(files)
    number = pick(rng, range(1, len(files.nodes)))
    files.nodes[number][3] = 1 - files.nodes[number][3]
    return f"node {files.nodes[number][0]} must have one child with"


def a_part_about_another_arc(rng, files):
    split_root(files)
    number = pick(rng, range(1, len(files.nodes)))
    node = files.nodes[number]
    node[1], node[2] = node[2], node[1]
    return f"children of node {node[0]} must be about one arc"


def an_arc_that_is_none(rng, files):
    split_root(files)
    parent = files.nodes[-1][0]
    for node in files.nodes:
        if node[0] == parent:
            node[2] = node[1]
    return f"children of node {parent} must be about one arc"


def a_broken_node(rng, files):
    split_root(files)
    number = pick(rng, range(1, len(files.nodes)))
    place = int(rng.integers(4))
    files.nodes[number][place] = pick(rng, [-1, 99, None, "x", 0.5, True])
    return f"node {number}|must be about one arc"


def no_nodes(rng, files):
    files.proof["nodes"] = pick(rng, [[], None, {}, 3])
    return "nodes"


def another_kind(rng, files):
    files.proof["kind"] = pick(rng, ["joints", "candidates", None, 1])
    return "proof"


def another_problem_of_a_structure(rng, files):
    change_problem(rng, files.proof["problem"], int(rng.integers(4)))
    return "proof is about another"


def a_state_less(rng, files):
    variable = pick(rng, files.proof["problem"]["variables"])
    del variable["states"][int(rng.integers(len(variable["states"])))]
    return "which is no state"


def another_cell_of_the_table(rng, files):
    row = 1 + int(rng.integers(len(files.rows) - 1))
    column = int(rng.integers(5))
    others = {r[column] for r in files.rows[1:]} | {"", "unheard"}
    files.rows[row][column] = pick(rng, sorted(others - {files.rows[row][column]}))
    return f"row {row - 1} |score is"


def a_row_of_a_structure_less(rng, files):
    del files.rows[1 + int(rng.integers(len(files.rows) - 1))]
    return "result says 60 rows, and there are 59"


def a_column_of_a_structure_less(rng, files):
    column = int(rng.integers(5))
    name = files.rows[0][column]
    files.rows[0][column] = f"{name}-"
    return f"no column '{name}'"


STRUCTURE_MUTATIONS = (
    another_score_of_a_structure,
    a_score_without_its_bound,
    a_bound_below_the_score,
    a_gap,
    a_looser_bound,
    another_certificate,
    another_status,
    an_arc_of_a_structure_too_many,
    an_arc_of_a_structure_less,
    another_number_of_rows,
    another_share,
    another_role,
    a_state_twice,
    a_column_of_weights,
    a_cycle_of_a_structure,
    an_arc_twice,
    an_arc_of_nobody,
    another_option_of_a_structure,
    a_bound_below_the_optimum,
    no_multipliers,
    multipliers_far_too_large,
    a_broken_multiplier,
    a_multiplier_too_many,
    a_multiplier_twice,
    a_cut_of_nothing,
    a_broken_cluster,
    a_cut_of_later_ones,
    a_broken_half,
    a_part_less,
    a_part_twice,
    a_part_about_another_arc,
    an_arc_that_is_none,
    a_broken_node,
    no_nodes,
    another_kind,
    another_problem_of_a_structure,
    a_state_less,
    another_cell_of_the_table,
    a_row_of_a_structure_less,
    a_column_of_a_structure_less,
)


def check_mutations(lies, n_mutations, learned, told, tmp_path):
    """Try so many lies, each a kind and the number of a result; return the kinds."""
    rng, tried, kinds = np.random.default_rng(n_mutations), 0, set()
    for mutate, number in lies:
        if tried == n_mutations:
            break
        files = Files(learned(number), learned(number) / "table.csv")
        pattern = mutate(rng, files)
        if pattern is None:
            continue
        files.write(tmp_path)
        found = told(tmp_path)
        assert found.lie is not None, (mutate.__name__, number)
        assert re.search(pattern, found.lie), (mutate.__name__, found.lie)
        kinds.add(mutate)
        tried += 1
    return kinds
