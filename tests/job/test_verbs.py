"""Jobs of every verb: a job file does what the command does, byte for byte; unknown keys are refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click import testing

from discreet.cli._app import app
from discreet.core.errors import DiscreetError, OutputError, ParameterError
from discreet.core.registry import specs
from discreet.job import Job, Made, Result, VerbJob, open_job, run

JOBS = {
    "perturb": (
        (
            '[input]\npath = "people.csv"\n[perturb]\ncolumns = ["age"]\nnoise = "gaussian"\nprivacy = 1.0\n'
            'drop = ["name"]\nranges = {age = [0, 100]}\n[output]\nfile = "OUT.csv"\nseed = 3\n'
        ),
        "perturb people.csv --columns age --noise gaussian --privacy 1 --drop name --range age=0,100 --seed 3",
    ),
    "distort": (
        '[input]\npath = "shop.dat"\n[distort]\np = 0.5\nq = 0.9\n[output]\nfile = "OUT.dat"\nseed = 5\n',
        "distort shop.dat --p 0.5 --q 0.9 --seed 5",
    ),
    "reconstruct": (
        (
            '[input]\npath = "people.csv"\n[reconstruct]\ncolumn = "age"\nnoise = "gaussian"\nspread = 9.0\nlow = 0\n'
            'high = 100\nintervals = 20\n[output]\nfile = "OUT.csv"\n'
        ),
        "reconstruct people.csv --column age --noise gaussian --spread 9 --range 0,100 --intervals 20",
    ),
    "mine": (
        (
            '[input]\npath = "shop.dat"\n[mine]\nmin_support = 4\nkind = "closed"\nmax_length = 2\n'
            '[output]\nfile = "OUT.csv"\n'
        ),
        "mine shop.dat --min-support 4 --kind closed --max-length 2",
    ),
    "fit": (
        (
            '[input]\npath = "people.csv"\n[fit]\ntarget = "ill"\ndrop = ["name"]\nstrategy = "by-class"\n'
            'max_depth = 2\ntest = "people.csv"\n[fit.channels.age]\nnoise = "gaussian"\nspread = 9.0\nlow = 0\n'
            'high = 100\n[output]\nfile = "OUT.json"\n'
        ),
        (
            "fit people.csv --target ill --drop name --strategy by-class --max-depth 2 --test people.csv "
            "--channels channels.json"
        ),
    ),
    "predict": (
        '[input]\npath = "people.csv"\n[predict]\nmodel = "model.json"\nkeep = ["name"]\n[output]\nfile = "OUT.csv"\n',
        "predict model.json people.csv --keep name",
    ),
    "perturb by pram": (
        (
            '[input]\npath = "people.csv"\n[perturb]\ncolumns = ["ill"]\nmethod = "pram"\nredraw = 0.4\n'
            'shares = "shares.csv"\ndrop = ["name"]\n[output]\nfile = "OUT.csv"\nseed = 3\n'
        ),
        "perturb people.csv --columns ill --method pram --redraw 0.4 --shares shares.csv --drop name --seed 3",
    ),
    "perturb by swapping": (
        (
            '[input]\npath = "people.csv"\n[perturb]\ncolumns = ["age"]\nmethod = "rank-swapping"\nwindow = 0.1\n'
            'within = ["ill"]\ndrop = ["name"]\n[output]\nfile = "OUT.csv"\nseed = 3\n'
        ),
        "perturb people.csv --columns age --method rank-swapping --window 0.1 --within ill --drop name --seed 3",
    ),
    "reconstruct shares": (
        (
            '[input]\npath = "people.csv"\n[reconstruct]\ncolumn = "ill"\nchannels = "matrix.json"\nby = "age"\n'
            '[output]\nfile = "OUT.csv"\n'
        ),
        "reconstruct people.csv --column ill --channels matrix.json --by age",
    ),
}
"""A job file of each verb that writes a file, and the command that does the same."""


def invoke(*args: object) -> testing.Result:
    return testing.CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with people, baskets, channels and a model."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    age = rng.integers(20, 80, 400)
    ill = np.where(age > 50, "yes", "no")
    people = pl.DataFrame({"name": [f"p{number}" for number in range(400)], "age": age, "ill": ill})
    people.write_csv("people.csv")
    baskets = [" ".join(f"item{item}" for item in np.flatnonzero(rng.random(8) < 0.3)) for _ in range(60)]
    Path("shop.dat").write_text("\n".join(baskets) + "\n")
    channels = {"age": {"noise": "gaussian", "spread": 9.0, "low": 0, "high": 100}}
    Path("channels.json").write_text(json.dumps(channels))
    Path("shares.csv").write_text("ill,share\nno,0.5\nyes,0.5\n")
    matrix = {"ill": {"categories": ["no", "yes"], "matrix": [[0.9, 0.1], [0.2, 0.8]]}}
    Path("matrix.json").write_text(json.dumps(matrix))
    model = invoke("fit", "people.csv", "--target", "ill", "--drop", "name", "--out", "model.json")
    assert model.exit_code == 0, model.output
    return tmp_path


@pytest.mark.parametrize("verb", JOBS)
def test_a_job_file_does_what_the_command_does(folder: Path, verb: str) -> None:
    text, command = JOBS[verb]
    ending = next(line for line in text.splitlines() if "OUT." in line).split(".")[1].rstrip('"')
    (folder / "job.toml").write_text(text.replace("OUT", "by-job"))
    ran = invoke("run", "job.toml")
    assert ran.exit_code == 0, ran.output
    typed = invoke(*command.split(), "--out", f"by-command.{ending}")
    assert typed.exit_code == 0, typed.output
    assert (folder / f"by-job.{ending}").read_bytes() == (folder / f"by-command.{ending}").read_bytes()
    assert ran.output.replace("by-job", "by-command") == typed.output


@pytest.mark.parametrize("verb", JOBS)
def test_a_run_returns_a_result_and_writes_only_where_it_may(folder: Path, verb: str) -> None:
    (folder / "job.toml").write_text(JOBS[verb][0].replace("OUT", "made"))
    job = open_job(folder / "job.toml")
    assert isinstance(job, VerbJob)
    assert job.verb == verb.split()[0]
    stages: list[str] = []
    result = run(job, stages.append)
    assert isinstance(result, Made)
    assert isinstance(result, Result)
    assert tuple(stages) == job.stages
    assert list(result.files) == [job.out]
    assert json.dumps(dict(result.figures))
    assert "4711" not in repr(result)
    before = job.out.read_bytes() if job.out else b""
    with pytest.raises(OutputError, match="overwriting"):
        run(job)
    assert job.out is not None
    assert job.out.read_bytes() == before
    refused = invoke("run", "job.toml")
    assert refused.exit_code == 7
    assert "--overwrite" in refused.output
    assert invoke("run", "job.toml", "--overwrite", "--json").exit_code == 0
    assert invoke("run", "job.toml", "--strict").exit_code == 2


@pytest.mark.parametrize("verb", JOBS)
def test_an_unknown_key_is_named(folder: Path, verb: str) -> None:
    for section in ("[input]", f"[{verb.split()[0]}]", "[output]"):
        (folder / "job.toml").write_text(JOBS[verb][0].replace(section, f'{section}\nsneaky = "4711"'))
        with pytest.raises(ParameterError, match="sneaky") as refused:
            open_job(folder / "job.toml")
        assert "4711" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[perturb]\ncolumns = ["age"]\nnoise = "gaussian"', r"\[input\] its path"),
        (
            '[input]\npath = "p.csv"\n[perturb]\nnoise = "gaussian"',
            "'columns' parameter of .perturb. is missing",
        ),
        ('[input]\npath = "p.csv"\n[perturb]\ncolumns = "age"\nnoise = "uniform"', "a list of texts"),
        ('[input]\npath = "p.csv"\n[perturb]\ncolumns = ["age"]\nnoise = "pink"', "one of 'uniform'"),
        (
            '[input]\npath = "p.csv"\n[perturb]\ncolumns = ["a"]\nnoise = "uniform"\nranges = {a = [3]}',
            "higher",
        ),
        ('[input]\npath = "p.csv"\n[distort]\np = 0.5\n[mine]\nmin_support = 2', "does one thing"),
        ('[input]\npath = "p.csv"\n[mine]\nmin_support = 2\nmargin = 2', "for distorted baskets"),
        ('[input]\npath = "p.csv"\n[fit]\ntarget = "a"\nmodel = "naive-bayes"\nmax_depth = 2', "for a tree"),
        ('perturb = 3\n[input]\npath = "p.csv"', "must be a table"),
        ('[input]\npath = "p.csv"\ndelimiter = 3\n[fit]\ntarget = "a"', "'delimiter' parameter"),
    ],
)
def test_mistakes_in_a_job_file_are_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "job.toml").write_text(text)
    with pytest.raises(DiscreetError, match=words):
        open_job(tmp_path / "job.toml")


def test_a_vault_is_made_by_a_job_file(tmp_path: Path) -> None:
    rows = [f"{20 + number % 9},{1000 + 37 * number}" for number in range(30)]
    (tmp_path / "staff.csv").write_text("age,salary\n" + "\n".join(rows) + "\n")
    (tmp_path / "job.toml").write_text(
        '[input]\npath = "staff.csv"\n[audit]\nsensitive = ["salary"]\npublic = ["age"]\nauditor = "sum"\nlow = 0.0\n'
        '[output]\nfolder = "staff.vault"\n'
    )
    result = run(open_job(tmp_path / "job.toml"))
    assert (result.kind, result.figures["records"]) == ("vault", 30)
    assert result.verdict is not None
    assert result.verdict.ok
    asked = invoke("audit", "ask", tmp_path / "staff.vault", "SELECT count(*) FROM data")
    assert asked.output.split()[-1] == "30"
    with pytest.raises(OutputError, match="new folder"):
        run(open_job(tmp_path / "job.toml"))


def test_a_release_and_hidden_rules_are_jobs_as_before(folder: Path) -> None:
    (folder / "job.toml").write_text(
        '[input]\npath = "shop.dat"\n[baskets]\n[[guarantee]]\nkind = "rules-hidden"\nrules = ["item1, item2"]\n'
        'min_support = 2\n[method]\nname = "maxmin2"\n[output]\nfolder = "hidden"\nreport = false\n'
    )
    job = open_job(folder / "job.toml")
    assert isinstance(job, Job)
    release = run(job)
    assert isinstance(release, Result)
    assert release.verdict.ok
    assert (folder / "hidden" / "release.json").is_file()


def test_every_verb_has_a_class_of_its_own() -> None:
    for verb, spec in specs("verb").items():
        declared = spec.load()
        assert issubclass(declared, VerbJob)
        assert declared.verb == verb
        assert declared.stages


def test_a_party_needs_no_data_in_its_job_but_a_session(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(
        '[party]\nsession = "session.toml"\nname = "a"\n[output]\nfolder = "result"\n'
    )
    job = open_job(tmp_path / "job.toml")
    assert isinstance(job, VerbJob)
    assert job.data is None
    assert job.session == tmp_path / "session.toml"  # type: ignore[attr-defined]
    with pytest.raises(DiscreetError, match="session"):
        run(job)
