"""A plan as text: a heading and one line per decision, printed as a tree."""

from math import isinf

from headgate.planner.draft import Draft, Expectation, Sampling, SkippedWork
from headgate.planner.planning_case import PlanningCase
from headgate.planner.tried_policies import TriedPolicy
from headgate.spec import How, Sample
from headgate.spec.quantity import format_bytes

Line = tuple[str, str]
NAMES = ("left", "right")


def told(case: PlanningCase, draft: Draft) -> tuple[str, list[Line]]:
    """The heading, and the lines of the plan, each with its name."""
    lines: list[Line] = [("model", _model(draft))]
    lines += [(NAMES[side], _side(case, draft, side)) for side in (0, 1)]
    if draft.splits:
        lines.append(("split", _splits(draft)))
    if draft.sampling is not None:
        lines.append(("sample", _sampling(draft.sampling)))
    if draft.effort is not None:
        lines.append(("skip", _effort(case, draft.effort)))
    lines.append(("shards", _shards(draft)))
    if rejected := _rejected(draft):
        lines.append(("rejected", rejected))
    lines += [("note", note) for note in draft.notes]
    assert draft.expect is not None
    lines.append(("cost", _cost(case, draft.expect)))
    lines.append(("expect", _expect(case, draft, draft.expect)))
    lines.append(("use", "plan.join.stream(left, right), or run, or batch"))
    return _heading(case), lines


def as_tree(case: PlanningCase, draft: Draft) -> str:
    """The lines as a tree."""
    heading, lines = told(case, draft)
    drawn = [f"{'└─' if line is lines[-1] else '├─'} {line[0]:<8} {line[1]}" for line in lines]
    return "\n".join([heading, *drawn])


def _heading(case: PlanningCase) -> str:
    budget = case.request.budget
    size = f"{case.row_bytes:,.0f} bytes"
    if budget.memory is not None and not isinf(case.room):
        room = f" ({case.room:,.0f} rows of {size})"
    else:
        room = f" (of {size} each)" if budget.rows is not None else ""
    kind = "" if case.request.how == How.INNER else f" of {case.request.how.article} join"
    return f"{type(case.request.goal).__name__}{kind} within {budget}{room}"


def _model(draft: Draft) -> str:
    model = draft.model
    assert model is not None
    if model.name in ("none", "learned"):
        return model.says
    return f"{model.name}: {model.says}    (measured on {_count(model.rows)} rows)"


def _side(case: PlanningCase, draft: Draft, side: int) -> str:
    if not case.stores[side]:
        return "not stored (window 0)"
    who = draft.sampling.scheme if draft.sampling else label_of(draft)
    index = "" if draft.shown_index is None else f", {draft.shown_index[side].value} index"
    return f"{who}, {_room(case, draft, side)}{index}"


def label_of(draft: Draft) -> str:
    """The policy's label in the plan."""
    if draft.chosen is not None:
        return draft.chosen.label
    return draft.policy.label


def _room(case: PlanningCase, draft: Draft, side: int) -> str:
    need = case.window_rows[side]
    if case.fits:
        return f"all rows, {need:,.0f} on average"
    room = case.room
    if not isinstance(draft.split, str):
        room *= draft.split[side] / sum(draft.split)
    elif all(case.stores):
        return f"{room:,.0f} rows together with the {NAMES[1 - side]}"
    return f"{room:,.0f} rows"


def _splits(draft: Draft) -> str:
    def named(split: object) -> str:
        if isinstance(split, tuple):
            left = 100 * split[0] / sum(split)
            return f"{left:.0f} : {100 - left:.0f}"
        return str(split)

    others = [one for one in draft.splits if one.split != draft.split]
    shown = ", ".join(f"{named(one.split)} {one.recall:.2f}" for one in others)
    return f"{named(draft.split)}; rejected {shown}"


def _sampling(found: Sampling) -> str:
    fraction = "" if found.fraction is None else f" of {100 * found.fraction:.3g} %"
    others = [
        f"{name} {_percent(error)}" for name, error in found.tried.items() if name != found.scheme
    ]
    others += [f"{name} ({why})" for name, why in found.left_out.items()]
    rejected = f"; rejected {', '.join(others)}" if others else ""
    return f"{found.scheme}{fraction}, a count is off by {_percent(found.error)} or less{rejected}"


def _effort(case: PlanningCase, effort: SkippedWork) -> str:
    if effort.plan is None:
        return f"nothing: what there is memory for takes {effort.takes:.3g} of a core"
    shares = []
    for side, name in enumerate(NAMES):
        probe, insert = effort.plan.shares(side)
        stored = f", {_percent(insert)} stored" if case.stores[side] else ""
        shares.append(f"{name} {_percent(probe)} probe{stored}")
    return f"{'; '.join(shares)}; the whole join would take {effort.whole:.3g} of a core"


def _shards(draft: Draft) -> str:
    shards = draft.shards
    assert shards is not None
    if shards.asked is not None:
        much = shards.fullest[shards.asked] if shards.asked > 1 else 1.0
        said = f"{shards.asked}: the fullest would have {much:.2f} times an even part"
        if shards.asked > shards.most and much > 1.25:
            said += f"; {shards.most} would be even enough"
        return said
    if shards.most == 1:
        return (
            f"1: heavy keys fill one; of 2 the fuller would have {shards.fullest[2]:.2f} times an "
            f"even part"
        )
    more = 2 * shards.most
    said = f"up to {shards.most}"
    if more in shards.fullest:
        said += f"; of {more} the fullest would have {shards.fullest[more]:.2f} times an even part"
    return said


def _rejected(draft: Draft) -> str:
    chosen = draft.chosen
    if chosen is None:
        return ""
    others = [each for each in draft.tried if each.label != chosen.label]
    others.sort(key=lambda each: -each.recall.value)
    return ", ".join(_tried(each, chosen, draft) for each in others)


def _tried(each: TriedPolicy, chosen: TriedPolicy, draft: Draft) -> str:
    why = ""
    if each.recall.value > chosen.recall.value and not draft.splits:
        why = " (not asked for)" if draft.as_asked else " (within noise)"
    return f"{each.label} {each.recall.value:.2f}{why}"


def _cost(case: PlanningCase, expect: Expectation) -> str:
    known = "as calibrated" if case.calibration else "on a usual machine"
    return f"{expect.cores:.2g} of a core {known}, at {sum(case.rates):,.4g} rows a second"


def _expect(case: PlanningCase, draft: Draft, expect: Expectation) -> str:
    parts = []
    if draft.sampling is not None:
        parts.append(f"a count within {_percent(draft.sampling.error)}")
    elif isinstance(draft.goal, Sample):
        parts.append("a sample whose error its weights tell")
    elif expect.recall is None:
        parts.append("a recall that cannot be predicted")
    else:
        parts.append(_recall(expect))
    if expect.fifo is not None and label_of(draft) != "FIFO" and not case.fits:
        parts.append(f"FIFO would reach {expect.fifo:.2f}")
    verb = "need" if case.fits else "would need"
    parts.append(f"all rows {verb} {_needs(case, expect)}")
    return f"{parts[0]}; {', '.join(parts[1:])}"


def _recall(expect: Expectation) -> str:
    assert expect.recall is not None
    if expect.low is None or expect.high is None:
        return f"recall about {expect.recall:.2f} ({expect.basis})"
    below, above = expect.recall - expect.low, expect.high - expect.recall
    if abs(below - above) < 0.0005:
        # Symmetric at the digits shown, so one margin describes the interval.
        return f"recall {expect.recall:.3f} ± {above:.3f}"
    return f"recall {expect.recall:.3f} (from {expect.low:.3f} to {expect.high:.3f})"


def _needs(case: PlanningCase, expect: Expectation) -> str:
    if case.request.budget.memory is not None or case.request.budget.rows is None:
        return format_bytes(expect.bytes)
    return f"{expect.rows:,.0f} ({format_bytes(expect.bytes)})"


def _count(rows: int) -> str:
    return f"{rows / 1e6:.3g} M" if rows >= 1_000_000 else f"{rows:,}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
