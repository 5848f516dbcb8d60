"""Declarations that end, crash or hang the process that executes them: no command passes, and each names the function."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import openvino as ov
import pytest

from helpers.paths import VALID
from helpers.preparing import prepared
from helpers.users_operations import PYTHON, write_model

DECLARATION = """import ctypes, os, threading, time
from ov_gather.ops.spec import *

TOP


def rule(value):
    RULE
    return value


SNAKE = Operation(
    type="Snake",
    opset="example",
    inputs=[Input("x", types=("f32",))],
    attributes=[Attribute("alpha", kind="float", default=1.0, valid_range=lambda shapes: rule((0.1, 100)))],
    infer_types=lambda types: [rule(types[0])],
    infer_shapes=lambda shapes, attributes: [rule(shapes[0])],
    reference=lambda inputs, attributes: [rule(inputs[0])],
)
"""
LINES = {"infer_types": 17, "infer_shapes": 18, "valid_range of alpha": 16}
COMMANDS = ["validate model.xml", "validate model.xml --format json", "prove model.xml", "fix --diff model.xml"]
WITH_LIMIT = "from ov_gather.system import supervision; supervision.LIMIT = 1.0; from ov_gather.cli import main; main()"


@pytest.fixture
def written(tmp_path):
    """A function that writes a model, and declarations with this line in a rule, or at the top of the file."""

    def write(rule="pass", top=""):
        (tmp_path / "ops.py").write_text(DECLARATION.replace("RULE", rule).replace("TOP", top))
        return write_model(tmp_path / "model.xml")

    return write


def started(*arguments, limited=False, first="pass", **options):
    """Start a command in a process of its own; `limited`: code of users may run for a second only; `first`: see `prepared`."""
    call = ["-c", WITH_LIMIT] if limited else ["-m", "ov_gather"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(prepared(first, [sys.executable, *call, *arguments]), **pipes, **options)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_rule_that_exits_is_no_success(command, written, refusal, tmp_path):
    written("os._exit(0)")
    said = refusal(*command.split(), "--ops", "ops.py", cwd=tmp_path)
    (name,) = (name for name, line in LINES.items() if f"ops.py:{line}: {name} of Snake-example " in said)
    where = f"{tmp_path}/ops.py:{LINES[name]}: {name} of Snake-example"
    assert said == f"error: {where} ends the process, with exit code 0: it must return\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_exits_is_no_success(command, written, refusal, tmp_path):
    written(top="os._exit(0)")
    said = refusal(*command.split(), "--ops", "ops.py", cwd=tmp_path)
    assert said == f"error: {tmp_path}/ops.py ends the process, with exit code 0: it must return\n"


def test_a_thread_that_exits_is_no_success(written, refusal, tmp_path):
    written("time.sleep(2)", top="threading.Timer(0.1, os._exit, (0,)).start()")
    assert "ops.py" in refusal("validate", "model.xml", "--ops", "ops.py", cwd=tmp_path)


def test_an_exit_handler_does_not_change_the_exit_code(written, cli, tmp_path):
    model = written(top="import atexit; atexit.register(os._exit, 0)")
    model.write_text(model.read_text().replace('alpha="0.5"', 'alpha="-1"'))
    done = cli("validate", "model.xml", "--ops", "ops.py", cwd=tmp_path, code=1)
    assert "OVG204" in done.stdout


def test_a_rule_that_crashes_is_named(written, refusal, tmp_path):
    written("ctypes.string_at(0)")
    said = refusal("validate", "model.xml", "--ops", "ops.py", cwd=tmp_path)
    assert said.endswith(" of Snake-example crashes: SIGSEGV: it must return\n")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("rule", ["while True: pass", "ctypes.PyDLL(None).sleep(1000)"])
def test_a_rule_that_hangs_ends_the_command(rule, written, tmp_path):
    """The second one holds the lock of the interpreter, so nothing else runs in its process."""
    written(rule)
    with started("validate", "model.xml", "--ops", "ops.py", limited=True, cwd=tmp_path) as process:
        said = process.communicate(timeout=60)
    assert (process.returncode, said[0]) == (2, "")
    assert said[1].endswith(" of Snake-example hangs: no answer within 1 s\n")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("rule", ["while True: pass", "ctypes.PyDLL(None).sleep(1000)"])
def test_a_signal_ends_a_rule_that_hangs(rule, number, written, tmp_path):
    written(f"(open('begun', 'w').close(), {rule})" if "while" not in rule else f"open('begun', 'w').close()\n    {rule}")
    heeding = "signal.signal(signal.SIGINT, signal.SIG_DFL)"
    with started("validate", "model.xml", "--ops", "ops.py", cwd=tmp_path, first=heeding) as process:
        end = time.monotonic() + 60
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        os.kill(process.pid, number)
        said = process.communicate(timeout=30)
    assert (process.returncode, *said) == (128 + number, "", "")


def test_nothing_is_left_if_the_command_is_killed(written, tmp_path):
    written("(open('pid', 'w').write(str(os.getpid())), time.sleep(1000))")
    with started("validate", "model.xml", "--ops", "ops.py", cwd=tmp_path) as process:
        end = time.monotonic() + 60
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < end
            time.sleep(0.05)
        process.kill()
        while True:
            try:
                os.kill(int((tmp_path / "pid").read_text()), 0)
            except ProcessLookupError:
                break
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.mark.exhaustive
def test_threads_of_a_declaration_do_not_keep_a_command(written, tmp_path):
    written(top="threading.Thread(target=time.sleep, args=(1000,)).start()")
    with started("validate", "model.xml", "--ops", "ops.py", cwd=tmp_path) as process:
        said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert said[0].endswith("notes: 0\n")


def test_a_fork_of_a_rule_does_not_report_twice(written, cli, tmp_path):
    written("os.fork()")
    done = cli("validate", "model.xml", "--ops", "ops.py", "--format", "json", cwd=tmp_path, code=0)
    assert json.loads(done.stdout)


@pytest.mark.exhaustive
def test_a_fork_of_a_rule_that_ends_later_does_not_hide_the_end(written, tmp_path):
    """A thread keeps the command for its grace, and the fork notes meanwhile that its rule is done."""
    written("os.fork() or time.sleep(1)", top="threading.Thread(target=time.sleep, args=(1000,)).start()")
    with started("validate", "model.xml", "--ops", "ops.py", cwd=tmp_path) as process:
        said = process.communicate(timeout=60)
    assert process.returncode == 0, said


@pytest.mark.sampled(1)
@pytest.mark.parametrize("where", ["rule", "top"])
def test_what_code_writes_to_a_descriptor_is_no_result(where, written, tmp_path):
    written(**{where: 'os.write(1, b"noise"), print("words"), os.system("echo more")'})
    with started("validate", "model.xml", "--ops", "ops.py", "--format", "json", cwd=tmp_path) as process:
        results, errors = process.communicate(timeout=60)
    assert json.loads(results)["findings"] == []
    assert all(words in errors for words in ("noise", "words", "more"))


def test_a_closed_pipe_is_no_error_of_a_supervised_command(written, tmp_path):
    written()
    with started("validate", "model.xml", "--ops", "ops.py", cwd=tmp_path) as process:
        process.stdout.close()
        process.stdout = None
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (2, "")


def test_in_several_processes_only_the_file_fails(written, cli, tmp_path):
    written("os._exit(0)")
    other = VALID / "spec_layer.xml"
    done = cli("validate", "model.xml", other, "--jobs", 2, "--ops", "ops.py", cwd=tmp_path, code=1)
    assert "model.xml: error OVG099" in done.stdout
    assert " of Snake-example ends the process, with exit code 0: it must return\n    correct the declaration\n" in done.stdout
    assert "files: 2, errors: 1," in done.stdout


LAYER = """<layer id="0" name="s" type="Snake" version="example">
<data alpha="1"/><input><port id="0"><dim>2</dim></port></input><output><port id="1"><dim>2</dim></port></output></layer>
"""


@pytest.fixture
def run(written, cli, tmp_path):
    """A function that runs one layer with this line in the reference."""

    def execute(line, layer=LAYER, ops="ops.py", **options):
        written()
        text = DECLARATION.replace("TOP", "").replace("RULE", "pass").replace("[rule(inputs[0])]", f"[({line}, inputs[0])[1]]")
        (tmp_path / "ops.py").write_text(text)
        (tmp_path / "layer.xml").write_text(layer)
        np.save(tmp_path / "x.npy", np.ones(2, np.float32))
        own = ["--ops", ops] if ops else []
        return cli("run", "layer.xml", "--input", "x=x.npy", "-o", "out.npy", *own, cwd=tmp_path, **options)

    return execute


def test_run_writes_where_it_was_started(run, tmp_path):
    run("os.chdir('/')", code=0)
    assert (tmp_path / "out.npy").exists()


def test_run_writes_once(run):
    assert run("os.fork()", code=0).stdout == "out.npy: float32[2]\n"


def test_run_ends_though_a_thread_does_not(run):
    assert run("threading.Thread(target=time.sleep, args=(1000,)).start()", code=0).stdout == "out.npy: float32[2]\n"


def test_run_names_a_reference_that_exits(run, tmp_path):
    done = run("os._exit(0)", code=2)
    where = f"{tmp_path}/ops.py:19: reference of Snake-example"
    assert done.stderr == f"error: {where} ends the process, with exit code 0: it must return\n"
    assert not (tmp_path / "out.npy").exists()


@pytest.mark.parametrize(
    ("value", "said"), [("1000", "alpha=1000.0 is out of range (0.1 to 100)"), ("x", "alpha: 'x' is not a number")]
)
def test_run_names_the_layer_of_a_wrong_attribute(value, said, run):
    done = run("0", layer=LAYER.replace('alpha="1"', f'alpha="{value}"'), code=2)
    assert done.stderr == f"error: layer.xml:1: Snake 's' (layer 0): {said}\n"


def test_run_says_how_a_layer_becomes_known(run):
    assert "it holds none; declare Snake of opset 'example' by --ops FILE.py\n" in run("0", ops="", code=2).stderr


def test_harden_says_how_a_layer_is_executed(written, refusal, tmp_path):
    written()
    said = refusal("harden", "model.xml", "--policy", "clamp", "--ops", "ops.py", cwd=tmp_path)
    assert said.endswith("from unsupported opset: example: give the library that has the operation by --extension\n")


@pytest.mark.skipif(not hasattr(ov, "DiscreteTypeInfo"), reason="this OpenVINO takes no operations in Python")
def test_check_names_a_library_that_lacks_the_operation(written, cli, tmp_path):
    written()
    (tmp_path / "classes.py").write_text(PYTHON.replace('DiscreteTypeInfo("Snake"', 'DiscreteTypeInfo("Other"'))
    options = ("--extension", "classes:Snake", "--runtimes", "openvino", "--cases", "2")
    done = cli("check", "model.xml", "--ops", "ops.py", *options, cwd=tmp_path, code=1)
    assert "library: FAILED (does not have the operation: Cannot create Snake layer" in done.stdout


def outcome_of(*arguments, **options):
    process = started(*arguments, **options)
    output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors


def test_a_caller_may_ignore_the_end_of_children(written):
    model = written()
    code, output, errors = outcome_of(
        "validate", model, "--ops", model.parent / "ops.py", first="signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
    )
    assert (code, errors) == (0, "") and "errors: 0" in output


EXITS = "class Exits(Exception):\n    def __str__(self):\n        __import__('sys').exit(0)"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("top", "rule"),
    [
        (EXITS, "raise Exits"),
        (EXITS + "\n\nraise Exits", "pass"),
        ("class Name(str):\n    def __eq__(self, other):\n        __import__('sys').exit(0)\n    __hash__ = str.__hash__", ""),
    ],
    ids=["error", "error of the file", "name"],
)
def test_an_exit_in_odd_places_is_no_success(written, top, rule):
    model = written(rule or "pass", top)
    if not rule:
        file = model.parent / "ops.py"
        file.write_text(file.read_text().replace('type="Snake"', 'type=Name("Snake")'))
    code, output, errors = outcome_of("validate", model, "--ops", model.parent / "ops.py")
    assert code and "ops.py" in output + errors, (code, output, errors)


def test_a_function_that_wraps_itself(written):
    model = written()
    file = model.parent / "ops.py"
    file.write_text(
        file.read_text() + "rule.__wrapped__ = rule\n" + "SNAKE = __import__('dataclasses').replace(SNAKE, reference=rule)\n"
    )
    assert outcome_of("validate", model, "--ops", file)[0] == 0


@pytest.mark.sampled(1)
@pytest.mark.parametrize("end", ["os._exit, 1", "os._exit, 7", "os.abort"])
def test_what_comes_after_the_command_does_not_change_its_exit_code(written, end):
    model = written(top=f"import atexit\natexit.register({end})")
    code, output, _ = outcome_of("validate", model, "--ops", model.parent / "ops.py")
    assert (code, "errors: 0" in output) == (0, True)


@pytest.mark.exhaustive
def test_a_hang_outside_of_functions_ends_after_a_signal(written):
    ignored = "import signal\nfor one in (1, 2, 15):\n    signal.signal(one, signal.SIG_IGN)\n\n"
    name = """class Name(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        IS_READ and open(__file__ + ".begun", "w").close()
        time.sleep(1000 * IS_READ)
"""
    model = written(top=f"IS_READ = False\n{ignored}{name}")
    file = model.parent / "ops.py"
    file.write_text(file.read_text().replace('type="Snake"', 'type=Name("Snake")') + "IS_READ = True\n")
    process = started("validate", model, "--ops", file)
    end = time.monotonic() + 60
    while not file.with_name("ops.py.begun").exists():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 143


def test_threads_declare_at_once(written, tmp_path):
    written()
    script = """
import sys, threading, ov_gather
found = []
def use():
    ov_gather.declare(sys.argv[1])
    found.append(len(ov_gather.validate(sys.argv[2])))
threads = [threading.Thread(target=use) for _ in range(8)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
assert found == [0] * 8, found
"""
    subprocess.run([sys.executable, "-c", script, tmp_path / "ops.py", tmp_path / "model.xml"], check=True, timeout=60)


def test_a_system_without_forks_says_once_that_nothing_is_supervised(written, tmp_path):
    model = written()
    (tmp_path / "second.xml").write_bytes(model.read_bytes())
    code = WITH_LIMIT.replace("supervision.LIMIT = 1.0", "supervision.HAS_FORKS = False")
    command = [sys.executable, "-c", code, "validate", "--ops", "ops.py", "model.xml", "second.xml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr.count("your operations run unsupervised on this system") == 1
    assert "files: 2, errors: 0" in done.stdout
