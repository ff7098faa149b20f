"""Check answers and proofs by other means than those that found them.

Nothing here imports what learns, scores or reads tables: a mistake there is not
repeated here.
"""

from bayesmend.verification.check import Verification, verify

__all__ = ["Verification", "verify"]
