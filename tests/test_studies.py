"""Studies: every claim of every study in a quick run, and the frame that runs and judges them."""

import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure as Drawing
from rich.console import Console
from typer.testing import CliRunner

from headgate.cli.main import app
from headgate.policies import Fifo
from headgate.policies.offline import NOT_KEPT
from headgate.policies.offline.course import Course
from headgate.spec import SpecError
from headgate.studies import catalogue, study_command
from headgate.studies.catalogue import ALL_STUDIES, chosen
from headgate.studies.learned.intervals import unbiased
from headgate.studies.run import run
from headgate.studies.sigmod05.past import KINDS, LIFE_P, PROB_P, RAND, plan_by_past
from headgate.studies.sigmod05.shares import share_of_r
from headgate.studies.sigmod05.streams import SETTINGS, draw_streams
from headgate.studies.study import (
    Claim,
    ClaimFinding,
    ClaimVerdict,
    Figure,
    Row,
    Status,
    Study,
    StudyCell,
    judge,
)
from headgate.studies.study_command import StudySettings, parse_seeds, reproduce
from headgate.studies.trial import seconds
from headgate.studies.vldb04.age_streams import FULL_WINDOW_ROWS, W1_S, age_streams, matches_of
from headgate.studies.vldb04.examples import best_average
from headgate.studies.vldb04.fig7 import SHAPES, best_percent
from headgate.studies.vldb04.wan_trace import RATE, wan_trace
from headgate.studies.vldb04.wan_trace import Path as WanPath
from tests.thoroughness import usually


def quiet() -> Console:
    return Console(file=io.StringIO(), width=120)


ONE_A_PAPER = (
    "vldb04-fig7",
    "sigmod05-fig9-12",
    "tr1542-offline",
    "icde03-fig5",
    "ijoin-fig2",
)
STUDIES = usually(
    [study for study in ALL_STUDIES if study.name in ONE_A_PAPER],
    ALL_STUDIES,
    lambda study: study.name,
)


class TestEveryStudy:
    @pytest.mark.parametrize("study", STUDIES)
    def test_no_claim_fails_in_a_quick_run(self, study: Study) -> None:
        results = run([study], seeds=None, quick=True, jobs=1, console=quiet())[study.name]
        verdicts = judge(study, results)
        assert verdicts
        failed = [
            f"{v.claim.name}: {v.finding.measured}" for v in verdicts if v.status is Status.FAILS
        ]
        assert not failed
        for figure in study.figures:
            assert figure.draw(results).axes

    def test_claims_have_names_of_their_own(self) -> None:
        for study in ALL_STUDIES:
            names = [claim.name for claim in study.claims]
            assert len(set(names)) == len(names), study.name


def squares(cell: StudyCell) -> Sequence[Row]:
    return [{"square": cell["x"] ** 2 + cell.seed}]


def finding(holds: bool) -> Claim:
    return Claim("claim", "It does", lambda results: ClaimFinding(holds, "as seen"))


def made_up(*claims: Claim, seeds: tuple[int, ...] = ()) -> Study:
    return Study(
        name="made-up",
        title="Squares",
        paper="Nobody: Nothing",
        place="nowhere",
        grid={"x": (1, 2, 3), "policy": ("AGE",)},
        quick_grid={"x": (2,)},
        measure=squares,
        claims=claims,
        figures=(Figure(lambda results: Drawing()),),
        seeds=seeds,
    )


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Make one study the whole catalogue."""

    def put(study: Study) -> None:
        monkeypatch.setattr(catalogue, "ALL_STUDIES", (study,))

    return put


def test_estimates_are_judged_together_where_each_stream_has_few_runs() -> None:
    runs = pd.DataFrame({"stream": ["a", "b"] * 9, "estimate": [0.6, 0.4] * 9}).assign(recall=0.5)
    few = unbiased(runs.assign(policy="AGE"), "policy")
    assert few.holds
    assert "all streams" in few.measured
    many = pd.concat([runs, runs.assign(estimate=runs["estimate"] + 1e-3)])
    assert not unbiased(many.assign(policy="AGE"), "policy").holds


class TestFrame:
    def test_results_have_a_row_a_cell_in_the_order_of_the_grid(self, only) -> None:  # type: ignore[no-untyped-def]
        study = made_up(seeds=(10, 20))
        only(study)
        results = run([study], None, False, 1, quiet())["made-up"]
        assert results.columns.tolist() == ["x", "policy", "seed", "square"]
        assert results["square"].tolist() == [11, 14, 19, 21, 24, 29]

    def test_seeds_can_be_given_unless_nothing_is_random(self) -> None:
        assert {cell.seed for cell in made_up(seeds=(1, 2)).cells((7,), quick=False)} == {7}
        assert {cell.seed for cell in made_up(seeds=(1, 2)).cells(None, quick=True)} == {1}
        assert {cell.seed for cell in made_up().cells((7,), quick=False)} == {0}

    @pytest.mark.parametrize(
        ("holds", "departs", "status", "exit_code"),
        [
            (True, "", Status.HOLDS, 0),
            (False, "", Status.FAILS, 1),
            (False, "the paper rounds", Status.DEPARTS, 0),
            (True, "the paper rounds", Status.STALE, 0),
        ],
    )
    def test_only_an_undeclared_departure_fails(  # type: ignore[no-untyped-def]
        self, holds: bool, departs: str, status: Status, exit_code: int, only, tmp_path: Path
    ) -> None:
        claim = Claim("claim", "It does", lambda results: ClaimFinding(holds, "seen"), departs)
        only(made_up(claim))
        console = quiet()
        assert reproduce(StudySettings(out=tmp_path, jobs=1), console) == exit_code
        assert ClaimVerdict("", claim, ClaimFinding(holds, "")).status is status
        saved = pd.read_csv(tmp_path / "verdicts.csv", keep_default_na=False)
        assert saved["verdict"].tolist() == [status.value]
        assert saved["departs"].tolist() == [departs]
        assert departs in console.file.getvalue()  # type: ignore[attr-defined]

    def test_results_and_figures_are_saved(self, only, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
        only(made_up(finding(True)))
        reproduce(StudySettings(out=tmp_path / "new", jobs=1), quiet())
        names = {path.name for path in (tmp_path / "new").iterdir()}
        assert names == {"made-up.csv", "made-up.png", "made-up.svg", "run.json", "verdicts.csv"}

    @pytest.mark.long
    def test_many_processes_find_what_one_finds(self) -> None:
        studies = chosen(["vldb04-ex3.3"])
        one, two = (run(studies, None, True, jobs, quiet()) for jobs in (1, 2))
        assert one["vldb04-ex3.3"].equals(two["vldb04-ex3.3"])

    def test_names_must_be_known(self) -> None:
        with pytest.raises(SpecError, match=r'no study is called "vldb05".*vldb04-fig7'):
            chosen(["vldb05"])

    @pytest.mark.parametrize("text", ["", "1,", "one", "1,1", "-1"])
    def test_seeds_that_make_no_sense_are_refused(self, text: str) -> None:
        with pytest.raises(SpecError, match="seeds"):
            parse_seeds(text)


class TestCommand:
    def test_list_says_what_there_is(self) -> None:
        result = CliRunner().invoke(app, ["reproduce", "--list"])
        assert result.exit_code == 0
        assert all(study.name in result.output for study in ALL_STUDIES)

    def test_a_study_runs_by_name(self, tmp_path: Path) -> None:
        args = ["reproduce", "vldb04-ex3.4", "--out", str(tmp_path), "--jobs", "1"]
        result = CliRunner().invoke(app, args)
        assert result.exit_code == 0
        assert "5 claims: holds 5" in " ".join(result.output.split())

    def test_a_claim_that_fails_shows_in_the_exit_status(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(study_command, "reproduce", lambda settings, console: 1)
        assert CliRunner().invoke(app, ["reproduce"]).exit_code == 1

    def test_an_unknown_name_is_the_users_to_mend(self) -> None:
        assert CliRunner().invoke(app, ["reproduce", "vldb05"]).exit_code == 2


class TestStreams:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_age_streams_have_the_age_curve_they_are_made_from(self, shape: str) -> None:
        matches = matches_of(SHAPES[shape])
        trial = age_streams(matches, 20_000, seed=5)
        assert trial.exact.num_rows == trial.right.num_rows
        ages = seconds(trial.exact, "probed_at") - seconds(trial.exact, "stored_at")
        made, _ = np.histogram(ages, bins=len(matches), range=(0, W1_S))
        assert made / made.sum() == pytest.approx(matches / matches.sum(), abs=0.005)

    def test_a_full_window_holds_what_memory_is_measured_by(self) -> None:
        trial = age_streams(matches_of(SHAPES["INC"]), 20_000, seed=5)
        assert trial.left.num_rows / 20_000 * W1_S == pytest.approx(FULL_WINDOW_ROWS, rel=0.01)

    def test_the_same_seed_gives_the_same_streams(self) -> None:
        one, again, other = (wan_trace(3, seed) for seed in (1, 1, 2))
        assert one.right.equals(again.right)
        assert not one.right.equals(other.right)

    def test_wan_rows_match_by_timestamp_and_some_are_lost(self) -> None:
        trial = wan_trace(5, seed=3, path=WanPath(loss=0.5))
        rows = trial.left.num_rows
        assert trial.right.num_rows == pytest.approx(0.5 * rows, rel=0.02)
        in_time = rows - 60 * RATE  # partners of the last rows are not in the trace
        assert trial.exact.num_rows == pytest.approx(0.5 * 11 * in_time, rel=0.02)
        lag = np.subtract(*(seconds(trial.exact, key) for key in ("key_right", "key")))
        assert lag.min() == pytest.approx(59.9)
        assert lag.max() == pytest.approx(60.1)
        ages = seconds(trial.exact, "probed_at") - seconds(trial.exact, "stored_at")
        assert ages.min() > 59.9 + 1.5 - 0.1

    def test_the_wan_model_has_the_papers_peak_and_best_age(self) -> None:
        path = WanPath()
        log_mean = math.log(path.mode_s) + path.sigma**2
        ages = np.arange(1, 12_001) / 100
        share = np.zeros(len(ages))
        lags = np.arange(59.9, 60.11, 1 / RATE)
        for lag in lags:
            delay = ages - lag - path.clock_behind_s - path.least_latency_s
            late = [
                math.erf((math.log(d) - log_mean) / path.sigma / 2**0.5) for d in delay[delay > 0]
            ]
            share[delay > 0] += (1 + np.array(late)) / 2 / len(lags)
        assert ages[np.argmax(np.diff(share))] == pytest.approx(63.0, abs=0.05)
        assert ages[np.argmax(share / ages)] == pytest.approx(68.8, abs=0.05)

    def test_bell_reduces_to_recent_from_65_percent_on(self) -> None:
        assert best_percent("BELL") == 65

    def test_exhaustive_search_knows_when_memory_is_ample(self) -> None:
        assert best_average((3, 0, 2), rows=3) == 5


class TestAlgorithmsThatCountThePast:
    @pytest.mark.parametrize("name", KINDS)
    def test_the_join_follows_the_plan(self, name: str) -> None:
        streams = draw_streams(SETTINGS["ROOF"], steps=150, seed=4)
        plan = plan_by_past(name, streams, rows=4, seed=4)
        outcome = streams.join(plan, rows=4)
        assert outcome.stats.peak_rows == 4
        ends = np.column_stack([plan.ends_left, plan.ends_right]).ravel()
        stored = [
            {row for row in range(now + 1) if ends[row] != NOT_KEPT and ends[row] > now}
            for now in range(300)
        ]
        assert max(len(each) for each in stored) == 4
        value = np.column_stack([streams.r, streams.s]).ravel()
        met = sum(
            sum(row % 2 != now % 2 and value[row] == value[now] for row in stored[now - 1])
            for now in range(1, 300)
        )
        assert outcome.stats.pairs == met

    @pytest.mark.parametrize("name", [PROB_P, LIFE_P])
    def test_the_row_given_up_is_worth_no_more_than_those_kept(self, name: str) -> None:
        streams = draw_streams(SETTINGS["TOWER"], steps=200, seed=2)
        plan = plan_by_past(name, streams, rows=6, seed=2)
        value = np.column_stack([streams.r, streams.s]).ravel()
        ends = np.column_stack([plan.ends_left, plan.ends_right]).ravel()
        last = Course.of(*streams.events, streams.windows).last
        checked = 0
        for now in range(399):
            kept = [row for row in range(now + 1) if ends[row] > now]
            gone = [row for row in range(now + 1) if ends[row] == now and last[row] >= now]
            gone += [now] if ends[now] == NOT_KEPT else []
            worth = {
                row: np.count_nonzero(value[1 - row % 2 : now + 1 : 2] == value[row])
                * (last[row] - now if name == LIFE_P else 1)
                for row in kept + gone
            }
            assert all(worth[each] <= worth[row] for each in gone for row in kept)
            checked += len(gone)
        assert checked > 300

    def test_rand_gives_up_anyone_alike(self) -> None:
        streams = draw_streams(SETTINGS["FLOOR"], steps=2000, seed=3)
        plan = plan_by_past(RAND, streams, rows=3, seed=3)
        ends = np.column_stack([plan.ends_left, plan.ends_right]).ravel()
        assert np.mean(ends == NOT_KEPT) == pytest.approx(1 / 4, abs=0.03)

    def test_shares_are_what_the_join_stores(self) -> None:
        streams = draw_streams(SETTINGS["TOWER"], steps=300, seed=1)
        assert share_of_r(streams, Fifo(), rows=8) == 0.5
        assert share_of_r(streams, Fifo(), rows=1) == 0.0
