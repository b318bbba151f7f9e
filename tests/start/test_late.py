"""What `import katapi` leaves for later is there when it is asked for."""

import subprocess
import sys

import pytest

import katapi

LATER = """
import sys
import katapi
before = {name for name in sys.modules if name.startswith("katapi.runtime.tensors")}
assert set(katapi.__all__) <= set(dir(katapi))
from katapi import *
print(*sorted(before), batch is katapi.batch, "batch" in vars(katapi))
"""


def test_every_exported_name_is_there() -> None:
    for name in katapi.__all__:
        assert getattr(katapi, name) is getattr(katapi, name)


def test_nothing_of_it_is_imported_before() -> None:
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True True\n", "")


def test_a_submodule_is_there_without_an_import_of_its_own() -> None:
    code = "import katapi, sys; assert 'katapi.foreign' not in sys.modules; print(katapi.foreign.of_text.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("of_text\n", "")


def test_what_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(katapi, "no_such_name")
    with pytest.raises(AttributeError, match="module 'katapi' has no attribute 'no_such_name'"):
        katapi.no_such_name  # type: ignore[attr-defined]  # noqa: B018
