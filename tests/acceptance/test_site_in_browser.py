"""The page of the site that validates an IR in the browser, as a user drops files on it; and its stand-in for NumPy."""

import json
import subprocess
import sys
import threading
from base64 import b64encode
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from shutil import which

import numpy as np
import pytest

from helpers.pages import LOWEST_CONTRAST
from helpers.paths import ROOT, VALID
from ov_gather.rules.mending import mend
from ov_gather.rules.validation import validate
from tools.docs_site import in_browser

INVALID = ROOT / "ir_samples" / "invalid"
NEGATIVE = ROOT / "ir_samples" / "divergent" / "negative-indices" / "onnx_page_3.xml"

FINDINGS = """
import json, sys
sys.modules.update(dict.fromkeys(("lxml", "ml_dtypes", "click", "rich", "ov_gather._native")))
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import numpy
from validating import mend, validate
assert numpy.__file__.startswith(sys.argv[1])
for path in map(Path, sys.argv[2:]):
    done = mend(path, unsafe=True)
    print(json.dumps([list(map(repr, validate(path))), list(map(repr, done.mended)), list(done.diff())]))
"""


def test_without_numpy_the_findings_and_fixes_are_the_same():
    """In all samples; the stand-in for NumPy is all that there is."""
    samples = sorted((ROOT / "ir_samples").rglob("*.xml"))
    command = [sys.executable, "-c", FINDINGS, in_browser.PAGE, *samples]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    differing = []
    for path, line in zip(samples, done.stdout.splitlines(), strict=True):
        mended = mend(path, unsafe=True)
        expected = [list(map(repr, validate(path))), list(map(repr, mended.mended)), list(mended.diff())]
        differing += [path] if json.loads(line) != expected else []
    assert len(samples) > 200
    assert differing == []


class Quiet(SimpleHTTPRequestHandler):
    """Serve files, and log nothing."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript", ".wasm": "application/wasm"}

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    """The address of the page, from a server on this machine."""
    if which("npm") is None:
        pytest.skip("there is no npm, which gets Pyodide")
    folder = tmp_path_factory.mktemp("site")
    try:
        in_browser.write(folder / "try")
    except subprocess.CalledProcessError as error:
        if error.cmd[0] != "npm":
            raise
        pytest.skip(f"npm cannot get {in_browser.PYODIDE}")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/try/index.html"
    server.shutdown()


@pytest.fixture
def page(browser, address):
    """The page; afterwards, it must have asked for nothing but its own files, and said nothing on the console."""
    with browser.new_context(accept_downloads=True) as context:
        page = context.new_page()
        requests, complaints = [], []
        context.on("request", lambda request: requests.append((request.method, request.url)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        yield page
        own = address.rpartition("/")[0]
        assert [one for one in requests if one[0] != "GET" or not one[1].startswith((own, f"blob:{own[:12]}"))] == []
        assert complaints == []


DROP = """([area, files]) => {
  const data = new DataTransfer();
  for (const [name, bytes] of files) data.items.add(new File([new Uint8Array(bytes)], name));
  area.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def drop(page, *paths):
    area = page.locator("#area").element_handle()
    page.evaluate(DROP, [area, [[path.name, list(path.read_bytes())] for path in paths]])


@pytest.mark.exhaustive
def test_a_broken_sample_is_dropped(page, expect):
    drop(page, INVALID / "OVG204" / "axis_3.xml")
    expect(page.locator("#state")).to_have_text("axis_3.xml: 1 error, 1 finding.", timeout=60_000)
    finding = page.locator("#findings li")
    expect(finding).to_contain_text("axis_3.xml:25: error OVG204: GatherElements 'gather': axis=3 is out of range")
    expect(finding).to_contain_text('25  <data axis="3" />')
    expect(finding).to_contain_text("for these inputs it may be -3 to 2")
    expect(finding.get_by_role("link", name="OVG204")).to_have_attribute("href", "../reference/rules/OVG204.html")
    expect(page.locator("#mend")).to_be_hidden()
    drop(page, VALID / "spec_layer.xml")
    expect(page.locator("#state")).to_have_text("spec_layer.xml: 0 errors, 0 findings.")
    drop(page, VALID / "onnx_page_1.bin")
    expect(page.locator("#state")).to_contain_text("Give one .xml")
    page.locator("#sample").click()
    expect(page.locator("#state")).to_have_text("axis_3.xml: 1 error, 1 finding.")


EACH = """async (samples) => {
  const worker = new Worker("worker.js", { type: "module" });
  const answer = () => new Promise((done) => { worker.onmessage = ({ data }) => done(data); });
  await answer();
  const found = [];
  for (const files of samples) {
    worker.postMessage({ files: files.map(([name, text]) => [name, Uint8Array.fromBase64(text)]), name: files[0][0] });
    found.push(await answer());
  }
  return found;
}"""


@pytest.mark.exhaustive
@pytest.mark.openvino
def test_in_the_browser_the_findings_are_the_same(page, tmp_path):
    """In all samples, and in a slice of an open axis, whose length may be beyond the 32 bits of a browser."""
    import openvino as ov
    import openvino.opset13 as ops

    rows = ops.parameter([-1, 4], np.float32)
    bounds = (ops.constant(np.array([number], np.int64)) for number in (1, 2**63 - 1, 1))
    ov.serialize(ov.Model([ops.slice(rows, *bounds)], [rows]), tmp_path / "slice.xml")
    samples = [tmp_path / "slice.xml", *sorted((ROOT / "ir_samples").rglob("*.xml"))]
    files = [[path for path in (xml, xml.with_suffix(".bin")) if path.exists()] for xml in samples]
    given = [[[path.name, b64encode(path.read_bytes()).decode()] for path in one] for one in files]
    differing = []
    for path, answer in zip(samples, page.evaluate(EACH, given), strict=True):
        expected = [[one.rule, one.location.line, one.message] for one in validate(path)]
        found = [[one["rule"], one["line"], one["message"]] for one in answer["findings"]] if "findings" in answer else answer
        differing += [(path.name, answer)] if found != expected else []
    assert len(samples) > 200
    assert differing == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_all_can_be_read(page, expect, scheme):
    page.set_viewport_size({"width": 375, "height": 700})
    page.emulate_media(color_scheme=scheme)
    page.locator("#sample").click()
    expect(page.locator("#findings li")).to_have_count(1, timeout=60_000)
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    contrast, where, _ = page.evaluate(LOWEST_CONTRAST)
    assert contrast >= 4.5, where


def cpu_time(browser):
    """Return the seconds that all processes of the browser have computed."""
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return sum(process["cpuTime"] for process in found)


@pytest.mark.exhaustive
def test_the_first_finding_takes_less_than_ten_seconds(browser, page, expect):
    """From the opening of the page. Seconds of computing, since the machine may have other work."""
    page.goto("about:blank")
    began = cpu_time(browser)
    page.go_back()
    drop(page, INVALID / "OVG204" / "axis_3.xml")
    expect(page.locator("#findings li")).to_have_count(1, timeout=60_000)
    assert cpu_time(browser) - began < 10


@pytest.mark.exhaustive
def test_what_fix_mends_can_be_downloaded(page, expect, tmp_path):
    """The same bytes as those that the command writes."""
    drop(page, NEGATIVE, NEGATIVE.with_suffix(".bin"))
    expect(page.locator("#findings")).to_contain_text("indices[0, 0] = -1 is negative (3 such in all)", timeout=60_000)
    page.get_by_role("button", name="Mend 1 finding").click()
    expect(page.locator("#state")).to_have_text("onnx_page_3.xml: 0 errors, 0 findings.")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download onnx_page_3.bin").click()
    for suffix in (".xml", ".bin"):
        (tmp_path / f"m{suffix}").write_bytes(NEGATIVE.with_suffix(suffix).read_bytes())
    mend(tmp_path / "m.xml", unsafe=False).write()
    assert download.value.path().read_bytes() == (tmp_path / "m.bin").read_bytes() != NEGATIVE.with_suffix(".bin").read_bytes()
