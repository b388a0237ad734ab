"""What tests of weights share."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def detectron2() -> ModuleType:
    """Detectron2's R50-C4 in plain functions: the reference that the tests of networks use."""
    file = Path(__file__).parent.parent / "networks" / "detectron2_reference.py"
    spec = spec_from_file_location("detectron2_reference", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
