"""The rooms of the house know each other in one direction only, and no module imports itself by a detour."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from helpers.import_graph import PACKAGES, Import, imports, modules
from helpers.paths import ROOT

FLOORS = {
    name: floor
    for floor, names in enumerate(
        [
            # What a room stands on is in the lines above its own; rooms in one line do not know each other.
            ("_native",),
            ("system",),
            ("extension",),
            ("ir",),
            ("graph",),
            ("kernels",),
            ("ops",),
            ("plugin",),
            ("ranges", "divergences"),
            ("rules", "acceleration", "guards"),
            ("runtimes",),
            ("converters",),
            ("crosscheck",),  # crosscheck converts the ONNX models that it checks
            ("", "bench"),  # "": the public interface, which bench measures
            ("workers",),
            ("report",),
            ("cli",),
            ("__main__",),
        ]
    )
    for name in names
}


def room(module: str) -> str:
    """The folder, or the module at the top, that a module belongs to; "" for the package itself, which offers what all have."""
    return module.partition(".")[2].partition(".")[0]


@pytest.fixture(scope="module")
def found() -> list[Import]:
    known = modules()
    return [line for module, path in known.items() if path.suffix == ".py" for line in imports(module, path, known)]


def test_imports_are_seen(found):
    """The tests of arrows would prove nothing if no import were read."""
    pairs = {(line.module, line.imported) for line in found}
    assert ("ov_gather.cli.explain", "ov_gather.divergences.register") in pairs
    assert ("ov_gather.converters.passes.fold_broadcast", "ov_gather.converters.graphs") in pairs
    assert len(pairs) > 400


def test_every_room_has_a_floor():
    assert {room(module) for module in modules()} <= FLOORS.keys()


def test_arrows_go_one_way(found):
    against = [f"{line.place}: {room(line.module)} imports {line.imported}" for line in found if is_against(line)]
    assert not against, "\n".join(against)


def test_no_circle(found):
    users: dict[str, set[str]] = {}
    for line in found:
        if room(line.module):  # the package itself imports lazily, by name
            users.setdefault(line.module, set()).add(line.imported)
    try:
        TopologicalSorter(users).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
        lines = {(line.module, line.imported): line.place for line in found}
        pytest.fail("a circle of imports:\n" + "\n".join(f"{lines[pair]}: imports {pair[1]}" for pair in pairwise(circle)))


def sources() -> list[Path]:
    """All Python sources of the package and of its tests."""
    return [path for folder in (*PACKAGES.values(), ROOT / "tests") for path in folder.rglob("*.py")]


def test_no_loop_variable_is_called_it():
    """Loop variables and parameters bear the name of the thing that they stand for."""
    nameless = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            is_bound = isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
            if is_bound and "it" in (getattr(node, "id", ""), getattr(node, "arg", "")):
                nameless.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not nameless, "\n".join(nameless)


def is_against(line: Import) -> bool:
    """Whether an import goes up, or beside into another room of the same floor."""
    user, used = room(line.module), room(line.imported)
    if user in ("", used):  # the public interface imports lazily what it offers
        return False
    return FLOORS[used] > FLOORS[user] or (FLOORS[used] == FLOORS[user] and used != "")


def test_few_things_stand_at_the_top():
    top = [path for path in (ROOT / "ov_gather").iterdir() if not path.name.startswith(("_", "."))]
    assert len([path for path in top if path.is_dir()]) <= 19
    assert not [path for path in top if path.suffix == ".py"]


def test_all_that_is_printed_goes_through_one_place():
    """cli/output.py prints, and system/tables.py makes the cells of tables: both escape the names of models."""
    forbidden = re.compile(
        r"\bclick\.s?echo\(|(?<!\.)\bprint\(|\bConsole\(|\bText\(|sys\.(stdout|stderr)\.write\(|click\.secho"
    )
    allowed = {
        "ov_gather/cli/output.py",
        "ov_gather/system/tables.py",
        "ov_gather/extension/compiling.py",  # a bar without names
        "ov_gather/bench/validation.py",  # the text of a process that is measured
    }
    places = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in modules().values()
        if path.suffix == ".py" and str(path.relative_to(ROOT)) not in allowed
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if forbidden.search(line)
    ]
    assert not places, "\n".join(places)


def test_a_class_name_has_one_meaning():
    places: dict[str, list[str]] = {}
    for module, path in modules().items():
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(module)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_pages_named_in_docstrings_exist():
    named = {
        page
        for folder in PACKAGES.values()
        for path in folder.rglob("*.py")
        for page in re.findall(r"\bdocs/[\w/]+\.md\b", path.read_text(encoding="utf-8"))
    }
    assert sorted(page for page in named if not (ROOT / page).exists()) == []
