"""What tests of networks share."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def detectron2() -> ModuleType:
    """The functions of detectron2_reference.py, which lies beside the tests and is no package to import from."""
    spec = spec_from_file_location("detectron2_reference", Path(__file__).with_name("detectron2_reference.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
