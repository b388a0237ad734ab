"""Learn from a video while a person labels a little of it in the browser, and export the detector at the end.

    python examples/live_from_video.py kitchen.mp4

This is `leocod live kitchen.mp4 --labels-per-step 2 --classes mug,kettle` in Python, with an export after it. Stop it
with Ctrl-C; started again, it goes on where it was.
"""

from __future__ import annotations

import sys
from pathlib import Path

from leocod.export.export import export
from leocod.live.run import load_live_config, serve

RUN = Path("runs/live_from_video")


def main(video: str, run: Path = RUN, port: int = 0) -> Path | None:
    """Serve the page until Ctrl-C; then write the detector. Without a label there is none to write."""
    config = load_live_config(run, [{"benchmark": {"source": video, "loop": True}}, {"labels": {"per_step": 2}}])
    serve(config, run, classes=["mug", "kettle"], port=port, tell=print)
    if not any((run / "frames").glob("*.jpg")):
        return None
    file, comparison = export(run, "safetensors", pictures=run / "frames")
    print(f"{file}: {comparison}")
    return file


if __name__ == "__main__":
    main(sys.argv[1])
