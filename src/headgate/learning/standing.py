"""Results of the policies on trial, and the choice of the policy to follow next."""

from dataclasses import dataclass, field

import numpy as np

GROUPS = 16
"""Rows tried fall into so many groups at random; how the groups differ says what is chance."""
SURE = 1.5
"""Standard errors by which a policy must lead to replace the one followed."""
LEAST_GAIN = 0.02
"""And by how much of what the present one makes, and less the longer it leads: changing one's mind
is not free, since what is stored was chosen by other rules, and it can take a window to be
replaced; but a small lead that has lasted for windows pays for it in as many to come."""
FAR_SURE, FAR, FAR_PAIRS = 4.0, 0.15, 256.0
"""Standard errors, and the part of what the policy followed makes, by which another must be behind
to be tried no more for a while; and pairs that it takes to tell."""
PATIENCE = 4.0
"""Times as long as rows that came together have been stored, for which another policy must be ahead
to replace the one followed: they may match for the rest of their window."""
LEAST_PAIRS = 64.0
"""Pairs that must have been made in all before anything can be told."""


@dataclass
class Standing:
    """Pairs made by each policy that is tried, by group of rows; older ones count for less.

    Examples
    --------
    >>> standing = Standing(("fifo", "prob"))
    >>> standing.leader("fifo")
    'fifo'
    >>> chance = np.random.default_rng(1)
    >>> standing.add(np.stack([chance.poisson(20, GROUPS), chance.poisson(40, GROUPS)]))
    >>> standing.leader("fifo"), standing.leader("prob")
    ('prob', 'prob')
    """

    names: tuple[str, ...] = ()
    costs: tuple[float, ...] = ()
    """Of each, the part of the memory that it takes to learn what it goes by; none where left out.
    Of two that make the same, the one is better that leaves more room for rows."""
    by_importance: bool = False
    """Whether pairs count by their importance."""
    made: np.ndarray = field(init=False)
    ahead_for: np.ndarray = field(init=False)
    """For how many windows each has been ahead of the one followed by more than chance."""
    together: np.ndarray = field(init=False)
    """How old rows that came together were lately, of those that each stores, in windows.

    They match together, too, so who is ahead may change until then; and a policy that takes over
    throws away what is about to match."""

    def __post_init__(self) -> None:
        self.made = np.zeros((len(self.names), GROUPS))
        self.ahead_for = np.zeros(len(self.names))
        self.together = np.zeros(len(self.names))

    def forget(self, factor: float) -> None:
        """Discount past results by ``factor``."""
        self.made = self.made * factor

    def add(self, made: np.ndarray) -> None:
        """Take in the pairs of a step, by policy and group."""
        self.made = self.made + made

    @property
    def tells(self) -> bool:
        """Whether enough pairs were made to compare policies.

        By importance, as many as would make groups differ as they do if all counted alike; or
        fewer, where one policy is far ahead of another in nearly all groups.
        """
        if not self.made.size:
            return False
        best = self.made[int(np.argmax(self.made.sum(axis=1)))]
        if not self.by_importance:
            return bool(best.sum() >= LEAST_PAIRS)
        chance = GROUPS * best.var(ddof=1)
        if best.sum() > 0 and best.sum() ** 2 >= LEAST_PAIRS * chance:
            return True
        ahead = best - self.made
        return bool(
            (ahead.sum(axis=1) > FAR_SURE * np.sqrt(GROUPS) * ahead.std(axis=1, ddof=1)).any()
        )

    def far_behind(self, followed: str) -> tuple[str, ...]:
        """The policies that make far less than the one followed."""
        own = self.made[self.names.index(followed)]
        if not self.tells or own.sum() < FAR_PAIRS:
            return ()
        behind = own - self.made
        lead, chance = behind.sum(axis=1), np.sqrt(GROUPS) * behind.std(axis=1, ddof=1)
        far = (lead > FAR_SURE * chance) & (lead > FAR * own.sum())
        return tuple(name for name, is_far in zip(self.names, far, strict=True) if is_far)

    def go_on(self, followed: str, windows: float, together: np.ndarray) -> None:
        """Note who is ahead of the policy followed, once so many windows more have passed."""
        ahead = self._ahead(followed) if self.tells else np.zeros(len(self.names), np.bool_)
        self.ahead_for = np.where(ahead, self.ahead_for + windows, 0.0)
        self.together = np.maximum(together, self.together * 0.5**windows)

    def leads(self, name: str, other: str) -> bool:
        """Whether a policy makes more than another, by more than chance and enough to go over."""
        if name not in self.names:
            return False
        ahead = self._ahead(other) & self._by_enough(other, LEAST_GAIN)
        return bool(ahead[self.names.index(name)])

    def leader(self, followed: str) -> str:
        """The policy to follow: another than ``followed`` only if significantly better."""
        if followed not in self.names:
            return self.names[int(np.argmax(self._net.sum(axis=1)))] if self.tells else followed
        together = np.maximum(self.together, self.together[self.names.index(followed)])
        surely = self._ahead(followed) & (self.ahead_for >= PATIENCE * together)
        surely &= self._by_enough(followed, LEAST_GAIN / (1 + self.ahead_for))
        if not self.tells or not surely.any():
            return followed
        lead = self._net.sum(axis=1)
        return self.names[int(np.argmax(np.where(surely, lead, -np.inf)))]

    def is_beaten(self, others: tuple[str, ...], lead: float, least: float) -> bool:
        """Whether what makes ``lead`` times as much as the best of ``others`` makes more than each
        does, by a part of ``least``; true as long as nothing can be told.

        Examples
        --------
        >>> standing = Standing(("lru", "prob"))
        >>> standing.add(np.stack([np.full(GROUPS, 20.0), np.full(GROUPS, 10.0)]))
        >>> standing.is_beaten(("prob",), 1.5, 0.0), standing.is_beaten(("prob",), 2.1, 0.02)
        (False, True)
        """
        if not self.tells:
            return True
        made = self.made.sum(axis=1)
        like = [made[self.names.index(name)] for name in others if name in self.names]
        return bool(lead * max(like, default=0.0) >= (1.0 + least) * made.max())

    def _ahead(self, followed: str) -> np.ndarray:
        """Which policies make more than the one followed, by more than chance."""
        if followed not in self.names:
            return np.zeros(len(self.names), np.bool_)
        ahead = self._net - self._net[self.names.index(followed)]
        lead, chance = ahead.sum(axis=1), np.sqrt(GROUPS) * ahead.std(axis=1, ddof=1)
        found: np.ndarray = lead > SURE * chance
        return found

    def _by_enough(self, followed: str, gain: np.ndarray | float) -> np.ndarray:
        """Which policies make more than the one followed by such a part of what that makes."""
        if followed not in self.names:
            return np.zeros(len(self.names), np.bool_)
        made = self._net.sum(axis=1)
        found: np.ndarray = made > (1 + gain) * made[self.names.index(followed)]
        return found

    @property
    def _net(self) -> np.ndarray:
        """What each makes, less what it costs."""
        costs = np.array(self.costs or [0.0] * len(self.names))
        net: np.ndarray = self.made * (1 - costs)[:, None]
        return net
