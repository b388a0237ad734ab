"""The world behind the `wander` benchmark: places, the things in them, and a wearer's camera that walks through."""
