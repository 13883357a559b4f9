"""Chooses the eviction policy for a join from what the user asked for, and checks that it fits."""

from typing import Any, NamedTuple

from headgate.models import AgeCurves, Frequencies
from headgate.policies import Policy, make_policy
from headgate.sampling import make_sampler
from headgate.spec import (
    Budget,
    Goal,
    How,
    MaxImportance,
    RowWindow,
    Sample,
    SpecError,
    Window,
)


class AskedPolicy(NamedTuple):
    """The requested policy, with everything that decides whether it can run this join."""

    policy: str | Policy
    goal: Goal | None
    budget: Budget
    windows: tuple[Window, Window]
    is_keyed: bool
    frequencies: Frequencies | None
    ages: AgeCurves | None
    rates: tuple[float, float] | None
    seed: int
    prior: Any = None
    how: How = How.INNER
    features: tuple[str, ...] = ()

    def choose(self) -> Policy:
        """Return the policy; raise if it does not fit the join."""
        if isinstance(self.goal, Sample):
            chosen = self._sampler(self.goal)
        else:
            chosen = self._plain()
        if self.features and chosen.learned is not None and chosen.tries_others:
            chosen = chosen.learned.with_columns()
        if not self.is_keyed and not self.features:
            chosen = chosen.without_keys(self.windows)
        if (chosen.weighs_keys or chosen.counts_keys) and not self.is_keyed:
            raise SpecError(
                f'policy "{chosen.label.lower()}" ranks rows by their key, and this join has '
                f"none: give on=, or choose another policy"
            )
        chosen.check(self.windows)
        check_budget(self.budget, chosen)
        if self.prior is None:
            return chosen
        from headgate.api.asked_prior import with_prior  # a what-if takes long to import

        return with_prior(chosen, self.prior, self.budget, self.windows, self.how)

    def _sampler(self, goal: Sample) -> Policy:
        check_time_for_a_sample(self.budget)
        if self.policy != "auto":
            raise SpecError(
                f"policy={self.policy!r} is not accepted with a sample: the goal says which rows "
                f"are kept"
            )
        if any(isinstance(window, RowWindow) for window in self.windows):
            raise SpecError(
                "a sample needs windows in time: give a duration for each side's window"
            )
        return make_sampler(
            goal,
            self.budget,
            self.windows,
            frequencies=self.frequencies,
            ages=self.ages,
            rates=self.rates,
            seed=self.seed,
            keyed=self.is_keyed,
        )

    def _plain(self) -> Policy:
        important = isinstance(self.goal, MaxImportance)
        chosen = make_policy(self.policy, self.frequencies, self.ages, self.seed, important)
        if important and chosen.samples:
            raise SpecError(
                f"policy={chosen!r} draws a sample, and the goal is importance: choose another "
                f"policy, or goal=hg.Sample(...)"
            )
        return chosen


def check_time_for_a_sample(budget: Budget) -> None:
    """Raise if the budget limits processor time, which samples do not support."""
    if budget.cpu is not None:
        raise SpecError(
            f"cpu={budget.cpu!r} is not accepted with a sample, whose weights must know every "
            f"row that was left out: give rows= or memory=, or a smaller "
            f'hg.Sample("uniform", fraction=...)'
        )


def check_budget(budget: Budget, chosen: Policy) -> None:
    """Raise if the policy cannot work with this kind of budget."""
    if budget.cpu is not None and (chosen.is_offline or chosen.samples):
        raise SpecError(
            f'policy "{chosen.label.lower()}" plans with every row, and a cpu budget leaves '
            f"some out: give rows= alone, or choose another policy"
        )
    if chosen.learned is not None and budget.monitor == 0:
        raise SpecError(
            f'policy "{chosen.asked_name}" learns a model of the streams, and the budget has '
            f"monitor=0: leave monitor out, give a model (frequencies= or ages=), or choose "
            f"another policy"
        )
