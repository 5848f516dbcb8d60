"""A .pt2 is code: nothing of it is executed unless the user says that it may be."""

import pickle
import zipfile

import pytest

from ov_gather.converters import ConversionError, convert_model


class Code:
    """What pickle executes when it is loaded."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return open, (str(self.marker), "w")


@pytest.fixture
def planted(tmp_path):
    """A .pt2 each of whose parts leaves a file, `executed`, when it is loaded as a pickle."""
    with zipfile.ZipFile(tmp_path / "m.pt2", "w") as archive:
        for name in ("m/data.pkl", "serialized_state_dict.pt", "serialized_constants.pt", "serialized_example_inputs.pt"):
            archive.writestr(name, pickle.dumps(Code(tmp_path / "executed")))
    return tmp_path / "m.pt2"


@pytest.mark.parametrize("many", [False, True])
def test_the_command_refuses_without_trust(cli, planted, tmp_path, many):
    (tmp_path / "irs").mkdir()
    done = cli("convert", planted, "-o", tmp_path / "irs" if many else tmp_path / "m.xml", "--verify", code=2)
    assert f"{planted}: to load a .pt2 executes code that the file holds: --trust" in done.stderr
    assert not (tmp_path / "executed").exists()


def test_python_refuses_without_trust(planted, tmp_path):
    with pytest.raises(ConversionError, match=r"executes code that the file holds: give --trust, or trust=True"):
        convert_model(planted)
    assert not (tmp_path / "executed").exists()


def test_the_help_says_so(cli):
    assert "executes code that the file holds" in " ".join(cli("convert", "--help").stdout.split())
