"""The compiled core: encoded integers in, numbers out."""

from collections.abc import Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


class StopReason(enum.Enum):
    """What ended a search before it was done."""

    nothing = 0

    time = 1

    memory = 2

    nodes = 3

    interrupt = 4

class CsvProblemKind(enum.Enum):
    """Why a text could not be read."""

    none = 0

    no_header = 1

    ragged = 2

    encoding = 3

    open_quote = 4

    after_quote = 5

    not_a_number = 6

class CsvProblem:
    """Where and why a text could not be read."""

    @property
    def kind(self) -> CsvProblemKind: ...

    @property
    def position(self) -> int: ...

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...

    @property
    def found(self) -> int: ...

    @property
    def expected(self) -> int: ...

    @property
    def text(self) -> str: ...

class CsvFormat:
    """How a text is laid out."""

    def __init__(self, delimiter: str = ',', line_end: str = '\n', quote: str = '"', decimal: str = '.', has_header: bool = True, begin: int = 0) -> None: ...

class CsvProfile:
    """What is known of the observed cells of a column."""

    @property
    def n_distinct(self) -> int: ...

    @property
    def is_bound(self) -> bool: ...

    @property
    def is_numeric(self) -> bool: ...

class CsvHeader:
    """The first line of a delimited text."""

    @property
    def names(self) -> list[str]: ...

    @property
    def problem(self) -> CsvProblem: ...

class CsvTable:
    """Cells that wait for the order of the states."""

    @property
    def n_rows(self) -> int: ...

    @property
    def problem(self) -> CsvProblem: ...

    def labels(self, column: int) -> list[str]: ...

    def is_truncated(self, column: int) -> bool: ...

    def profile(self, column: int, n_threads: int = 0) -> CsvProfile: ...

    def numbers(self, column: int, n_threads: int = 0) -> tuple[NDArray[numpy.float64], CsvProblem]: ...

    def texts(self, column: int) -> list: ...

    def marker_counts(self, column: int) -> list[int]: ...

    def forget_cells(self) -> None: ...

    def codes(self, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 0) -> NDArray[numpy.uint8]: ...

def read_csv_header(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], format: CsvFormat) -> CsvHeader: ...

def read_csv(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], format: CsvFormat, markers: Sequence[str], numeric: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 0, chunk_bytes: int = 0) -> CsvTable: ...

def csv_line(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], format: CsvFormat, row: int) -> int: ...

def csv_line_of_label(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], format: CsvFormat, column: int, label: str) -> int: ...

def csv_end_of_rows(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], format: CsvFormat, most: int) -> int: ...

def without_blanks(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], format: CsvFormat, is_blank_run: bool) -> NDArray[numpy.uint8]: ...

def write_csv_rows(cells: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, last: int, texts: Sequence[Sequence[str]], extra: Sequence[str], delimiter: str) -> bytes: ...

class DistinctRows:
    """Distinct rows, in order of first occurrence."""

    @property
    def first(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Where each occurs first."""

    @property
    def count(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """How often each occurs."""

    @property
    def inverse(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Which one each row is."""

def distinct_rows(cells: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 0) -> DistinctRows: ...

class ScoreKind(enum.Enum):
    """The name of a score."""

    bdeu = 0

    bds = 1

    k2 = 2

    bic = 3

    aic = 4

    qnml = 5

    loglik = 6

class ScoreRule:
    """How families are scored."""

    def __init__(self, kind: ScoreKind, ess: float, arc_penalty: float, support: float, choices: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """
        Choices: per variable how many parents it may have and how many it must, for the fair prior; of no length for no prior.
        """

class ShownCells:
    """
    Remembers what observed rows show, for scorers of completions of one table.
    """

    def __init__(self) -> None: ...

class Scorer:
    """Scores families of one complete table under one rule."""

    def __init__(self, columns: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rule: ScoreRule, was_missing: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], shown: ShownCells | None) -> None: ...

    @staticmethod
    def expecting(holes: object, cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rule: ScoreRule, n_threads: int, max_bytes: float) -> Scorer:
        """Scores what is expected of a table with holes under a network."""

    def limit_tables(self, max_bytes: float, passes_by_larger: bool) -> None:
        """
        Have tables that would take more be counted by what occurs in them, and searches pass them by where that is asked for.
        """

    @staticmethod
    def known(card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, rule: ScoreRule, first_member: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_count: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unsupported: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Scorer:
        """
        Scores counts of some sets of variables, each ascending, without those that are zero.
        """

    def expected_counts(self, parent_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
        """
        Expected counts of the families of a graph, laid out as its probabilities.
        """

    def families(self, child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_parent: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.float64]: ...

def family_counts(columns: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], child: int, parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

def whole_counts(columns: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.float64]:
    """
    How many rows show all variables of each set, per cell, the first variable fastest.
    """

def regret(n_rows: float, n_cells: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """The regret of multinomials with so many cells."""

def n_cores() -> int: ...

def limit_cores(n_cores: int) -> None:
    """Use at most so many cores by default; 0 for all that there are."""

def max_threads() -> int:
    """The most threads that any call makes."""

def limit_calls(seconds: float) -> None:
    """
    From now on, calls of this thread that can be interrupted raise TimeoutError after so many seconds; 0 for none.
    """

def check_calls() -> None:
    """
    Raise what such a call of this thread would: TimeoutError, or what a signal handler raises.
    """

def bit_kernel() -> str:
    """Name of the counting kernel chosen for this processor."""

class ParentLists:
    """Candidate parent sets as compressed rows."""

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def member_offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def members(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

def all_candidates(scorer: Scorer, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], required: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], limit: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> ParentLists: ...

def promising_candidates(scorer: Scorer, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], required: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], limit: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seeds: Sequence[Sequence[int]], max_sets: int, seconds_per_child: float, n_threads: int) -> ParentLists: ...

class SubsetSolution:
    """The best DAG, by subsets of the variables."""

    @property
    def score(self) -> float: ...

    @property
    def choices(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def best_through(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def stopped(self) -> StopReason: ...

def subsets_memory(n_vars: int, through: bool) -> float: ...

def solve_subsets(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], member_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], through: bool, seconds: float, n_threads: int) -> SubsetSolution: ...

class DagAverage:
    """What all DAGs say together, weighted by their scores."""

    @property
    def log_total(self) -> float: ...

    @property
    def families(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def arcs(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def paths(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def draws(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def stopped(self) -> StopReason: ...

def dag_average_memory(n_vars: int, n_threads: int) -> float: ...

def average_dags(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], member_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_draws: int, seconds: float, seed: int, n_threads: int) -> DagAverage: ...

class PartitionSamples:
    """DAGs drawn by chains over partitions."""

    @property
    def choices(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def layers(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def n_samples(self) -> int: ...

    @property
    def stopped(self) -> StopReason: ...

MAX_PARTITION_VARS: int = 256

def sample_partitions(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], member_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_chains: int, n_samples: int, n_steps: int, burn_in: int, seconds: float, seed: int, n_threads: int, report: object | None) -> PartitionSamples: ...

class OrderResult:
    """The best DAG that a search over orders met."""

    @property
    def score(self) -> float: ...

    @property
    def choices(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def n_perturbations(self) -> int: ...

    @property
    def stopped(self) -> StopReason: ...

def search_orders(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], member_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_chains: int, patience: int, max_window: int, seconds: float, seed: int, n_threads: int, report: object | None) -> OrderResult: ...

class GreedyResult:
    """The best DAG that hill climbing met."""

    @property
    def score(self) -> float: ...

    @property
    def parents(self) -> list[list[int]]: ...

    @property
    def others(self) -> list[tuple[float, list[list[int]]]]: ...

    @property
    def promising(self) -> list[list[int]]: ...

    @property
    def n_changes(self) -> int: ...

    @property
    def n_restarts(self) -> int: ...

    @property
    def stopped(self) -> StopReason: ...

def climb_greedily(scorer: Scorer, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], required: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], limit: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Sequence[Sequence[int]], tabu_length: int, tabu_moves: int, restarts: int, near: float, n_promising: int, max_remembered: int, seconds: float, seed: int, n_threads: int, report: object | None) -> GreedyResult: ...

class Ragged:
    """Rows of integers of unequal length."""

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def items(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

class ClusterCuts:
    """Clusters of variables and their inequalities."""

    @property
    def clusters(self) -> Ragged: ...

    @property
    def candidates(self) -> Ragged:
        """The terms of each inequality."""

    @property
    def misses(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """1: their sum is at least 1; 0: at most the size of the cluster less 1."""

def violated_clusters(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], member_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, max_clusters: int, steps: int, final_steps: int, min_violation: float, seconds: float, must_find: bool) -> ClusterCuts:
    """
    Clusters whose inequality the weights violate, and the terms of the inequalities.
    """

def order_from_lp(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], member_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, kicks: int, seed: int, seconds: float) -> NDArray[numpy.int32]:
    """An acyclic choice of candidates near the weights (-1: none fits)."""

def sample(card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parent_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cpt_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, seed: int, n_threads: int) -> NDArray[numpy.uint8]:
    """Draw rows; the result has shape (n_vars, n_rows)."""

def log_likelihood(card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parent_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cpt_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.float64]:
    """
    Log-probability of each row of a complete table of shape (n_vars, n_rows).
    """

MAX_TREE_ENTRIES: float = 68719476736.0

class TableSize:
    """What tables an answer needs."""

    @property
    def largest(self) -> float:
        """Entries of the largest."""

    @property
    def scope(self) -> list[int]:
        """Its variables."""

    @property
    def total(self) -> float:
        """Entries of all that a thread holds at a time."""

class Explanation:
    """The most probable completion of each row."""

    @property
    def cells(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]:
        """Completed table of shape (n_vars, n_rows)."""

    @property
    def log_probability(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Of each row."""

class Expectation:
    """What a network expects of a table."""

    @property
    def counts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Laid out as cpts."""

    @property
    def log_likelihood(self) -> float:
        """Of what is observed."""

class EmRun:
    """Expectation-maximisation of the parameters."""

    @property
    def cpts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def counts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Expected under cpts."""

    @property
    def objective(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Per iteration."""

    @property
    def log_likelihood(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Per iteration."""

    @property
    def converged(self) -> bool: ...

    @property
    def stopped(self) -> StopReason: ...

GRID: float = 1099511627776.0

class Evidence:
    """What a table of any length says of a structure."""

    def __init__(self, card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parent_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], grid: float, n_threads: int) -> None: ...

    @property
    def observed_counts(self) -> NDArray[numpy.float64]:
        """Weights of rows that show a family whole, laid out as cpts."""

    @property
    def n_instances(self) -> int:
        """How many distinct pieces there are."""

    @property
    def size(self) -> TableSize: ...

    def expect(self, cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.uint64]:
        """
        Exact sums, two words each: expected counts of what is not observed whole, minus the log-probability of it, weight of what is impossible.
        """

class Ascent:
    """Expectation-maximisation, whoever counts."""

    def __init__(self, card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parent_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ess: float, max_iter: int, tol: float) -> None: ...

    @property
    def asked(self) -> NDArray[numpy.float64]:
        """The probabilities under which to count next."""

    def tell(self, counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_likelihood: float) -> bool:
        """Take what is expected; tell whether that was the last question."""

    @property
    def run(self) -> EmRun:
        """How far it has come."""

class Weighted:
    """Distributions of missing cells by likelihood weighting."""

    @property
    def probabilities(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Variable by variable."""

    @property
    def errors(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Standard errors, in the same order."""

    @property
    def joint(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The last variable varying fastest."""

    @property
    def joint_errors(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """In the same order."""

    @property
    def log_evidence(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Of each row."""

    @property
    def effective(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Number of draws of each row."""

class WeightedDraws:
    """Completed tables by likelihood weighting."""

    @property
    def cells(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """One table after the other."""

    @property
    def log_evidence(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Of each row."""

    @property
    def effective(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Number of draws of each row."""

class Weigher:
    """Answers about the rows of one table by likelihood weighting."""

    def __init__(self, card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parent_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cpt_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_samples: int, seed: int, n_threads: int) -> None: ...

    def marginals(self, targets: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], together: Sequence[int] = []) -> Weighted: ...

    def draw(self, n_draws: int) -> WeightedDraws: ...

class Holes:
    """A table with holes, compiled for the structure of a network."""

    def __init__(self, card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parent_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def size(self) -> TableSize: ...

    def log_evidence(self, cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.float64]: ...

    def explain(self, cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> Explanation: ...

    def marginals(self, cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.float64]:
        """
        Distributions of the holes asked for: variable by variable, rows ascending.
        """

    def draw(self, cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_draws: int, seed: int, n_threads: int) -> NDArray[numpy.uint8]:
        """Completed tables of shape (n_draws, n_vars, n_rows)."""

    def joint(self, cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], variables: Sequence[int]) -> NDArray[numpy.float64]:
        """
        Joint distribution of some variables given the first row, the first varying fastest.
        """

    def joint_size(self, variables: Sequence[int]) -> TableSize:
        """What joint() needs."""

    def expect(self, cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> Expectation: ...

    def fit(self, cpts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ess: float, max_iter: int, tol: float, time_limit: float, n_threads: int) -> EmRun: ...

class Move(enum.Enum):
    """Which step led to a score."""

    start = 0

    structure = 1

    completion = 2

    flip = 3

class TraceEntry:
    """A step of a search."""

    @property
    def score(self) -> float: ...

    @property
    def seconds(self) -> float: ...

    @property
    def move(self) -> Move: ...

class SearchResult:
    """The best DAG and completion that a search found."""

    @property
    def score(self) -> float: ...

    @property
    def completion(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

    @property
    def parents(self) -> list[list[int]]: ...

    @property
    def trace(self) -> list[TraceEntry]: ...

    @property
    def stopped(self) -> StopReason: ...

class LocalResult(SearchResult):
    """What a local search found."""

    @property
    def is_certified(self) -> bool: ...

    @property
    def best_start(self) -> int: ...

    @property
    def n_solves(self) -> int: ...

class PricePoint:
    """Prices that are not zero, in steps of their grid."""

    @property
    def children(self) -> list[int]: ...

    @property
    def cells(self) -> list[int]: ...

    @property
    def values(self) -> list[int]: ...

    @property
    def steps(self) -> list[int]: ...

class ProofNode:
    """A node of the tree of a proof."""

    @property
    def parent(self) -> int | None: ...

    @property
    def cell(self) -> int | None: ...

    @property
    def value(self) -> int: ...

    @property
    def points(self) -> list[PricePoint]: ...

class ExactResult(SearchResult):
    """What branch and bound found."""

    @property
    def start_score(self) -> float: ...

    @property
    def start_is_certified(self) -> bool: ...

    @property
    def bound(self) -> float: ...

    @property
    def root_bound(self) -> float: ...

    @property
    def priced_root_bound(self) -> float: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def work(self) -> float: ...

    @property
    def n_families(self) -> int: ...

    @property
    def n_alive(self) -> int: ...

    @property
    def root_families(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def root_prices(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def proof(self) -> list[ProofNode]: ...

    @property
    def proven(self) -> float: ...

    @property
    def record_bytes(self) -> float: ...

class EnumerationResult(SearchResult):
    """The best completion of all."""

    @property
    def n_completions(self) -> float: ...

    @property
    def is_complete(self) -> bool: ...

class ImprovedCompletion:
    """The best completion found for a DAG."""

    @property
    def completion(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

    @property
    def score(self) -> float: ...

    @property
    def stopped(self) -> StopReason: ...

class Margins:
    """What each cell would cost in its best other state."""

    @property
    def losses(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def runners_up(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

class Family:
    """A child and its parents."""

    @property
    def child(self) -> int: ...

    @property
    def parents(self) -> list[int]: ...

class CellChoice:
    """The value that a family would choose for a cell."""

    @property
    def cell(self) -> int: ...

    @property
    def value(self) -> int: ...

class CellLoss:
    """What a value of a cell would cost a family."""

    @property
    def cell(self) -> int: ...

    @property
    def value(self) -> int: ...

    @property
    def loss(self) -> float: ...

class FamilyBound:
    """Upper bounds of one family."""

    @property
    def merged(self) -> float: ...

    @property
    def unpriced(self) -> float: ...

    @property
    def priced(self) -> float: ...

    @property
    def restricted(self) -> float | None: ...

    @property
    def is_exact(self) -> bool: ...

    @property
    def choices(self) -> list[CellChoice]: ...

    @property
    def losses(self) -> list[CellLoss]: ...

class ExactOptions:
    """How branch and bound searches."""

    def __init__(self, *, locality: int = 1, gap: float = 1e-06, max_nodes: int = 0, max_work: float = 0.0, max_bytes: float = 2000000000.0, n_threads: int = 1, root_steps: int = 60, node_steps: int = 6, max_entries: int = 64, max_record_bytes: float = 0.0, is_relaxed: bool = False, race_nodes: int = 256) -> None: ...

class DagMender:
    """Searches completions of one table for a given DAG."""

    def __init__(self, columns: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], rule: ScoreRule, parents: Sequence[Sequence[int]], max_bytes: float) -> None: ...

    def set_terms(self, terms: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def improve(self, completion: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], seconds: float) -> ImprovedCompletion: ...

    def margins(self, completion: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Margins: ...

    def score(self, completion: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

class Augmenter:
    """Searches DAG and completion of one table together."""

    def __init__(self, columns: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], card: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], rule: ScoreRule, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], required: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], limit: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bytes: float, drop_threads: int = 0) -> None: ...

    def set_terms(self, terms: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def n_families(self) -> int: ...

    def enumerate(self, seconds: float, n_threads: int) -> EnumerationResult: ...

    def mend(self, starts: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], locality: int, seconds: float, n_threads: int, report: object | None, kept: object | None = None) -> LocalResult: ...

    def solve(self, starts: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: ExactOptions, seconds: float, report: object | None, kept: object | None = None) -> ExactResult: ...

    def family(self, number: int) -> Family: ...

    def family_bound(self, number: int, fixed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], prices: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], max_entries: int) -> FamilyBound: ...

class SharedChoices:
    """What families choose for the cells, by cell and value."""

    @property
    def copies(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def owners(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def losses(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

class PricedFamilies:
    """Families with some cells decided, and what they are worth."""

    def __init__(self, augmenter: Augmenter, families: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fixed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], max_entries: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> None: ...

    def refine(self, positions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], times: int, most: int) -> None: ...

    def maxima(self, prices: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def choose(self, positions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prices: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> SharedChoices: ...

    def values_left(self, slack: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prices: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.uint8]: ...

    def scores(self, completion: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def dominators(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int64]: ...

    def max_entries(self) -> NDArray[numpy.int64]: ...

    def n_entries(self) -> float: ...

    def children(self) -> NDArray[numpy.int32]: ...

    def parents(self) -> NDArray[numpy.int32]: ...

    def parent_offsets(self) -> NDArray[numpy.int64]: ...
