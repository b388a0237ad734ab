"""Online continual object detection from video in which few frames are labelled.

`__init__.pyi` beside this file lists the public names. Each is imported when it is first used, so that `import leocod`
and `leocod --help` do not wait for torch.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
