"""How one random model is judged: analysed, observed in trials, compared; conditions are kept to and violated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import openvino as ov

from helpers.index_sites import Arrays, Site, Tensor, sites_of, tensor
from helpers.random_index_models import sample
from helpers.range_analysis import analysed
from helpers.range_checks import Claim, Names, Verdict, claimed, complaint_of_site, complaints
from helpers.range_judgements import Judgement
from helpers.range_observations import Observer
from helpers.range_trials import Trial, is_known, keeps, trial_within, trials, trials_beyond

Analysis = Callable[[ov.Model], tuple[Mapping[Tensor, Claim], Mapping[str, Verdict]]]
ALONE = 8
"""In one model of so many, each index is also observed at the end of a model of its own, which takes time."""
NOT_JUDGED = ("Parameter", "Result", "Assign")
"""Nothing is computed at these; what is given to a Parameter may not even fit into the 32 bits that the plugin keeps."""


def judge(seed: int, about_to: Callable[[str], bool], analysis: Analysis = analysed) -> Judgement:
    """Make the model of a seed, analyse it, observe it in trials and compare."""
    return _Judge(seed, about_to, analysis).judgement()


class _Judge:
    def __init__(self, seed: int, about_to: Callable[[str], bool], analysis: Analysis) -> None:
        self._found = Judgement(seed)
        self._sample = sample(seed)
        self._rng = np.random.default_rng([seed, 1])
        self._sites = list(sites_of(self._sample))
        self._about_to, self._analysis = about_to, analysis
        self._listed = [node for node in self._sample.model.get_ordered_ops() if node.get_type_name() != "Result"]
        self._nodes = [node for node in self._listed if node.get_type_name() not in NOT_JUDGED]
        self._outputs = {tensor(output): output for node in self._nodes for output in node.outputs()}
        self._looks_at_sites_alone = seed % ALONE == 0
        self._miscomputed: set[str] = set()
        for node in self._nodes:
            operands = {value.get_node().get_friendly_name() for value in node.input_values()}
            if operands & self._miscomputed or is_miscomputed(node):
                self._miscomputed.add(node.get_friendly_name())
        self._sites = [site for site in self._sites if site.index[0] not in self._miscomputed]
        self._reported: set[str] = set()

    def judgement(self) -> Judgement:
        counts = self._found.counts
        counts["graphs"] += 1
        self._about_to("the analysis")
        try:
            self._claims, self._verdicts = self._analysis(self._sample.model)
        except Exception as error:  # whatever it is, it is a defect of the analysis
            self._found.violations.append(f"the analysis raises {type(error).__name__}: {error}")
            return self._found
        for site in self._sites:
            verdict = self._verdict(site)
            if verdict is not None and not self._names_are_known(site, verdict):
                counts["sites with conditions on what is no input"] += 1
        self._observer = Observer(self._sample.model, self._about_to)
        for trial in trials(self._sample, self._rng):
            self._try(trial)
        for site in self._sites:
            verdict = self._verdict(site)
            counts[f"sites {verdict.status}" if verdict else "sites without a verdict"] += 1
            if verdict is not None and verdict.status == "conditional":
                self._try_conditions(site, verdict)
        counts["inferences that raise"] += self._observer.raised
        return self._found

    def _verdict(self, site: Site) -> Verdict | None:
        return self._verdicts.get(site.name)

    def _observed(self, trial: Trial) -> Arrays | None:
        """What is seen of one trial; None where shapes do not fit, which the plugin does not always check."""
        if not _takes(self._sample.model.clone(), trial):
            self._found.counts["trials whose shapes do not fit"] += 1
            return None
        return self._observer.observe(trial.arrays)

    def _try(self, trial: Trial) -> None:
        """Compare all that is seen of one trial."""
        seen = self._observed(trial)
        if seen is None:
            return
        self._found.counts["trials"] += 1
        self._compare(trial, seen)
        for site in self._sites:
            verdict = self._verdict(site)
            if verdict is None or verdict.status == "unknown":
                continue
            self._judge_site(trial, site, verdict, seen)
            if not self._looks_at_sites_alone:
                continue
            alone = self._observer.observe_alone(site.index, trial.arrays, seen)
            if alone is not None:
                self._judge_site(trial, site, verdict, {**seen, site.index: alone})
                self._complain(trial, site.index, alone, self._names(trial, seen), seen)

    def _names(self, trial: Trial, seen: Arrays) -> Names:
        names = Names(dict(trial.sizes))
        for one in self._claims:
            if one in seen:
                names.learn(self._claims[one], seen[one])
        return names

    def _compare(self, trial: Trial, seen: Arrays) -> None:
        """Compare every tensor; what depends on a wrong claim is not blamed for that."""
        names, doubtful = self._names(trial, seen), set(self._miscomputed)
        for node in self._nodes:
            if node.get_friendly_name() in self._miscomputed:
                self._found.counts["operations that OpenVINO may compute wrongly"] += 1
                continue
            if any(value.get_node().get_friendly_name() in doubtful for value in node.input_values()):
                doubtful.add(node.get_friendly_name())
                continue
            for one in map(tensor, node.outputs()):
                if one in seen and self._complain(trial, one, seen[one], names, seen):
                    doubtful.add(node.get_friendly_name())

    def _complain(self, trial: Trial, one: Tensor, array: np.ndarray, names: Names, seen: Arrays) -> bool:
        claim = self._claims.get(one)
        if claim is None:
            self._found.counts["tensors without a claim"] += 1
            return False
        self._found.counts["tensors compared"] += 1
        self._found.counts["numbers compared"] += array.size
        found = list(complaints(claim, array, names))
        if found and not _fits(self._outputs[one], array):
            self._found.counts["shapes that OpenVINO itself infers wrongly"] += 1
        elif found:
            self._report(f"{one[0]}:{one[1]}: {found[0]}", one, trial, {**seen, one: array})
        return bool(found)

    def _judge_site(self, trial: Trial, site: Site, verdict: Verdict, seen: Arrays) -> None:
        self._found.counts["verdicts compared"] += site.index in seen
        is_within = verdict.status != "conditional" or keeps(trial, verdict.requires)
        found = complaint_of_site(verdict, site, seen, is_within=is_within)
        if found:
            self._report(f"{site.name} {dict(verdict.requires)}: {found}", site.index, trial, seen)

    def _names_are_known(self, site: Site, verdict: Verdict) -> bool:
        """Whether conditions are about inputs and their dimensions only, so that a user can keep to them."""
        texts = [*verdict.requires, *(bound for pair in verdict.requires.values() for bound in pair if isinstance(bound, str))]
        unknown = [words for words in texts if not is_known(words, self._sample)]
        if unknown:
            self._found.violations.append(f"{site.name}: conditions are on what is no input: {dict(verdict.requires)}")
            self._verdicts = {name: one for name, one in self._verdicts.items() if name != site.name}
        return not unknown

    def _try_conditions(self, site: Site, verdict: Verdict) -> None:
        """Within the conditions nothing is out of bounds; beyond each of them something is, for some inputs."""
        for _ in range(2):
            trial = trial_within("within", self._sample, self._rng, verdict.requires)
            if trial is None:
                self._found.counts["conditions that no input meets"] += 1
                return
            seen = self._observed(trial)
            if seen is not None:
                self._judge_site(trial, site, verdict, seen)
        for name, bounds in verdict.requires.items():
            for upper in (False, True):
                if bounds[upper] is None or bounds[upper] in (-np.inf, np.inf):
                    continue
                shown = [self._is_witness(site, trial) for trial in self._beyond(verdict, name, upper)]
                seen = [is_one for is_one in shown if is_one is not None]
                kind = "with a witness" if any(seen) else "without a witness" if seen else "whose violation cannot be tried"
                self._found.counts[f"bounds {kind}"] += 1
                if seen and not any(seen):
                    self._found.unwitnessed.append(
                        f"{site.name}: {name} in {bounds[0]}..{bounds[1]}, {'upper' if upper else 'lower'}"
                    )

    def _beyond(self, verdict: Verdict, name: str, upper: bool) -> Iterator[Trial]:
        return trials_beyond(self._sample, self._rng, verdict.requires, name, upper)

    def _is_witness(self, site: Site, trial: Trial) -> bool | None:
        seen = self._observed(trial)
        outside = None if seen is None else site.outside(seen)
        return None if outside is None else bool(outside.any())

    def _report(self, words: str, one: Tensor, trial: Trial, seen: Arrays) -> None:
        """Report a violation once, with the part of the model that it is about."""
        if one[0] not in self._reported:
            self._reported.add(one[0])
            lines = [f"{words} (trial {trial.label})", *self._slice(one, seen)]
            self._found.violations.append("\n    ".join(lines))

    def _slice(self, one: Tensor, seen: Arrays) -> Iterator[str]:
        """The operations that a tensor depends on, with what is claimed of each and what was observed."""
        wanted = {one[0]}
        for node in reversed(self._listed):
            if node.get_friendly_name() in wanted:
                wanted.update(value.get_node().get_friendly_name() for value in node.input_values())
        for node in self._listed:
            if node.get_friendly_name() in wanted:
                operands = ", ".join("{}:{}".format(*tensor(value)) for value in node.input_values())
                attributes = "" if node.get_type_name() in ("Constant", "Parameter") else _attributes(node)
                kind = f"{node.get_type_name()}-{node.get_type_info().version_id.removeprefix('opset')}"
                yield f"{node.get_friendly_name()} = {kind}({operands}){attributes}"
                for output in node.outputs():
                    array = seen.get(tensor(output))
                    values = "not observed" if array is None else f"{array.ravel()[:12].tolist()} of {list(array.shape)}"
                    declared = f"{output.get_element_type().get_type_name()}{output.get_partial_shape()}"
                    yield f"    {declared}: {values}; claimed {claimed(self._claims, tensor(output))}"


def is_miscomputed(node: ov.Node) -> bool:
    """Whether OpenVINO 2026.4.1 may do an operation wrongly.

    It joins arithmetic to an integer Reduce, takes the size of an open slice for that of what was sliced, and counts the
    integers of a Range by fractions in two ways.
    """
    if node.get_type_name() == "Range":
        kinds = {value.get_element_type().get_type_name() for value in (*node.input_values(), *node.outputs())}
        return "f32" in kinds and len(kinds) > 1
    if node.get_type_name() == "ShapeOf" and node.input_value(0).get_node().get_type_name() in ("Slice", "StridedSlice"):
        return node.input_value(0).get_partial_shape().is_dynamic
    if node.get_type_name() not in ("Add", "Subtract", "Multiply", "Negative", "SquaredDifference", "Divide"):
        return False
    return any(_is_reduced(value) for value in node.input_values())


def _is_reduced(value: ov.Output) -> bool:
    node = value.get_node()
    while node.get_type_name() in ("Reshape", "Squeeze", "Unsqueeze", "Transpose", "Broadcast"):
        node = node.input_value(0).get_node()
    is_float = node.get_output_element_type(0).get_type_name() == "f32"
    return node.get_type_name().startswith("Reduce") and not is_float


def _takes(model: ov.Model, trial: Trial) -> bool:
    """Whether a model takes the shapes of a trial. OpenVINO lets a Squeeze make one element, which is not set, of none."""
    try:
        model.reshape({i: list(array.shape) for i, array in enumerate(trial.arrays)})
    except RuntimeError:
        return False
    squeezed = [node for node in model.get_ops() if node.get_type_name() == "Squeeze"]
    operands = [node.input_value(0).get_partial_shape() for node in squeezed]
    results = [node.get_output_partial_shape(0) for node in squeezed]
    pairs = [pair for pair in zip(operands, results, strict=True) if all(shape.is_static for shape in pair)]
    return all(np.prod(list(one.to_shape())) == np.prod(list(other.to_shape())) for one, other in pairs)


def _fits(output: ov.Output, array: np.ndarray) -> bool:
    """Whether an array has the shape that OpenVINO has inferred; from an index out of bounds it infers anything."""
    declared = output.get_partial_shape()
    return declared.rank.is_dynamic or ov.PartialShape(list(array.shape)).compatible(declared)


def _attributes(node: ov.Node) -> str:
    given = {name: value for name, value in node.get_attributes().items() if isinstance(value, (int, float, str, list))}
    return f" {given}" if given else ""
