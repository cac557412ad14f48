"""Publish a table of patients: roles, a guarantee, a release that is judged again before it is written."""

from __future__ import annotations

import tempfile
from pathlib import Path

from discreet import Table
from discreet.datasets import hospital, hospital_columns
from discreet.guarantees import EntropyDiversity, KAnonymity
from discreet.measure import loss, risk
from discreet.publish import Mondrian


def main() -> None:
    """Protect the generated hospital table and write the release."""
    patients = Table(hospital(3000, random_state=1), hospital_columns())
    guarantee = KAnonymity(5) & EntropyDiversity(2, of="diagnosis")
    print("before:", guarantee.check(patients))
    release = Mondrian(guarantee).release(patients)
    print("after: ", release.verdict)
    print(f"generalized loss {loss(release).total:.1%}")
    print(f"highest re-identification risk {risk(release).prosecutor.highest:.1%}")
    for caution in release.cautions:
        print("caution:", caution)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "release"
        release.write(written)
        print("written:", ", ".join(sorted(path.name for path in written.iterdir())))


if __name__ == "__main__":
    main()
