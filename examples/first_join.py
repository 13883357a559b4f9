"""Which late planes were late again? Flights from New York.

Each departure is joined to the landings of the same plane in the seven days before it. With a fifth
of the memory that the exact join needs, Headgate keeps the landings that were the latest.

Run it:  python examples/first_join.py
"""

import headgate as hg
from headgate.demo.flights import new_york_flights


def join(policy: str, rows: int = 1_300) -> hg.WindowJoin:
    """The join with a budget in rows; the exact join stores up to 6,139."""
    return hg.WindowJoin(
        on="plane",
        left=hg.Side(time="landed_at", window="7 days"),  # a landing waits 7 days for departures
        right=hg.Side(time="departed_at", window="0 seconds"),  # a departure waits for nothing
        budget=hg.Budget(rows=rows),
        goal=hg.MaxImportance(left="minutes_late"),  # late landings matter most
        policy=policy,
    )


def shares() -> dict[str, float]:
    """By policy the share of all minutes late in the exact result."""
    flights = new_york_flights()
    made = {}
    for policy in ("auto", "greedy", "fifo", "random"):
        outcome = join(policy).run(flights.landings, flights.departures)
        made[policy] = outcome.importance_recall
    return made


if __name__ == "__main__":
    for name, share in shares().items():
        print(f"{name:<8} {share:.3f}")
