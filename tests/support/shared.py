"""Where the data of others lie, for the tests that need them."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("BAYESMEND_DATA", ROOT.parent / "shared" / "data"))
