"""Guards in Python, as a file, as a JSON Schema and as a C++ header agree with each other, and with an oracle."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.guarded_requests import Case, cases, feeds, is_allowed, random_feed
from helpers.seeds import seed_of
from ov_gather.guards import cpp_header, json_schema, python_file
from ov_gather.guards.written import WrittenModel, identifiers

pytestmark = pytest.mark.openvino
MODEL = WrittenModel("model.xml", {".xml": "0" * 64}, {})
RELAXED = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))


def message_of(check, feed):
    """What a check says of a request; empty if it passes."""
    try:
        check(feed)
    except ValueError as error:
        return str(error) or "refused"
    return ""


def checked(text):
    """The function `check` of a guard.py."""
    names = {"__name__": "guard"}
    exec(compile(text, "guard.py", "exec"), names)
    return names["check"]


@RELAXED
@given(st.data())
def test_the_guard_and_its_file_say_what_the_oracle_says(data):
    case = data.draw(cases())
    check = checked(python_file.render(case.terms, MODEL))
    for _ in range(6):
        feed = data.draw(feeds(case))
        message = message_of(case.guard, feed)
        assert (message == "") == is_allowed(case, feed), message
        assert message_of(check, feed) == message


@pytest.mark.exhaustive
@RELAXED
@given(st.data())
def test_a_schema_refuses_what_it_can_say(data):
    jsonschema = pytest.importorskip("jsonschema")
    case = data.draw(cases())
    schema = json.loads(json_schema.render(case.terms, MODEL))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    says_all = not set(schema.get("$comment", "").splitlines()[1:]) - {"    arrays inside of an array have the same length"}
    for _ in range(6):
        feed = data.draw(feeds(case))
        body = body_of(case, feed)
        if body is None:
            continue
        is_valid = validator.is_valid(body)
        if is_allowed(case, feed):
            assert is_valid, list(validator.iter_errors(body))
        else:
            assert not (says_all and is_valid)


def body_of(case, feed):
    """A request as JSON; None if JSON cannot say it: other types, NaN, bytes that are no boolean, shapes of empty arrays."""
    body = {}
    for name, array in feed.items():
        kind, _ = case.inputs.get(name, ("", None))
        if array.dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            return None
        if array.dtype == np.int16 or (array.size == 0 and array.ndim > 1) or (kind and array.dtype.kind == "O"):
            return None
        numbers = array.astype(np.float64) if array.dtype.kind not in "iub" else array
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            return None
        body[name] = numbers.tolist()
    return body


MAIN = """
#include "guard.hpp"
#include <fstream>
#include <iostream>
std::vector<std::vector<char>> kept;
template <typename T>
void read(std::ifstream& file, guard::Input<T>& input) {
    std::int64_t rank, bytes;
    file.read(reinterpret_cast<char*>(&rank), 8);
    input.shape.resize(static_cast<std::size_t>(rank));
    for (auto& size : input.shape) file.read(reinterpret_cast<char*>(&size), 8);
    file.read(reinterpret_cast<char*>(&bytes), 8);
    kept.emplace_back(static_cast<std::size_t>(bytes));
    file.read(kept.back().data(), bytes);
    input.data = reinterpret_cast<const T*>(kept.back().data());
}
int main() {
    std::ifstream file("feeds.bin", std::ios::binary);
    while (file.peek() != EOF) {
        guard::Request request;
        READS
        try {
            guard::check(request);
            std::cout << "pass" << std::endl;
        } catch (const std::invalid_argument& error) {
            std::cout << error.what() << std::endl;
        }
    }
}
"""
CASES = (
    Case(
        {"ids": ("i64", [(0, -1), (0, -1)]), "x:0": ("f32", [(0, -1), (3, 3)])}, [{"ids": ("-dim(x:0, 0)", "dim(x:0, 0) - 1")}]
    ),
    Case({"class": ("u64", None), "ß": ("u8", [(0, 3)])}, [{"class": (0, 9), "ß": (1, 5)}, {"dim(ß, 0)": (1, None)}]),
    Case(
        {"m": ("boolean", [(0, -1)]), "f": ("f16", [(0, -1)]), "b": ("bf16", [(1, 4)])},
        [{"m": (0, 1)}, {"f": (-65504.0, 65504.0), "b": (None, "max(dim(m, 0) * dim(f, 0) - 1, 3)")}],
    ),
    Case(
        {"a b": ("i8", [(0, -1), (1, 4)]), "d": ("f64", [(0, -1)])},
        [{"a b": (-3, "min(dim(d, 0)^2 - 1, 7)"), "d": (None, None)}, {"dim(a b, 0) * dim(d, 0)": (None, 9)}],
    ),
    Case(
        {"i": ("i32", [(0, -1)]), "j": ("i32", [(0, -1)])},
        [{"dim(i, 0)": ("dim(j, 0)", None), "i": (-2147483648, 8)}, {"dim(i, 0) + dim(j, 0)": (None, 7)}],
    ),
    Case({"name": ("f32", [])}, []),
)


@pytest.mark.sampled(1)
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_header_says_what_the_guard_says(number, tmp_path):
    case, rng = CASES[number], np.random.default_rng([seed_of(311_000_000), number])
    good = {*case.inputs}
    requests = [random_feed(case, rng) for _ in range(400)]
    requests = [one for one in requests if set(one) == good and all(array.dtype != np.int16 for array in one.values())]
    program = built(case, tmp_path)
    with (tmp_path / "feeds.bin").open("wb") as file:
        for one in requests:
            for array in (one[name] for name in case.inputs):
                file.write(np.array([array.ndim, *array.shape, array.nbytes], np.int64).tobytes() + array.tobytes())
    said = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(said) == len(requests)
    for one, line in zip(requests, said, strict=True):
        message = message_of(case.guard, one)
        assert (line == "pass") == (message == ""), (message, line)
        if line != "pass" and "has shape" not in message and all(array.dtype.kind in "iu" for array in one.values()):
            assert line == message
    assert {line == "pass" for line in said} == ({True} if not case.requires else {True, False})


def built(case, folder: Path):
    (folder / "guard.hpp").write_text(cpp_header.render(case.terms, MODEL, "guard"), encoding="utf-8")
    fields = (f"read(file, request.{plain}_);" for plain in identifiers(case.inputs).values())
    (folder / "main.cpp").write_text(MAIN.replace("READS", "\n        ".join(fields)))
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run(["g++", *flags, "main.cpp", "-o", "main"], cwd=folder, check=True)
    return str(folder / "main")


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize(("kind", "dtype"), [("f32", np.float32), ("f64", np.float64), ("f16", np.float16)])
def test_a_header_writes_floats_that_can_be_read_back(tmp_path, kind, dtype):
    """The refused element and both bounds, bit by bit."""
    low, high = 1.0 + 2**-52, 1.0 + 2**-51
    program = built(Case({"x": (kind, [(1, 1)])}, [{"x": (low, high)}]), tmp_path)
    elements = np.array([-1e-7, 2 / 3, 0.1, 65504, 2**-24, -3], dtype)
    with (tmp_path / "feeds.bin").open("wb") as file:
        for element in elements:
            file.write(np.array([1, 1, element.nbytes], np.int64).tobytes() + element.tobytes())
    said = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    for element, line in zip(elements, said, strict=True):
        numbers = re.match(r"x\[0\] = (\S+) is out of bounds \(valid (\S+)\.\.(\S+)\)", line)
        assert numbers, line
        assert dtype(numbers[1]) == element
        assert [float(numbers[2]), float(numbers[3])] == [low, high]


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_a_header_counts_no_elements_of_an_empty_input_with_large_sizes(tmp_path):
    case = Case({"x": ("i32", None)}, [{"x": (0, 9)}])
    (tmp_path / "guard.hpp").write_text(cpp_header.render(case.terms, MODEL, "guard"), encoding="utf-8")
    shape = ", ".join(["4000000000000"] * 40)
    main = f'#include "guard.hpp"\nint main() {{ guard::Request one; one.x_.shape = {{{shape}, 0}}; guard::check(one); }}\n'
    (tmp_path / "main.cpp").write_text(main)
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["g++", *flags, "main.cpp", "-o", "main"], cwd=tmp_path, check=True)
    subprocess.run([str(tmp_path / "main")], cwd=tmp_path, check=True)


def test_time_grows_with_the_number_of_inputs_and_no_faster():
    def seconds(count):
        start = process_time()
        case = Case({f"é{number}": ("i64", [(0, -1)]) for number in range(count)}, [{f"é{n}": (0, 9)} for n in range(count)])
        made = process_time()
        cpp_header.render(case.terms, MODEL, "guard")
        check = checked(python_file.render(case.terms, MODEL))
        json_schema.render(case.terms, MODEL)
        for one in (case.guard, check):
            message_of(one, {f"{number}": 0 for number in range(count)})
        return made - start, process_time() - made

    def least(count, times):  # other work on the machine takes the caches
        return map(min, zip(*(seconds(count) for _ in range(times)), strict=True))

    for few, many in zip(least(250, 4), least(2000, 2), strict=True):
        assert many < 40 * few  # 8 times as many inputs; 64 if each input looked at all others
