"""The algorithms that section 8 compares, by the names it gives them."""

from headgate.policies import Heeb, Policy
from headgate.policies.offline import FlowExpect, Opt
from headgate.studies.sigmod05.past import KINDS, LIFE_P, PROB_P, RAND, plan_by_past
from headgate.studies.sigmod05.streams import START, Streams

OPT, FLOW_EXPECT, HEEB = "OPT-offline", "FLOWEXPECT", "HEEB"
HEEB_LITTLE = "HEEB, own lifetime"
"""HEEB as Headgate has it where nothing is said: rows stay as long as Little's law has them."""
ONLINE = (HEEB, HEEB_LITTLE, RAND, PROB_P, LIFE_P)
LOOK_AHEAD = 10

__all__ = [
    "FLOW_EXPECT",
    "HEEB",
    "HEEB_LITTLE",
    "LIFE_P",
    "LOOK_AHEAD",
    "ONLINE",
    "OPT",
    "PROB_P",
    "RAND",
    "algorithm",
    "applies",
]


def applies(name: str, streams: Streams) -> bool:
    """Whether the paper has the algorithm for these streams: LIFE_p needs a window."""
    return not (name == LIFE_P and streams.setting.wanders)


def algorithm(name: str, streams: Streams, rows: int, seed: int) -> Policy:
    """The policy that an algorithm of the paper is here, for these streams and this cache.

    Examples
    --------
    >>> from headgate.studies.sigmod05.streams import SETTINGS, draw_streams
    >>> streams = draw_streams(SETTINGS["TOWER"], steps=100, seed=1)
    >>> [algorithm(name, streams, 3, seed=1).label for name in (OPT, RAND, HEEB)]
    ['OPT-OFFLINE', 'RAND', 'HEEB']
    """
    setting = streams.setting
    if name in KINDS:
        return plan_by_past(name, streams, rows, seed)
    if name == OPT:
        return Opt.plan(*streams.events, streams.windows, rows)
    if name == FLOW_EXPECT:
        return FlowExpect.plan(
            streams.r,
            streams.s,
            (setting.left, setting.right),
            rows,
            LOOK_AHEAD,
            streams.windows_in_steps,
        )
    survival = None if name == HEEB_LITTLE else setting.survival(rows)
    return Heeb(setting.left, setting.right, survival, start=START)
