"""What people who come from pycanon and anonymeter did there, done here, on ARX's Adult, side by side."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from measuring import PeerMissingError, cpu, peer
from mondrian_adult import adult_csv
from rows import Row, failed, faster, within

SENSITIVE = "occupation"
N_ATTACKS, EPSILON = 500, 1.0
N_MEASURED = 3_000
MEASURED = f"k-anonymity, distinct l-diversity and basic β-likeness of {N_MEASURED:,} rows, from the frame"
ATTACKED = f"singling out, linkability and inference, {N_ATTACKS} attacks each, with a control group"
MST_LIMIT, AIM_LIMIT = 4.0, 15.0


def run() -> list[Row]:
    """Judge Adult, attack a release of one half of it, and draw synthetic rows."""
    import discreet

    with tempfile.TemporaryDirectory() as folder:
        source = adult_csv(Path(folder))
        frame = discreet.read(source).to_arrow_table().combine_chunks()
        return [_measured(Path(folder), frame), *_synthetic(frame), _attacked(Path(folder), frame)]


def _measured(folder: Path, whole: Any) -> Row:
    from pyarrow import csv

    from discreet.guarantees import BasicBetaLikeness, DistinctDiversity, KAnonymity

    frame = whole.take(np.random.default_rng(1).permutation(whole.num_rows)[:N_MEASURED]).combine_chunks()
    csv.write_csv(frame, folder / "some.csv")
    guarantee = KAnonymity(1) & DistinctDiversity(1, of=SENSITIVE) & BasicBetaLikeness(1e9, of=SENSITIVE)
    ours = cpu(lambda: guarantee.check(_table(frame)), times=7, warm=2)
    try:
        found = peer("pycanon_measures", str(folder / "some.csv"), ",", SENSITIVE)
    except PeerMissingError as error:
        return failed(MEASURED, f"the peer cannot be run: {error}")
    worst = [part.worst for part in guarantee.check(_table(frame)).parts]
    if not np.allclose(worst, [found["k"], found["l"], found["beta"]], rtol=1e-6):
        raise RuntimeError(f"pycanon finds {found}, and we {worst}")
    return faster(MEASURED, ours, found["seconds"], note="the same three figures as pycanon")


def _synthetic(frame: Any) -> list[Row]:
    """Time MST and AIM, and say how far pairs of columns are from the original."""
    from discreet.measure import pair_fidelity
    from discreet.publish import Aim, Mst

    rows = []
    for publisher, limit in ((Mst, MST_LIMIT), (Aim, AIM_LIMIT)):
        maker = publisher(EPSILON, domains=_domains(frame))
        apart = pair_fidelity(maker.release(_table(frame)))
        seconds = cpu(lambda maker=maker: maker.release(_table(frame)), times=1, warm=0)
        note = f"pairs of columns {apart.mean:.3f} apart, two halves of Adult {apart.by_chance:.3f}"
        rows.append(within(f"{publisher.__name__} at ε = {EPSILON:g}", seconds, limit, "s", note=note))
    return rows


def _attacked(folder: Path, frame: Any) -> Row:
    """Attack half of Adult: ours on a generalized release, anonymeter on synthetic rows, since it reads no labels."""
    from pyarrow import csv

    from discreet.guarantees import KAnonymity
    from discreet.measure import regulators_attacks
    from discreet.publish import Mondrian, Mst

    order = np.random.default_rng(0).permutation(frame.num_rows)
    people, others = (frame.take(order[rows]) for rows in (slice(None, None, 2), slice(1, None, 2)))
    release = Mondrian(KAnonymity(5)).release(_table(people))
    tables = _table(people), _table(others)
    ours = cpu(
        lambda: regulators_attacks(
            release, tables[0], control=tables[1], n_attacks=N_ATTACKS, random_state=0
        ),
        times=3,
        warm=1,
    )
    drawn = Mst(EPSILON, domains=_domains(frame)).release(tables[0]).frame
    paths = [folder / name for name in ("people.csv", "others.csv", "synthetic.csv")]
    for table, path in zip((people, others, drawn), paths, strict=True):
        csv.write_csv(table, path)
    try:
        found = peer("anonymeter_attacks", *map(str, paths), SENSITIVE, N_ATTACKS)
    except (PeerMissingError, RuntimeError) as error:
        return failed(ATTACKED, f"the peer cannot be run: {error}")
    return faster(
        ATTACKED, ours, found["seconds"], note="ours on a generalized table, anonymeter on synthetic rows"
    )


def _table(frame: Any) -> Any:
    from discreet import Table, quasi, sensitive

    return Table(frame, {name: sensitive() if name == SENSITIVE else quasi() for name in frame.column_names})


def _domains(frame: Any) -> dict[str, Any]:
    """Return the domains that the census publishes; here they are read off the file, since only time is measured."""
    return {
        name: "17:91:1" if name == "age" else sorted(frame[name].unique().to_pylist())
        for name in frame.column_names
    }
