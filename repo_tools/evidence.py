"""What speaks for each of many candidates, signal by signal, and the score that follows from it."""

from __future__ import annotations

import enum
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Candidate = TypeVar("Candidate", bound=Hashable)


class Scale(enum.Enum):
    """How the strengths of a signal are made comparable between issues."""

    OF_BEST = "of the best"
    """As a part of the strongest candidate's."""
    LOGARITHM = "logarithm"
    """Of one and the strength: the first proof counts most."""
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Signal:
    """One row of a model: how much a signal counts."""

    weight: float
    scale: Scale


Model = Mapping[str, Signal]


class Evidence(Generic[Candidate]):
    """Strengths by signal and candidate. What is not set is zero."""

    def __init__(self) -> None:
        self.strengths: dict[str, dict[Candidate, float]] = {}
        self._reasons: dict[tuple[str, Candidate], str] = {}

    def put(self, signal: str, strengths: Mapping[Candidate, float]) -> None:
        """Set all strengths of a signal."""
        self.strengths[signal] = dict(strengths)

    def add(self, signal: str, candidate: Candidate, strength: float, reason: str = "") -> None:
        """Add to a strength; the first reason given is kept."""
        of_signal = self.strengths.setdefault(signal, {})
        of_signal[candidate] = of_signal.get(candidate, 0.0) + strength
        if reason:
            self._reasons.setdefault((signal, candidate), reason)

    def scaled(self, signal: str, scale: Scale, candidates: Iterable[Candidate]) -> dict[Candidate, float]:
        """The strengths of a signal for `candidates`, scaled among them."""
        known = self.strengths.get(signal, {})
        found = {candidate: known[candidate] for candidate in candidates if known.get(candidate)}
        if scale is Scale.LOGARITHM:
            return {candidate: math.log1p(strength) for candidate, strength in found.items()}
        if scale is Scale.OF_BEST and found:
            best = max(found.values())
            return {candidate: strength / best for candidate, strength in found.items()} if best > 0 else {}
        return found

    def scores(self, model: Model, candidates: Iterable[Candidate]) -> dict[Candidate, float]:
        """The weighted sum of the scaled signals of each candidate."""
        totals = dict.fromkeys(candidates, 0.0)
        for name, signal in model.items():
            for candidate, strength in self.scaled(name, signal.scale, totals).items():
                totals[candidate] += signal.weight * strength
        return totals

    def reasons(self, candidate: Candidate, signals: Iterable[str]) -> list[str]:
        """What was said for a candidate, in the order of `signals`, each reason once."""
        said = (self._reasons.get((signal, candidate)) for signal in signals)
        return list(dict.fromkeys(reason for reason in said if reason))
