"""`discreet hide`: releases without the rules, the comparison, job files, Ctrl-C, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

RULE = "diapers => beer"
ASKED = ("--rule", RULE, "--min-support", "5", "--min-confidence", "0.4")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    lines = []
    for _ in range(80):
        items = [name for name in ("milk", "bread", "tea") if rng.random() < 0.5]
        if rng.random() < 0.4:
            items += ["diapers"] + (["beer"] if rng.random() < 0.7 else [])
        lines.append(" ".join(items))
    path = tmp_path / "shop.dat"
    path.write_text("\n".join(lines) + "\n")
    return path


def found(folder: Path) -> tuple[int, int]:
    """Count the rule in the written file as text."""
    baskets: dict[str, set[str]] = {}
    for line in (folder / "baskets.csv").read_text().splitlines()[1:]:
        number, item = line.split(",")
        baskets.setdefault(number, set()).add(item.strip('"'))
    both = sum({"diapers", "beer"} <= one for one in baskets.values())
    return both, sum("diapers" in one for one in baskets.values())


@pytest.mark.parametrize("method", ["exact", "maxmin2", "minfia", "1.b", "blocking", "menon"])
def test_the_rule_is_not_in_the_written_files(invoke, shop: Path, tmp_path: Path, method: str) -> None:
    out = tmp_path / "out"
    result = invoke("hide", shop, *ASKED, "--method", method, "--out", out)
    assert result.exit_code == 0, result.output
    assert "1 hidden" in result.stdout
    both, left = found(out)
    assert both < 5 or both < 0.4 * left
    for name in ("release.json", "report.html"):
        text = (out / name).read_text()
        assert "diapers" not in text
        assert "beer" not in text


def test_a_release_with_appended_baskets_is_checked(invoke, shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    rule = ("--rule", "diapers, beer", "--min-support", "0.2")
    result = invoke("hide", shop, *rule, "--method", "hybrid", "--out", out, "--time-limit", "5")
    assert result.exit_code == 0, result.output
    counts = json.loads((out / "release.json").read_text())["baskets"]
    assert counts["out"] > counts["in"]
    assert invoke("check", out).exit_code == 0
    record = (out / "release.json").read_text().replace('"in": 80', '"in": 8000')
    (out / "release.json").write_text(record)
    assert invoke("check", out, "--json").exit_code == 1


def test_json_says_what_was_done(invoke, shop: Path, tmp_path: Path) -> None:
    result = invoke(
        "hide", shop, *ASKED, "--out", tmp_path / "out", "--json", "--time-limit", "20", "--seed", 1
    )
    plain = json.loads(result.stdout)
    assert plain["ok"] is True
    assert plain["details"]["optimal"] is True
    assert "diapers" not in result.stdout


def test_the_private_report_lies_apart(invoke, shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = invoke("hide", shop, *ASKED, "--out", out)
    assert result.exit_code == 0, result.output
    assert "diapers =&gt; beer" in (tmp_path / "out.private" / "report-internal.html").read_text()
    assert "diapers =&gt; beer" not in (out / "report.html").read_text()


def test_all_methods_are_compared(invoke, shop: Path) -> None:
    result = invoke("hide", shop, *ASKED, "--compare", "--json", "--time-limit", "5")
    methods = {one["method"]: one for one in json.loads(result.stdout)["methods"]}
    assert len(methods) == 19
    done = [one for one in methods.values() if one["problem"] is None]
    assert all(one["hiding_failure"] == 0 for one in done)
    deleting = [
        one["lost_itemsets"] for one in done if one["method"] not in ("hybrid", "remove_transactions", "1.a")
    ]
    assert methods["exact"]["lost_itemsets"] == min(deleting)
    assert methods["hybrid"]["problem"].startswith("The hybrid formulation")
    shown = invoke("hide", shop, *ASKED, "--compare", "--time-limit", "5")
    assert "what each lost" in shown.stdout
    assert "maxmin2" in shown.stdout


def test_a_job_file_does_the_same(invoke, shop: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(
        '[input]\npath = "shop.dat"\n[baskets]\n[guarantee]\nkind = "rules-hidden"\nrules = ["diapers => beer"]\n'
        'min_support = 5\nmin_confidence = 0.4\n[method]\nname = "maxmin2"\n[output]\nfolder = "release"\nseed = 3\n'
    )
    assert invoke("run", job).exit_code == 0
    direct = tmp_path / "direct"
    assert invoke("hide", shop, *ASKED, "--method", "maxmin2", "--seed", 3, "--out", direct).exit_code == 0
    assert (tmp_path / "release" / "baskets.csv").read_bytes() == (direct / "baskets.csv").read_bytes()
    for line, words in (
        ('rule = ["a"]', "has no parameter 'rule'"),
        ('rules = ["a"]\nmin_support = 1\n[method]\nname = "maxmin"', "did you mean 'maxmin"),
        ('rules = ["a"]\nmin_support = 1\n[method]\nname = "bba"\ntime_limit = 3', "no option 'time_limit'"),
        ('rules = ["a"]\nmin_support = 1\n[method]\nname = "cahd"', "cannot keep RulesHidden"),
    ):
        job.write_text(f'[input]\npath = "shop.dat"\n[baskets]\n[guarantee]\nkind = "rules-hidden"\n{line}\n')
        wrong = invoke("run", job)
        assert wrong.exit_code == 2
        assert words in wrong.stderr


def test_a_table_is_hidden_in(invoke, tmp_path: Path) -> None:
    data = tmp_path / "patients.csv"
    rows = (
        [("Ann", 26, "10562", "HIV")] * 4 + [("Bob", 26, "10562", "flu")] + [("Cat", 40, "10598", "flu")] * 5
    )
    data.write_text("name,age,zip,disease\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    asked = ("--quasi", "age,zip", "--sensitive", "disease", "--identifier", "name", "--min-support", 2)
    rule = "age=26, zip=10562 => disease=HIV"
    out = tmp_path / "out"
    result = invoke("hide", data, *asked, "--rule", rule, "--min-confidence", 0.5, "--out", out)
    assert result.exit_code == 0, result.output
    lines = [line.split(",") for line in (out / "data.csv").read_text().splitlines()]
    assert lines[0] == ["age", "zip", "disease"]
    left = [line for line in lines[1:] if line[:2] == ["26", "10562"]]
    both = [line for line in left if line[2] == "HIV"]
    assert len(both) < 2 or len(both) < 0.5 * len(left)
    cautions = {caution["code"] for caution in json.loads((out / "release.json").read_text())["cautions"]}
    assert "marks-of-hiding" in cautions, "the rows with empty cells show the rest of the rule"
    compared = invoke(
        "hide", data, *asked, "--rule", rule, "--min-confidence", 0.5, "--compare", "--time-limit", 5
    )
    assert compared.exit_code == 0, compared.output


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--rule", "beer => beer", "--min-support", "5"), "overlap"),
        (("--rule", "zebra", "--min-support", "5"), "no basket holds"),
        (("--rule", "", "--min-support", "5"), "empty"),
        (("--rule", "beer", "--min-support", "0"), "min_support"),
        (("--rule", "beer", "--min-support", "1.5"), "min_support"),
        (("--rule", "beer", "--min-support", "many"), "takes a number"),
        (("--rule", RULE, "--min-support", "5", "--min-confidence", "2"), "min_confidence"),
        (("--min-support", "5"), "which rules are sensitive"),
        (("--rule", "beer", "--min-support", "79"), "nothing to hide"),
        (("--rule", "beer", "--min-support", "5", "--method", "1.b"), "lowers the confidence"),
        (("--rule", "beer", "--min-support", "5", "--method", "bba", "--anytime"), "--anytime"),
        (("--rules-file", "nowhere.txt", "--min-support", "5"), "cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    invoke, shop: Path, tmp_path: Path, asked: tuple[str, ...], words: str
) -> None:
    out = tmp_path / "out"
    result = invoke("hide", shop, *asked, "--out", out)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert not out.exists()


@pytest.mark.parametrize("line", ["Zebra Zimmer, diapers", "Zebra Zimmer => Zebra Zimmer", "Zebra Zimmer =>"])
@pytest.mark.parametrize("way", ["option", "file", "job"])
def test_errors_about_rules_tell_their_number_and_not_their_text(
    invoke, shop: Path, tmp_path: Path, line: str, way: str
) -> None:
    """A file of people that was taken for the file of rules shows nobody."""
    out = tmp_path / "out"
    (tmp_path / "people.txt").write_text(f"# people\nbeer\n{line}\n")
    if way == "job":
        job = tmp_path / "job.toml"
        listed = f'rules = ["beer", "{line}"]\nmin_support = 5\n'
        job.write_text(f'[input]\npath = "{shop}"\n[baskets]\n[[guarantee]]\nkind = "rules-hidden"\n{listed}')
        result = invoke("run", job, "--out", out)
    else:
        file = ("--rules-file", tmp_path / "people.txt")
        named = ("--rule", "beer", "--rule", line) if way == "option" else file
        result = invoke("hide", shop, *named, "--min-support", 5, "--out", out)
    assert result.exit_code == 2
    assert "Sensitive rule 2" in result.stderr
    assert "Zebra" not in result.output + result.stderr
    assert not out.exists()


def test_a_written_release_is_checked_with_and_without_the_owners_folder(
    invoke, shop: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert invoke("hide", shop, *ASKED, "--out", out).exit_code == 0
    kept = invoke("check", out)
    assert kept.exit_code == 0
    assert "verified" in kept.stdout
    assert "diapers" not in kept.output
    (tmp_path / "out.private").rename(tmp_path / "away")
    unknown = invoke("check", out)
    assert unknown.exit_code == 3
    assert "only the owner knows" in unknown.stdout
    assert json.loads(invoke("check", out, "--json").stdout)["verdict"] == "claimed"
    assert invoke("check", out, *ASKED).exit_code == 0
    broken = invoke("check", shop, *ASKED)
    assert broken.exit_code == 1
    assert "sensitive rules found 1" in broken.stdout
    (out / "report.html").write_text("another")
    changed = invoke("check", out)
    assert changed.exit_code == 1
    assert "changed, replaced or missing since the release was written: report.html" in changed.stdout
    assert invoke("check", shop, "--rule", RULE).exit_code == 2
    assert invoke("check", shop, *ASKED, "--km", "2,2").exit_code == 2


def test_a_table_is_checked_for_rules(invoke, tmp_path: Path) -> None:
    data = tmp_path / "patients.csv"
    rows = [(26, "01562", "HIV")] * 4 + [(40, "10598", "flu")] * 5
    data.write_text("age,zip,disease\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    roles = ("--quasi", "age,zip", "--sensitive", "disease")
    asked = ("--rule", "age=26, zip=01562 => disease=HIV", "--min-support", 2)
    assert invoke("check", data, *roles, *asked).exit_code == 1
    assert invoke("check", data, *roles, *asked, "-k", 2).exit_code == 2
    for kind in ("csv", "parquet", "jsonl"):
        out = tmp_path / kind
        assert invoke("hide", data, *roles, *asked, "--out", out, "--format", kind).exit_code == 0
        assert invoke("check", out).exit_code == 0
        assert invoke("check", out, *asked).exit_code == 0
        assert invoke("check", out, "--rule", "zip=10598", "--min-support", 2).exit_code == 1


def test_an_option_of_another_method_is_refused(invoke, shop: Path, tmp_path: Path) -> None:
    for asked, words in (
        (("--method", "bba", "--time-limit", 3), "--time-limit belongs to exact, inline, menon and hybrid"),
        (("--method", "exact", "--psi", 0.1), "--psi belongs to minfia"),
        (("--method", "minfia", "--window", 10), "--window belongs to swa"),
        (("--method", "hybrid", "--cells", "coarser"), "--cells belongs to exact"),
    ):
        result = invoke("hide", shop, *ASKED, *asked, "--out", tmp_path / "out")
        assert result.exit_code == 2
        assert words in result.stderr


def test_columns_without_a_role_are_refused(invoke, tmp_path: Path) -> None:
    data = tmp_path / "patients.csv"
    data.write_text("name,age,disease\n" + "\n".join(f"P{n},26,HIV" for n in range(6)) + "\nQ,30,flu\n")
    asked = ("--rule", "age=26, disease=HIV", "--min-support", 2, "--out", tmp_path / "out")
    result = invoke("hide", data, "--quasi", "age", "--sensitive", "disease", *asked)
    assert result.exit_code == 2
    assert "'name' has none" in result.stderr


def test_somewhere_to_write_is_asked_for(invoke, shop: Path) -> None:
    assert "--compare" in invoke("hide", shop, *ASKED).stderr


def _hard(path: Path) -> None:
    """Write baskets on which the solver works for a while."""
    rng = np.random.default_rng(0)
    held = rng.random((3000, 40)) < 0.3
    path.write_text("\n".join(" ".join(map(str, np.flatnonzero(row))) for row in held) + "\n")


@pytest.mark.parametrize("anytime", [False, True])
def test_ctrl_c_writes_nothing_or_the_best_so_far(tmp_path: Path, anytime: bool) -> None:
    data, out = tmp_path / "hard.dat", tmp_path / "out"
    _hard(data)
    rules = [arg for pair in ("1, 2", "2, 3", "3, 4", "1, 4", "5, 1", "6, 2") for arg in ("--rule", pair)]
    command = [sys.executable, "-m", "discreet", "hide", str(data), *rules, "--min-support", "0.07", "--out", str(out),
               *(["--anytime"] if anytime else []), "--time-limit", "60"]  # fmt: skip
    worker = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    time.sleep(12)
    if worker.poll() is None:
        worker.send_signal(signal.SIGINT)
    _, stderr = worker.communicate(timeout=90)
    assert "Traceback" not in stderr
    if anytime or worker.returncode == 0:
        assert worker.returncode == 0, stderr
        assert (out / "release.json").is_file()
    else:
        assert worker.returncode == 130
        assert not out.exists()
