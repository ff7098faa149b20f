"""Where the data of the experiments are, and where to get them.

They are read from one folder: tables as CSV files with a header, networks as BIF files
in its subfolder ``networks``.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bayesmend.data.csv import CsvSource
from bayesmend.data.table import IncompleteData
from bayesmend.datasets import available_networks, load_network
from bayesmend.errors import DataError
from bayesmend.formats import read_network
from bayesmend.network.network import Network

__all__ = ["VARIABLE", "DataFolder", "digest", "network_files"]

VARIABLE = "BAYESMEND_DATA"
"""The environment variable that names the folder of data."""

_UCI = "UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset"
_GRUDER = "data 'gruder' of the R package longmera (Gruder et al. 1993)"
_BNLEARN = "Bayesian Network Repository, https://www.bnlearn.com/bnrepository"
_STAND_IN = (
    "a stand-in for an unpublished network, not for download: make it, a tree-"
    "augmented naive Bayes network over"
)

GUIDE = "docs/howto/reproduce.md"
"""Where the documentation says how each file is prepared from its source."""

SOURCES = {
    "breast_cancer.csv": f"Breast Cancer, {_UCI}/14",
    "bridges2.csv": f"Pittsburgh Bridges, {_UCI}/18",
    "coronary.csv": "data 'coronary' of the R package bnlearn",
    "credit_a_disc.csv": f"Credit Approval, {_UCI}/27",
    "dermatology_disc.csv": f"Dermatology, {_UCI}/33",
    "heart_h_disc.csv": f"Heart Disease, Hungarian rows, {_UCI}/45",
    "hepatitis_disc.csv": f"Hepatitis, {_UCI}/46",
    "horse_colic_disc.csv": f"Horse Colic, training and test rows, {_UCI}/47",
    "hypothyroid_disc.csv": f"Thyroid Disease, {_UCI}/102",
    "kr_vs_kp.csv": f"Chess (King-Rook vs. King-Pawn), {_UCI}/22",
    "lymphography.csv": f"Lymphography, {_UCI}/63",
    "solar_flare2.csv": f"Solar Flare, {_UCI}/89",
    "tic_tac_toe.csv": f"Tic-Tac-Toe Endgame, {_UCI}/101",
    "zoo.csv": f"Zoo, {_UCI}/111",
    "car.csv": f"Car Evaluation, {_UCI}/19",
    "lucas.csv": (
        "LUCAS0, the 2,000 training instances, Causality Workbench, "
        "http://www.causality.inf.ethz.ch/data/LUCAS.html"
    ),
    "mushroom.csv": f"Mushroom, {_UCI}/73",
    "nursery.csv": f"Nursery, {_UCI}/76",
    "primary_tumor.csv": f"Primary Tumor, {_UCI}/83",
    "smoking_waves.csv": f"{_GRUDER}, one row a subject with its four waves",
    "soybean.csv": f"Soybean (Large), training and test rows, {_UCI}/90",
    "spect.csv": f"SPECT Heart, training and test rows, {_UCI}/95",
    "votes.csv": f"Congressional Voting Records, {_UCI}/105",
    "networks/bnrep_foodallergy1.bif": "network foodallergy1 of the R package bnRep",
    "networks/surrogate_breast8.bif": (
        f"{_STAND_IN} 8 binary variables, from Breast Cancer, {_UCI}/14"
    ),
    "networks/surrogate_prostate11_tan.bif": (
        f"{_STAND_IN} 11 binary variables, from Hepatitis, {_UCI}/46"
    ),
}


def digest(content: bytes) -> str:
    """Give the beginning of a SHA-256, the checksum of raw rows.

    Examples
    --------
    >>> digest(b"abc")
    'ba7816bf8f01'
    """
    return hashlib.sha256(content).hexdigest()[:12]


def network_files(name: str) -> tuple[str, ...]:
    """Give the files that a network needs: none when it ships with the package."""
    return () if name in available_networks() else (f"networks/{name}.bif",)


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The folder that holds the data; None when none was named.

    Examples
    --------
    >>> DataFolder(None).network("asia")            # ships with the package
    Network(8 variables, 8 arcs, 18 parameters)
    >>> DataFolder(None).table("car.csv")
    Traceback (most recent call last):
    ...
    bayesmend.errors.DataError: no folder of data is named. Name one with --data ...
    """

    path: Path | None

    @classmethod
    def find(cls, path: Path | None = None) -> DataFolder:
        """Take the folder given, or the one that the environment names."""
        named = os.environ.get(VARIABLE)
        return cls(path or (Path(named) if named else None))

    def check(self, files: Iterable[str]) -> None:
        """Raise DataError, naming a public source for each file that is not there."""
        absent = [file for file in files if not self._is_there(file)]
        if not absent:
            return
        wanted = "; ".join(f"{name} ({_source(name)})" for name in absent)
        if self.path is None:
            lack = (
                f"no folder of data is named. Name one with --data or {VARIABLE}, with "
                "these files in it"
            )
        else:
            lack = f"folder '{self.path}' lacks data. Put there"
        message = f"{lack}: {wanted}. How to prepare each: {GUIDE}."
        raise DataError(message)

    def table(self, file: str) -> IncompleteData:
        """Read a table; every column is text."""
        self.check([file])
        return _read_table(self._place(file))

    def network(self, name: str) -> Network:
        """Read a network; those that ship with the package need no folder."""
        files = network_files(name)
        self.check(files)
        return _read_network(self._place(*files)) if files else load_network(name)

    def checksums(self, files: Iterable[str]) -> dict[str, str]:
        """Give the beginning of the SHA-256 of files, the same packed or not."""
        files = sorted(files)
        self.check(files)
        return {file: _checksum(self._place(file)) for file in files}

    def _place(self, file: str) -> Path:
        assert self.path is not None
        packed = self.path / f"{file}.gz"
        return packed if packed.exists() else self.path / file

    def _is_there(self, file: str) -> bool:
        return self.path is not None and self._place(file).is_file()


def _source(file: str) -> str:
    if file in SOURCES:
        return SOURCES[file]
    path = Path(file)
    is_network = path.suffix == ".bif"
    return f"{path.stem.upper()}, {_BNLEARN}" if is_network else "a file of your own"


@lru_cache(maxsize=64)
def _checksum(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return digest(content)


@lru_cache(maxsize=16)  # each run reads its table anew, thousands of times
def _read_table(path: Path) -> IncompleteData:
    """Read a table whose columns are all variables, constants too, and none is cut."""
    names = [str(header) for header in CsvSource(path).headers]
    return IncompleteData.from_csv(path, columns=names, discretize=None)


_read_network = lru_cache(maxsize=16)(read_network)
