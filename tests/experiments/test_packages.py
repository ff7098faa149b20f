"""Packages that are not installed."""

import pytest

from bayesmend.errors import MissingDependencyError
from experiments.packages import need


def test_a_missing_package_is_named_with_its_installation():
    message = r"needs no_such_package\. .*pip install --group experiments"
    with pytest.raises(MissingDependencyError, match=message):
        need("no_such_package")
