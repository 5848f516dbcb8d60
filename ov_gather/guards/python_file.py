"""Guards as Python files that need NumPy alone."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from inspect import getsource
from math import inf

from ov_gather.graph.symbols import InputDim, shown_name
from ov_gather.guards import checks
from ov_gather.guards.written import Language, WrittenModel, head, identifiers
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.requests import RequestTerms
from ov_gather.system.tables import printable

_RESERVED = {
    *keyword.kwlist,
    *keyword.softkwlist,
    *dir(checks),
    "check",
    "check_model",
    "feed",
    "max",
    "min",
    "FINGERPRINT",
    "FILES",
    "DATA",
}


def render(terms: RequestTerms, model: WrittenModel) -> str:
    """Return the text of the file: the conditions as comments, `check`, `check_model`, and the checks that both use."""
    text = getsource(checks)
    copied = text[text.index("from __future__") :]
    future, _, rest = copied.partition("\n\n")
    imports, _, functions = rest.partition("\n\n\n")
    comments = "\n".join(f"# {line}".rstrip() for line in head(terms, model))
    check = "\n".join(_check(terms))
    # the first two lines are ours: Python would obey a comment there that names a coding
    return f'''"""A check of requests with NumPy alone. Call `check(feed)` before the model runs, `check_model(path)` once."""

{comments}

{future}

{imports}

FINGERPRINT = {terms.fingerprint!r}
FILES = {model.digests!r}
"""The SHA-256 of each file of the model, by suffix."""
DATA = {model.data!r}
"""The SHA-256 of each file of external data, by its path in the folder of the model."""


{check}


def check_model(path: str) -> None:
    """Raise ValueError unless a model is the one that this guard was written for, and its .bin and external data, too."""
    model = Path(path)
    files = {{model: ""}} | {{model.with_suffix(suffix): digest for suffix, digest in FILES.items()}}
    files |= {{model.parent / place: digest for place, digest in DATA.items()}}
    for file, digest in files.items():
        if not file.is_file() or digest_of(file) != digest:
            raise ValueError(f"{{file}} is not the file that this guard was written for (fingerprint {{FINGERPRINT}})")


{functions.rstrip()}


if __name__ == "__main__":
    check_model(sys.argv[1])
'''


def _check(terms: RequestTerms) -> Iterator[str]:
    """Yield the lines of the function `check`."""
    names = identifiers([one.name for one in terms.inputs], _RESERVED)
    language = Language(
        dim=lambda name, axis: f"{names[name]}.shape[{axis}]",
        number=_number,
        times=" * ".join,
        join=lambda function, texts: f"{function}({', '.join(texts)})",
    )
    yield "def check(feed: Mapping[str, Any]) -> None:"
    yield '    """Raise ValueError unless a feed, a dict of arrays by input name, keeps the indices of the model in bounds."""'
    yield f"    check_names(feed, {list(names)!r})"
    for one in terms.inputs:
        yield f"    {names[one.name]} = array_of({one.name!r}, feed[{one.name!r}], {one.kind!r}, {one.dims!r})"
    for (name, axis), *others in terms.places.values():
        for other, at in others:
            texts = (printable(str(InputDim(name, axis))), printable(str(InputDim(other, at))))
            sizes = language.dim(name, axis), language.dim(other, at)
            yield f"    check_equal({texts[0]!r}, {sizes[0]}, {texts[1]!r}, {sizes[1]})"
    for condition in terms.conditions:
        low, high = language.bounds(condition.lows, condition.highs, terms)
        subject, why = condition.subject, printable(condition.reason)
        if isinstance(subject, Polynomial):
            yield f"    check_size({printable(str(subject))!r}, {language.size(subject, terms)}, {low}, {high}, {why!r})"
        else:
            text, spans = printable(shown_name(subject.input)), [tuple(span) for span in subject.spans]
            part = f", {spans!r}" if spans else ""
            yield f"    check_elements({text!r}, {names[subject.input]}, {low}, {high}, {why!r}{part})"


def _number(number: Number) -> str:
    return f"{'-' if number < 0 else ''}np.inf" if number in (inf, -inf) else repr(number)
