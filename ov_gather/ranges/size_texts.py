"""Parser of the sizes in conditions, such as "min(dim(x, 1) - 1, 9)"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ov_gather.ranges.algebra.polynomials import Number, Polynomial

_NUMBER = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"


class SizeTextError(ValueError):
    """Raised for a text that is no arithmetic of known dimensions."""


class SizeTexts:
    """A parser that knows the names of dimensions, which may contain any character."""

    def __init__(self, dims: Collection[str]) -> None:
        joined = "\0".join(dims)
        if "#" in joined or any(joined.count(one) > 1 for one in dims):
            raise SizeTextError("the name of a dimension contains that of another, or the mark of tensors that are no inputs")
        self._dims = set(dims)
        names = "|".join(map(re.escape, sorted(dims)))
        self._token = re.compile(rf"\s*(?:(?P<name>{names or '(?!)'})|(?P<number>{_NUMBER})|(?P<sign>[-+*^]))")

    def bounds(self, text: str, function: str) -> list[Polynomial | Number]:
        """Parse a bound: arithmetic, or the `function` "min" or "max" of several. Raises SizeTextError."""
        inside = text[len(function) + 1 : -1] if text.startswith(f"{function}(") and text.endswith(")") else None
        if inside is None:
            return [self.parse(text)]
        found: list[Polynomial | Number] = []
        start = 0
        for end in (*self._commas(inside), len(inside)):
            found.append(self.parse(inside[start:end]))
            start = end + 1
        return found

    def _commas(self, text: str) -> Iterator[int]:
        """Yield the places of the commas that are in no name."""
        at = 0
        while at < len(text):
            token = self._token.match(text, at)
            if token is None and text[at] == ",":
                yield at
            at = at + 1 if token is None else token.end()

    def parse(self, text: str) -> Polynomial | Number:
        """Parse a number, or a sum of products of dimensions. Raises SizeTextError."""
        tokens = list(self._tokens(text))
        if len(tokens) <= 2 and tokens[-1][0] == "number" and not tokens[-1][1].isdecimal():
            return float(tokens[-1][1]) * (-1 if len(tokens) == 2 else 1)
        found, sign, start = Polynomial(()), 1, 0
        for end, (kind, token) in enumerate([*tokens, ("sign", "+")]):
            if kind == "sign" and token in "+-":
                if end > start:
                    found = found + self._product(tokens[start:end]) * sign
                elif end > 0:
                    raise SizeTextError(text)
                sign, start = (1 if token == "+" else -1), end + 1
        if start != len(tokens) + 1 or not tokens or tokens[-1][1] in "+-":
            raise SizeTextError(text)
        return found if found.value is None else found.value

    def _tokens(self, text: str) -> Iterator[tuple[str, str]]:
        at = 0
        while at < len(text.rstrip()):
            token = self._token.match(text, at)
            if token is None or token.lastgroup is None:
                raise SizeTextError(text)
            yield token.lastgroup, token[token.lastgroup]
            at = token.end()
        if at == 0:
            raise SizeTextError(text)

    def _product(self, tokens: list[tuple[str, str]]) -> Polynomial:
        """Return a product of numbers, dimensions and their powers."""
        found = Polynomial.constant(1)
        texts = [token for _, token in tokens]
        while texts:
            factor, *texts = texts
            if not (factor in self._dims or factor.isdecimal()):
                raise SizeTextError(factor)
            value = Polynomial.name(factor) if factor in self._dims else Polynomial.constant(int(factor))
            times = 1
            if texts[:1] == ["^"] and len(texts) > 1 and texts[1].isdecimal():
                times, texts = int(texts[1]), texts[2:]
            for _ in range(times):
                found = found * value
            if texts[:1] == ["*"] and len(texts) > 1:
                texts = texts[1:]
            elif texts:
                raise SizeTextError(" ".join(texts))
        return found
