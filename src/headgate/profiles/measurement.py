"""Computes a profile from counts and a sample of rows."""

import numpy as np

from headgate.models import AgeCurves, Frequencies
from headgate.profiles.aged_matches import AgedMatches
from headgate.profiles.facts import Both, Pairs, SideFacts, StoredFacts
from headgate.profiles.kept_rows import keep_rows
from headgate.profiles.model_comparison import explain
from headgate.profiles.peak_rows import peak_rows
from headgate.profiles.profile import Profile
from headgate.profiles.profile_material import ProfileMaterial, Question
from headgate.spec.quantity import SECOND_US


def measure(question: Question, material: ProfileMaterial) -> Profile:
    """Compute all figures of a profile."""
    sample, windows = material.sample, question.windows
    first, last = material.covers or (0, 0)
    aged = Both(
        *(
            AgedMatches.of(sample[side], sample[1 - side], windows[side], side, last)
            for side in (0, 1)
        )
    )
    rates = Both(*(_rate(side, last - first) for side in material.rows))
    pairs = _pairs(material, aged, windows)
    return Profile(
        keys=question.keys,
        sides=question.sides,
        rows=material.rows,
        rates=rates,
        pairs=pairs,
        ages=AgeCurves(aged.left.curve, aged.right.curve),
        frequencies=Frequencies(
            material.keys[0].frequencies, material.keys[1].frequencies, (rates[0], rates[1])
        ),
        skew=Both(*(side.skew for side in material.keys)),
        windows_needed=Both(*(aged[side].windows_needed(sample[side], last) for side in (0, 1))),
        stored_rows=_stored(material, windows, rates),
        explains=explain(sample, windows, first, last),
        notes=_notes(question, material, pairs),
        trace=keep_rows(material, (windows.left > 0, windows.right > 0 or not windows.left)),
    )


def _rate(side: SideFacts, span_us: int) -> float:
    return side.timed * SECOND_US / span_us if span_us else 0.0


def _pairs(material: ProfileMaterial, aged: Both[AgedMatches], windows: Both[int]) -> Pairs:
    """The weighted number of matches, with the error from sampling keys."""
    sample, share = material.sample, material.choice.share
    of_key = np.zeros(len(sample.left.weight))
    for rows, side in zip(sample, aged, strict=True):
        of_key += np.bincount(rows.code, side.matches.of_row, minlength=len(of_key))
    by_chance = of_key[sample.left.weight > 1]
    squares = float((by_chance**2).sum()) / share
    if share < 1:
        # A heavy key that the draw happens to miss must still count in the error.
        squares = max(squares, _expected_squares(material, windows))
    return Pairs(
        count=sum(side.matches.count for side in aged),
        error=float(np.sqrt((1 - share) / share * squares)),
        share=share,
        heavy=len(material.choice.certain),
        rows=Both(len(sample.left.time), len(sample.right.time)),
    )


def _expected_squares(material: ProfileMaterial, windows: Both[int]) -> float:
    """Sum of squared matches over heavy keys subject to sampling, if rows were spread evenly."""
    left, right = material.keys
    if not left.keys or not right.keys:
        return 0.0
    partners = right.frequencies.look_up(left.columns) * right.rows
    first, last = material.covers or (0, 0)
    matches = left.counts * partners * min(1.0, sum(windows) / max(last - first, 1))
    by_chance = ~np.isin(left.hashes, material.choice.certain)
    return float((matches[by_chance] ** 2).sum())


def _stored(material: ProfileMaterial, windows: Both[int], rates: Both[float]) -> StoredFacts:
    sample = material.sample
    seen = peak_rows(Both(sample.left.time, sample.right.time), windows)
    scale = []
    for side in (0, 1):
        rows, joined = material.rows[side], len(sample[side].time)
        matchable = material.keys[side].rows * rows.timed / max(rows.rows, 1)
        scale.append(matchable / joined if material.choice.share < 1 and joined else 1.0)
    peak = Both(seen.left * scale[0], seen.right * scale[1])
    return StoredFacts(
        peak=peak,
        mean=Both(*(rates[side] * windows[side] / SECOND_US for side in (0, 1))),
        bytes=sum(peak[side] * material.rows[side].row_bytes for side in (0, 1)),
    )


def _notes(question: Question, material: ProfileMaterial, pairs: Pairs) -> tuple[str, ...]:
    notes = []
    choice = material.choice
    if choice.share < 1:
        others = f"{100 * choice.share:.3g} % of the {'other ' if pairs.heavy else ''}keys"
        heavy = "1 heavy key" if pairs.heavy == 1 else f"{pairs.heavy:,} heavy keys"
        keys = f"{heavy} and {others}" if pairs.heavy else others
        notes.append(
            f"Matches and ages are from {keys}, {sum(pairs.rows):,} rows; rates, rows and key "
            f"counts are from all rows."
        )
    if 2 * choice.share < choice.wanted:
        notes.append(
            f"Keys too heavy for the {question.most_rows:,} rows that are joined at most had to be "
            f"left out, and their matches with them. Raise most_rows to have them."
        )
    elif 2 * pairs.error > pairs.count:
        notes.append(
            "A few heavy keys make most of the matches, so that the figures on matches are rough. "
            "Raise most_rows for better ones."
        )
    return tuple(notes)
