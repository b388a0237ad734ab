"""How many examples a property is tried on: the same ones in every run, or, with LEOCOD_EXAMPLES, many new ones.

LEOCOD_EXAMPLES=2000 tries each property on 2000 examples that no run has tried before.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

EXAMPLES = os.environ.get("LEOCOD_EXAMPLES")

settings.register_profile(
    "properties", deadline=None, derandomize=not EXAMPLES, max_examples=int(EXAMPLES or 50), print_blob=bool(EXAMPLES)
)
settings.load_profile("properties")

# What the tests share lies beside them and is no package to import from; it is needed before any fixture is made.
sys.path.insert(0, str(Path(__file__).parent))
