"""How one random model is judged: analysed, observed in trials, compared; conditions are kept to and violated."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from helpers.index_sites import Arrays, Site, Tensor
from helpers.random_graphs import Inputs
from helpers.range_analysis import Found, Symbols, claimed, complaint_of_site, complaints
from helpers.range_judgements import Judgement
from helpers.range_trials import Trial, is_known, keeps, trial_of, trial_within, trials, trials_beyond
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.proof import Proof

ALONE = 8
"""In one model of so many, each index is also observed at the end of a model of its own, which takes time."""
TENSORS_ALONE = 6
"""Number of other tensors that are observed so in such a model."""


@dataclass(frozen=True)
class Operation:
    """An operation of a random model. `text`: what people call it, with its attributes."""

    name: str
    operands: list[Tensor]
    outputs: list[Tensor]
    text: str


class Subject(ABC):
    """A random model that is judged.

    Attributes:
        sample: its inputs, and the sizes of their open dimensions.
        operations: all operations in their order, Parameters and constants among them.
        miscomputed: the names of operations that the runtime may compute wrongly, and of those that depend on them.
        not_judged: the names of operations that compute nothing.
        raised: the number of inferences that raised.
    """

    sample: Inputs
    sites: list[Site]
    operations: list[Operation]
    miscomputed: set[str]
    not_judged: set[str]
    raised: int = 0

    @abstractmethod
    def analysed(self) -> Mapping[str, Found]:
        """Return the results of each adapter of the analysis."""

    @abstractmethod
    def observe(self, trial: Trial) -> Arrays | None:
        """Return the tensors that can be seen in a trial; None if its shapes do not fit, which runtimes do not always check."""

    def observe_alone(self, one: Tensor, trial: Trial, seen: Arrays) -> np.ndarray | None:
        """Return one tensor, of a model that ends there; None if it cannot be seen so."""
        return None

    def unsteady(self, seen: Arrays) -> set[str]:
        """Return the names of operations whose results may differ in each inference, such as those that read memory."""
        return set()

    def kept(self, seen: Arrays) -> set[str]:
        """Return the names of operations that give out what an earlier inference has made."""
        return set()

    def fits(self, one: Tensor, array: np.ndarray) -> bool:
        """Return True if an array has the shape that the runtime infers; from an index out of bounds it infers anything."""
        return True


class Judge:
    """Analyses a model, observes it in trials and compares."""

    def __init__(self, seed: int, subject: Subject) -> None:
        self._found = Judgement(seed)
        self._counts = self._found.counts
        self._subject, self._sample = subject, subject.sample
        self._rng = np.random.default_rng([seed, 1])
        self._sites = [site for site in subject.sites if site.index[0] not in subject.miscomputed]
        self._looks_alone = seed % ALONE == 0
        self._reported: set[tuple[str, str]] = set()

    def judgement(self) -> Judgement:
        self._counts["graphs"] += 1
        try:
            self._analysed = dict(self._subject.analysed())
        except Exception as error:  # whatever it is, it is a defect of the analysis
            self._found.violations.append(f"the analysis raises {type(error).__name__}: {error}")
            return self._found
        self._verdicts = [
            (site, by, verdicts[site.name])
            for site in self._sites
            for by, (_, verdicts) in self._analysed.items()
            if site.name in verdicts and self._names_are_known(site, by, verdicts[site.name])
        ]
        outputs = [one for operation in self._subject.operations for one in operation.outputs]
        chosen = np.random.default_rng([self._found.seed, 2]).permutation(len(outputs))[:TENSORS_ALONE]
        self._tensors_alone = [outputs[position] for position in chosen]
        for trial in trials(self._sample, self._rng):
            self._try(trial)
        tried = set()
        for site, by, verdict in self._verdicts:
            self._counts[f"sites {verdict.status}, {by}"] += 1
            same = (site.name, tuple(verdict.requires.items()))
            if verdict.status == "conditional" and same not in tried:
                tried.add(same)
                self._try_example(site, by, verdict)
                self._try_conditions(site, by, verdict)
        self._counts["inferences that raise"] += self._subject.raised
        return self._found

    def _observed(self, trial: Trial) -> Arrays | None:
        seen = self._subject.observe(trial)
        self._counts["trials whose shapes do not fit"] += seen is None
        return seen

    def _try(self, trial: Trial) -> None:
        """Compare all that is seen of one trial."""
        seen = self._observed(trial)
        if seen is None:
            return
        self._counts["trials"] += 1
        for by in self._analysed:
            self._compare(by, trial, seen)
        known = [one for one in self._verdicts if one[2].status != "unknown"]
        alone: dict[Tensor, np.ndarray | None] = {}
        for site, by, verdict in known:
            self._judge_site(trial, site, by, verdict, seen)
            if not self._looks_alone:
                continue
            if site.index not in alone:
                alone[site.index] = self._subject.observe_alone(site.index, trial, seen)
            array = alone[site.index]
            if array is not None:
                self._judge_site(trial, site, by, verdict, {**seen, site.index: array})
                self._complain(by, trial, site.index, array, self._names(by, trial, seen), seen)
        if self._looks_alone:
            self._look_at_tensors_alone(trial, seen)

    def _look_at_tensors_alone(self, trial: Trial, seen: Arrays) -> None:
        """Compare some tensors, each of a model that ends there, as OpenVINO keeps the outputs of a model as they are."""
        doubtful = self._subject.miscomputed | self._misshapen(seen)
        names = {by: self._names(by, trial, seen) for by in self._analysed}
        for one in self._tensors_alone:
            array = self._subject.observe_alone(one, trial, seen) if one in seen and one[0] not in doubtful else None
            for by in names if array is not None else ():
                self._complain(by, trial, one, array, names[by], seen)

    def _claims(self, by: str) -> Mapping[Tensor, Value]:
        return self._analysed[by][0]

    def _names(self, by: str, trial: Trial, seen: Arrays) -> Symbols:
        """The sizes of a trial. Those of a tensor that another inference computes anew tell nothing about that one."""
        names, unsteady = Symbols(dict(trial.sizes)), self._dependents(self._subject.unsteady(seen))
        self._counts["tensors that need not be the same in each inference"] += sum(one[0] in unsteady for one in seen)
        for one, claim in self._claims(by).items():
            if one in seen and one[0] not in unsteady:
                names.set_bounds(claim, seen[one])
        return names

    def _dependents(self, names: set[str]) -> set[str]:
        """The names of operations, and of those that depend on them."""
        found = set(names)
        for operation in self._subject.operations:
            if any(name in found for name, _ in operation.operands):
                found.add(operation.name)
        return found

    def _misshapen(self, seen: Arrays) -> set[str]:
        """The names of operations that have another shape than OpenVINO infers, and of those that depend on them."""
        return self._dependents({one[0] for one, array in seen.items() if not self._subject.fits(one, array)})

    def _compare(self, by: str, trial: Trial, seen: Arrays) -> None:
        """Compare every tensor; what depends on a wrong claim is not blamed for that."""
        names, misshapen = self._names(by, trial, seen), self._misshapen(seen)
        doubtful = self._subject.miscomputed | misshapen
        for operation in self._subject.operations:
            if operation.name in self._subject.not_judged:
                continue
            if operation.name in self._subject.miscomputed:
                self._counts["operations that OpenVINO may compute wrongly"] += 1
                continue
            self._counts["shapes that OpenVINO itself infers wrongly"] += operation.name in misshapen
            is_blamed = not any(name in doubtful for name, _ in operation.operands)
            judged = [one for one in operation.outputs if is_blamed and one in seen]
            wrong = [one for one in judged if self._complain(by, trial, one, seen[one], names, seen)]
            if wrong or not is_blamed:
                doubtful.add(operation.name)

    def _complain(self, by: str, trial: Trial, one: Tensor, array: np.ndarray, names: Symbols, seen: Arrays) -> bool:
        claim = self._claims(by).get(one)
        if claim is None:
            self._counts["tensors without a claim"] += 1
            return False
        self._counts["tensors compared"] += 1
        self._counts["numbers compared"] += array.size
        found = list(complaints(claim, array, names))
        if found and not self._subject.fits(one, array):
            self._counts["shapes that OpenVINO itself infers wrongly"] += 1
        elif found:
            self._report(by, f"{one[0]}:{one[1]}: {found[0]}", one, trial, {**seen, one: array})
        return bool(found)

    def _judge_site(self, trial: Trial, site: Site, by: str, verdict: Proof, seen: Arrays) -> None:
        if not self._misshapen(seen).isdisjoint((site.index[0], site.data[0])):
            self._counts["shapes that OpenVINO itself infers wrongly"] += 1
            return
        if verdict.status == "conditional" and site.index[0] in self._dependents(self._subject.kept(seen)):
            self._counts["conditional sites of what an earlier inference has made, whose inputs may break the conditions"] += 1
            return
        claim = self._claims(by).get(site.data)
        if site.data[0] in self._dependents(self._subject.unsteady(seen)) and claim is not None:
            names = self._names(by, trial, seen)
            if claim.shape is None or any(names.value(dim) is None for dim in claim.shape):
                self._counts["sites of data whose sizes need not be the same in each inference"] += 1
                return
        self._counts["verdicts compared"] += site.index in seen
        is_within = verdict.status != "conditional" or keeps(trial, verdict.requires)
        found = complaint_of_site(verdict, site, seen, is_within=is_within)
        if found:
            self._report(by, f"{site.name} {dict(verdict.requires)}: {found}", site.index, trial, seen)

    def _names_are_known(self, site: Site, by: str, verdict: Proof) -> bool:
        """Whether conditions are about inputs and their dimensions only, so that a user can keep to them."""
        texts = [*verdict.requires, *(bound for pair in verdict.requires.values() for bound in pair if isinstance(bound, str))]
        unknown = [words for words in texts if not is_known(words, self._sample)]
        if unknown:
            words = f"{by}: {site.name}: conditions are on what is no input: {dict(verdict.requires)}"
            self._found.violations.append(words)
        return not unknown

    def _try_example(self, site: Site, by: str, verdict: Proof) -> None:
        """The example of a condition satisfies it, and with it nothing is out of bounds."""
        trial = trial_of(self._sample, self._rng, verdict.example)
        if trial is None:
            self._counts["examples that are large"] += 1
            return
        if not verdict.example or not keeps(trial, verdict.requires):
            words = f"{by}: {site.name}: {dict(verdict.example)} is no example of {dict(verdict.requires)}"
            self._found.violations.append(words)
        seen = self._observed(trial)
        self._counts["examples executed"] += seen is not None
        if seen is not None:
            self._judge_site(trial, site, by, verdict, seen)

    def _try_conditions(self, site: Site, by: str, verdict: Proof) -> None:
        """Within the conditions nothing is out of bounds; beyond each of them something is, for some inputs."""
        for _ in range(2):
            trial = trial_within("within", self._sample, self._rng, verdict.requires)
            if trial is None:
                self._counts["conditions that no input meets"] += 1
                return
            seen = self._observed(trial)
            if seen is not None:
                self._judge_site(trial, site, by, verdict, seen)
        for name, bounds in verdict.requires.items():
            for upper in (False, True):
                if bounds[upper] is None or bounds[upper] in (-np.inf, np.inf):
                    continue
                shown = False, False  # whether a violation was tried, and whether an index was out of bounds then
                for trial in trials_beyond(self._sample, self._rng, verdict.requires, name, upper):
                    seen = self._observed(trial)
                    outside = None if seen is None else site.outside(seen)
                    if outside is not None:
                        shown = True, bool(outside.any())
                    if shown[1]:
                        break
                kind = "with a witness" if shown[1] else "without a witness" if shown[0] else "whose violation cannot be tried"
                self._counts[f"bounds {kind}"] += 1
                if shown == (True, False):
                    self._found.unwitnessed.append(
                        f"{by}: {site.name}: {name} in {bounds[0]}..{bounds[1]}, {'upper' if upper else 'lower'}"
                    )

    def _report(self, by: str, words: str, one: Tensor, trial: Trial, seen: Arrays) -> None:
        """Report a violation once, with the part of the model that it is about."""
        if (by, one[0]) not in self._reported:
            self._reported.add((by, one[0]))
            lines = [f"{by}: {words} (trial {trial.label})", *self._slice(by, one, seen)]
            self._found.violations.append("\n    ".join(lines))

    def _slice(self, by: str, one: Tensor, seen: Arrays) -> Iterator[str]:
        """The operations that a tensor depends on, with what is claimed of each and what was observed."""
        wanted = {one[0]}
        for operation in reversed(self._subject.operations):
            if operation.name in wanted:
                wanted.update(name for name, _ in operation.operands)
        for operation in self._subject.operations:
            if operation.name in wanted:
                operands = ", ".join(f"{name}:{position}" for name, position in operation.operands)
                yield f"{operation.name} = {operation.text}({operands})"
                for output in operation.outputs:
                    array = seen.get(output)
                    values = "not observed" if array is None else f"{array.ravel()[:12].tolist()} of {list(array.shape)}"
                    yield f"    {values}; claimed {claimed(self._claims(by).get(output))}"
