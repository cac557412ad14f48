"""Mining between processes over loopback TLS: session files, result folders, a killed party, the demo."""

from __future__ import annotations

import csv
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.parties.inspector import assert_absent
from tests.parties.runs import HEAD, assert_one_line, run_all
from tests.parties.sessions import write_session

from discreet import Baskets
from discreet.core.errors import OutputError
from discreet.mine import Itemsets
from discreet.parties import PartyError
from discreet.parties.network.local_run import protocol_text, run_locally
from discreet.parties.network.local_run import write_session as write_local_session

SHOPS = {
    "north": [["beer", "nappies"], ["beer", "bread", "nappies"], ["milk"]] * 4,
    "south": [["beer", "bread", "nappies"], ["bread", "milk"]] * 4,
    "west": [["beer", "nappies"], ["bread"], ["verysecretitem", "bread"]] * 4,
    "east": [["beer", "nappies"]] * 3,
}
PARAMETERS = {"min_support": 0.4, "min_threshold": 0.7, "format": "lines", "max_items": 20}
RULES = protocol_text("rules", PARAMETERS).removeprefix("[protocol]\n")


def shop_files(folder: Path) -> dict[str, Path | None]:
    files: dict[str, Path | None] = {}
    for name, lists in SHOPS.items():
        path = folder / f"{name}.csv"
        path.write_text("".join(",".join(basket) + "\n" for basket in lists))
        files[name] = path
    return files


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def counts(folder: Path) -> dict[frozenset[str], int]:
    return {
        frozenset(json.loads(row["itemsets"])): int(row["count"]) for row in read_csv(folder / "itemsets.csv")
    }


def pooled(names: Any) -> dict[frozenset[str], float]:
    lists = [basket for name in names for basket in SHOPS[name]]
    return Itemsets(0.4).mine(Baskets.from_lists(lists)).as_dict()


def test_rules_among_four_processes(tmp_path: Path) -> None:
    path = write_session(tmp_path, tuple(SHOPS), RULES, head=HEAD)
    for one in run_all(path, shop_files(tmp_path)).values():
        assert one.code == 0, one.stderr
        assert counts(one.out) == pooled(SHOPS)
        assert any(
            json.loads(row["antecedents"]) == ["beer"] and json.loads(row["consequents"]) == ["nappies"]
            for row in read_csv(one.out / "rules.csv")
        )
        record = json.loads((one.out / "transcript.json").read_text())
        assert record["revealed"]["baskets"] == sum(map(len, SHOPS.values()))
        assert record["meter"]["rounds"] > 0
        assert "large at one party or more" in record["leaks"][0]
        page = (one.out / "report.html").read_text()
        assert 'id="messages"' in page
        assert "<svg" in page
        for written in ("transcript.json", "report.html", "itemsets.csv", "rules.csv"):
            assert_absent("verysecretitem", (one.out / written).read_bytes())


def test_a_killed_shop_does_not_stop_the_others_above_the_threshold(tmp_path: Path) -> None:
    path = write_session(tmp_path, tuple(SHOPS), RULES, head=HEAD)
    ended = run_all(path, shop_files(tmp_path), end=("west", "masked", "killed"))
    assert ended.pop("west").code == -signal.SIGKILL
    for one in ended.values():
        assert one.code == 0, one.stderr
        assert counts(one.out) == pooled(name for name in SHOPS if name != "west")
        assert json.loads((one.out / "transcript.json").read_text())["covers"] == ["north", "south", "east"]


@pytest.mark.parametrize(("who", "kind"), [("north", "survivors"), ("west", "encrypted")])
def test_a_killed_shop_that_is_needed_stops_all(tmp_path: Path, who: str, kind: str) -> None:
    path = write_session(tmp_path, tuple(SHOPS), RULES, head=HEAD)
    ended = run_all(path, shop_files(tmp_path), end=(who, kind, "killed"))
    assert ended.pop(who).code == -signal.SIGKILL
    for one in ended.values():
        assert_one_line(one)


CLINIC = "patient,asthma,obesity\nAda Byron,1,0\nBob Ray,1,1\nEve Day,0,1\nJoe Fox,1,0\n"
INSURER = "patient,inhaler\n ada  byron,1\nBOB RAY,1\nJoe Fox,1\nSecret Patient,0\n"
COLUMNS = {"clinic": ["asthma", "obesity"], "insurer": ["inhaler"]}


def vertical_files(folder: Path) -> dict[str, Path | None]:
    for name, text in (("clinic", CLINIC), ("insurer", INSURER)):
        (folder / f"{name}.csv").write_text(text)
    return {name: folder / f"{name}.csv" for name in ("clinic", "insurer")}


def test_rules_over_columns_of_two_processes(tmp_path: Path) -> None:
    parameters = {"key": "patient", "max_people": 20, "min_support": 0.9, "columns": COLUMNS, "min_count": 3}
    session = write_local_session(tmp_path, "vertical-rules", parameters, ("clinic", "insurer"))
    run = run_locally(session, vertical_files(tmp_path))
    for folder in run.folders.values():
        assert counts(folder) == {
            frozenset({"asthma"}): 3,
            frozenset({"inhaler"}): 3,
            frozenset({"asthma", "inhaler"}): 3,
        }
        assert_absent("Secret Patient", b"".join(one.read_bytes() for one in folder.iterdir()))
    assert run.transcript("clinic")["protocol"] == "vertical-rules"
    with pytest.raises(OutputError, match="there already"):
        run_locally(session, vertical_files(tmp_path))


def test_matched_rows_are_written_in_one_order(tmp_path: Path) -> None:
    parameters = {"key": "patient", "max_people": 20}
    session = write_local_session(tmp_path, "matching", parameters, ("clinic", "insurer"))
    run = run_locally(session, vertical_files(tmp_path))
    found = [
        [" ".join(row["patient"].lower().split()) for row in read_csv(folder / "matched.csv")]
        for folder in run.folders.values()
    ]
    assert found[0] == found[1]
    assert sorted(found[0]) == ["ada byron", "bob ray", "joe fox"]


def test_without_data_the_option_is_named(tmp_path: Path) -> None:
    session = write_local_session(tmp_path, "rules", {"min_support": 0.1}, ("a", "b", "c"))
    with pytest.raises(PartyError, match="needs the data of party 'a'; name its file with --data"):
        run_locally(session, {"a": None, "b": None, "c": None})


def test_a_mistake_in_the_data_is_one_line_and_reaches_nobody(tmp_path: Path) -> None:
    parameters = {"key": "patient", "max_people": 2, "min_support": 1, "columns": COLUMNS}
    session = write_local_session(tmp_path, "vertical-rules", parameters, ("clinic", "insurer"), timeout=1.0)
    with pytest.raises(PartyError, match="The data has 4 people; the session admits 2"):
        run_locally(session, vertical_files(tmp_path))
    assert not (tmp_path / "result-clinic").exists()
