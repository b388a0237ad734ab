"""Pages for files that lie outside docs/, and links that hold on the site as they hold in the repository.

A page of docs/ may link to any file of the repository. A Markdown file becomes a page of its own, a source file a page
that shows it, a folder a list of its files, and all else is copied. So every link leads somewhere on the site.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))")
"""A target within the repository: no address, no bare anchor."""
LANGUAGES = {".py": "python", ".yaml": "yaml", ".toml": "toml"}
"""Source files that are shown on a page."""
NOTEBOOK = ".ipynb"
"""Shown on a page of the same name."""
OUTSIDE = "repository"
"""The folder of the site for what lies outside docs/."""
FENCE = "`````"


@dataclass(frozen=True)
class Repository:
    """A source tree whose docs/ is the site's own folder."""

    root: Path

    def list_outside(self, first: list[str]) -> list[str]:
        """All paths outside docs/ that the pages of docs/ and these first paths link to, and so on. Sorted."""
        waiting = [*first, *(self._name(page) for page in sorted(self.root.glob("docs/**/*.md")))]
        seen: set[str] = set()
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting.extend(self._list_targets(path))
        inside = {path for path in seen if path.startswith("docs/") and (self.root / path).is_file()}
        return sorted(seen - inside)

    def uri(self, path: str) -> str:
        """Where a path of the repository is on the site, as the path of its source: Markdown, or the file itself."""
        uri = path.removeprefix("docs/") if path.startswith("docs/") else f"{OUTSIDE}/{path}"
        if (self.root / path).is_dir():
            return f"{uri}/README.md" if (self.root / path / "README.md").exists() else f"{uri}/index.md"
        if path.endswith(NOTEBOOK):
            return f"{uri.removesuffix(NOTEBOOK)}.md"
        return f"{uri}.md" if PurePosixPath(path).suffix in LANGUAGES else uri

    def write_page(self, path: str) -> str | None:
        """The Markdown of a page outside docs/; None for a file that is copied as it is."""
        file = self.root / path
        if file.is_dir():
            return self._write_list(path)
        if file.suffix == ".md":
            return self.rewrite_links(path, file.read_text(encoding="utf-8"))
        if file.suffix in LANGUAGES:
            return f"# {path}\n\n{FENCE}{LANGUAGES[file.suffix]}\n{file.read_text(encoding='utf-8')}\n{FENCE}\n"
        return None

    def rewrite_links(self, path: str, text: str) -> str:
        """The text of a Markdown file with its links as the site needs them. What leads nowhere stays as it is."""
        here = posixpath.dirname(self.uri(path))

        def rewrite(match: re.Match[str]) -> str:
            target = _join(path, match["target"])
            if not (self.root / target).exists():
                return match[0]
            return posixpath.relpath(self.uri(target), here or ".") + (match["anchor"] or "")

        return LINK.sub(rewrite, text)

    def _list_targets(self, path: str) -> Iterator[str]:
        file = self.root / path
        if file.is_dir():
            yield from (self._name(inner) for inner in _list_files(file))
        elif file.suffix == ".md":
            targets = (_join(path, match["target"]) for match in LINK.finditer(file.read_text(encoding="utf-8")))
            yield from (target for target in targets if (self.root / target).exists())

    def _write_list(self, path: str) -> str:
        """A list of the files of a folder, each under its title or name."""
        here = posixpath.dirname(self.uri(path))
        lines = []
        for file in _list_files(self.root / path):
            title = _read_title(file) if file.suffix == ".md" else f"`{file.name}`"
            lines.append(f"- [{title}]({posixpath.relpath(self.uri(self._name(file)), here)})")
        title = PurePosixPath(path).name.replace("_", " ").capitalize()
        return f"# {title}\n\n" + "\n".join(lines) + "\n"

    def _name(self, file: Path) -> str:
        return file.relative_to(self.root).as_posix()


def _join(path: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def _list_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith((".", "_")))


def _read_title(file: Path) -> str:
    return file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
