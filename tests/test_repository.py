"""What holds for the repository as a whole."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import leocod
from leocod.run.config import load_config

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "leocod"
MODULES = sorted(file for file in SOURCE.rglob("*.py") if not file.name.startswith("__"))


@pytest.mark.parametrize("module", MODULES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_every_module_has_its_test(module: Path) -> None:
    inside = module.relative_to(SOURCE)

    assert (ROOT / "tests" / inside.parent / f"test_{inside.name}").is_file()


@pytest.mark.parametrize("file", sorted((SOURCE / "run" / "configs").glob("*.yaml")), ids=lambda file: file.name)
def test_every_config_loads(file: Path) -> None:
    load_config(file)


def test_public_names_are_all_there_and_are_what_they_say() -> None:
    stub = (SOURCE / "__init__.pyi").read_text(encoding="utf-8")
    names = re.findall(r"^from \.[\w.]+ import (\w+) as (\w+)$", stub, flags=re.MULTILINE)

    assert {*leocod.__all__} == {name for name, _ in names} | {"__version__"}
    assert all(name == public for name, public in names)
    for name in leocod.__all__:
        assert getattr(leocod, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = leocod.nothing


@pytest.mark.parametrize(
    "statement",
    [
        "import leocod",
        "from typer.testing import CliRunner; import leocod.cli.main as c; CliRunner().invoke(c.app, ['-h'])",
    ],
)
def test_the_front_door_opens_without_torch(statement: str) -> None:
    check = "import sys; assert not {'torch', 'matplotlib', 'numpy'} & set(sys.modules)"

    subprocess.run([sys.executable, "-c", f"{statement}; {check}"], check=True, env=_environment())


def test_python_m_leocod_is_leocod() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "leocod", "--version"], check=True, env=_environment(), capture_output=True, text=True
    )

    assert done.stdout.strip() == f"leocod {leocod.__version__}"


def test_no_file_speaks_of_the_machine_it_was_written_on() -> None:
    homes = re.compile(r"(?<![\w.])/(?:home|Users|root|tmp|work)/\w+")
    texts = [
        file
        for pattern in (
            "*.md",
            "*.toml",
            "*.txt",
            "Makefile",
            ".ci/*",
            ".*.yaml",
            "docs/**/*.md",
            "docs/*.ipynb",
            "src/**/*.py",
            "src/**/*.yaml",
        )
        for file in ROOT.glob(pattern)
        if file.is_file()
    ]

    assert texts
    assert [file.name for file in texts if homes.search(file.read_text(encoding="utf-8"))] == []


def test_every_module_stays_readable_in_one_sitting() -> None:
    lengths = {str(file.relative_to(SOURCE)): len(file.read_text(encoding="utf-8").splitlines()) for file in MODULES}

    assert {name: length for name, length in lengths.items() if length > 300} == {}


def test_every_function_holds_one_thought() -> None:
    functions = [
        (f"{file.relative_to(SOURCE)}:{node.name}", 1 + (node.end_lineno or 0) - node.body[0].lineno)
        for file in MODULES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]

    # Counted without the signature: that of a command lists its options.
    assert {name: length for name, length in functions if length > 50} == {}


def test_few_files_stand_at_the_top() -> None:
    assert len(list(SOURCE.glob("*.py"))) <= 12


RUNS_CODE = {
    *("eval", "exec", "compile", "__import__", "breakpoint"),
    *("os.system", "os.popen", "pty.spawn", "code.interact", "runpy.run_path", "runpy.run_module"),
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads", "shelve.open"),
    *("joblib.load", "dill.load", "dill.loads", "cloudpickle.load", "cloudpickle.loads", "pandas.read_pickle"),
    *("yaml.unsafe_load", "yaml.full_load", "yaml.load_all", "yaml.unsafe_load_all", "yaml.full_load_all"),
    *("torch.hub.load", "torch.package.PackageImporter", "shutil.unpack_archive"),
}
"""Calls that run, or may run, what is in a file or a text."""

KNOWN_TO_BE_SAFE = {
    ("src/leocod/weights/pickles.py", "pickle.Unpickler"): "refuses whatever arrays do not need",
    ("src/leocod/files/documents.py", "yaml.load"): "its loader is a SafeLoader",
    ("src/leocod/export/formats.py", "torch.jit.load"): "reads what it has just written",
}


def _calls(file: Path) -> Iterator[tuple[str, ast.Call | ast.ClassDef]]:
    """Everything that is called or inherited from, under its full name, whatever it was imported as."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            # `import os.path` brings the name `os`.
            whole = {one.asname: one.name for one in node.names if one.asname}
            imported |= whole | {name: name for one in node.names for name in one.name.split(".")[:1] if not one.asname}
        elif isinstance(node, ast.ImportFrom):
            imported |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    for node in ast.walk(tree):
        used = [node.func] if isinstance(node, ast.Call) else node.bases if isinstance(node, ast.ClassDef) else []
        for one in used:
            first, *rest = ast.unparse(one).split(".")
            yield ".".join([imported.get(first, first), *rest]), node


def _is_dangerous(name: str, node: ast.Call | ast.ClassDef) -> bool:
    given = {one.arg: ast.unparse(one.value) for one in node.keywords}
    last = name.rpartition(".")[2]
    return (
        name in RUNS_CODE
        or name in {"yaml.load", "torch.jit.load"}
        or (name == "torch.load" and given.get("weights_only") != "True")
        or (name in {"numpy.load", "numpy.lib.format.read_array"} and given.get("allow_pickle", "False") != "False")
        or given.get("shell", "False") != "False"
        or (last in {"extract", "extractall"} and "." in name)
    )


def test_nothing_that_is_read_can_become_code() -> None:
    folders = ("src", "bench", "results", "examples", "fuzz", "soak")
    found = {
        (str(file.relative_to(ROOT)), name)
        for folder in folders
        for file in (ROOT / folder).rglob("*.py")
        for name, node in _calls(file)
        if _is_dangerous(name, node)
    }

    assert found - KNOWN_TO_BE_SAFE.keys() == set()
    # An exception that is not one any more is taken off the list.
    assert KNOWN_TO_BE_SAFE.keys() - found == set()


@pytest.mark.parametrize(
    "line",
    [
        "eval('1')",
        "import pickle as p\np.loads(b'')",
        "from pickle import load as read\nread(file)",
        "import torch\ntorch.load(file)",
        "import torch\ntorch.load(file, weights_only=False)",
        "import yaml\nyaml.load(text, yaml.Loader)",
        "import subprocess\nsubprocess.run('ls', shell=True)",
        "import zipfile\nzipfile.ZipFile(file).extractall()",
        "import numpy as np\nnp.load(file, allow_pickle=True)",
        "import os.path\nos.system('ls')",
    ],
)
def test_code_that_would_run_what_it_reads_is_noticed(line: str, tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text(line)

    assert any(_is_dangerous(name, node) for name, node in _calls(tmp_path / "file.py"))


@pytest.mark.parametrize(
    "line",
    ["model.eval()", "import re\nre.compile('a')", "import torch\ntorch.load(file, weights_only=True)", "evaluate()"],
)
def test_harmless_code_is_not_taken_for_it(line: str, tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text(line)

    assert not any(_is_dangerous(name, node) for name, node in _calls(tmp_path / "file.py"))


NOT_ON_WINDOWS = re.compile(
    r"(?:fcntl|grp|pwd|resource|termios|posix|pty)\b.*"
    r"|os\.(?:fork\w*|get\w*[ug]ids?|kill|killpg|mkfifo|nice|O_(?:DIRECTORY|NOFOLLOW|SYNC)|sched_\w+|set(?:pgrp|pgid|sid)|statvfs"
    r"|sysconf|uname|wait\w*)"
    r"|signal\.(?:alarm|pause|pthread_\w+|setitimer|SIG(?:ALRM|CHLD|HUP|KILL|QUIT|USR1|USR2)|sigwait)"
)
"""Names of the standard library that Windows does not have, or that do something else there."""

GUARDED = {
    ("cli/options.py", "os.sched_getaffinity"): "asked for by hasattr",
    ("ctrl_c.py", "signal.pthread_sigmask"): "asked for by hasattr",
    ("paper/processes.py", "os.kill"): "ends the process at once on Windows; the next command resumes the run",
    ("paper/processes.py", "os.setpgrp"): "asked for by hasattr",
    ("run/peak_ram.py", "resource"): "imported where it is, or not at all",
    ("run/peak_ram.py", "resource.RUSAGE_SELF"): "after the import",
    ("run/peak_ram.py", "resource.getrusage"): "after the import",
    ("run/peak_ram.py", "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss"): "after the import",
    ("stream/prefetch.py", "signal.SIGCHLD"): "asked for by hasattr",
}


def test_nothing_that_windows_does_not_have_is_used_without_a_guard() -> None:
    found = {
        (file.relative_to(SOURCE).as_posix(), name)
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for name in _names(node)
        if NOT_ON_WINDOWS.fullmatch(name)
    }

    assert found == GUARDED.keys()


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{one.name}" for one in node.names]
    return [ast.unparse(node)] if isinstance(node, ast.Attribute) else []


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": str(ROOT / "src"), "PATH": ""}
