"""The same questions get the same answers as ever.

``tests/answers.json`` holds the answers to the calls of ``support/answers.py``. Where
an answer is meant to change, or a call is added, record anew and read the difference::

    python tests/test_answers.py --record
"""

import json
import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from support.answers import CASES

RECORD = Path(__file__).with_name("answers.json")


def approximately(recorded):
    """Words and counts as they are, measured numbers up to rounding."""
    if isinstance(recorded, dict):
        return {key: approximately(value) for key, value in recorded.items()}
    if isinstance(recorded, list):
        return [approximately(value) for value in recorded]
    if isinstance(recorded, float):
        return pytest.approx(recorded, rel=1e-9, abs=1e-9)
    return recorded


@pytest.fixture(scope="module")
def record():
    return json.loads(RECORD.read_text(encoding="utf-8"))


def test_the_record_holds_every_call_and_no_other(record):
    assert list(record) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_that_of_the_record(record, name):
    assert CASES[name]() == approximately(record[name])


def write_record():
    lines = [
        f"{json.dumps(name)}: {json.dumps(call())}" for name, call in CASES.items()
    ]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    assert sys.argv[1:] == ["--record"], __doc__
    write_record()
