"""Signed releases: who judged a release, and that nothing of it was changed since."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet import Table, quasi
from discreet.core.errors import InputError
from discreet.guarantees import KAnonymity
from discreet.job import Job, run
from discreet.job.release_checking import judge_release
from discreet.parties.network.keys import make_keys
from discreet.publish import Mondrian
from discreet.report.signature import is_signed_by, signing_key, verifying_key

FRAME = pa.table({"age": [20, 21, 22, 23] * 5})


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("keys")
    return {name: make_keys(name, folder)[:2] for name in ("hospital", "stranger")}


def signed(folder: Path, key: Path | None) -> Path:
    release = Mondrian(KAnonymity(2)).release(Table(FRAME, {"age": quasi()}))
    return release.write(folder, report=False, sign=key)


def test_a_signature_is_verified_with_the_signers_public_key_alone(keys: Any, tmp_path: Path) -> None:
    private, public = keys["hospital"]
    folder = signed(tmp_path / "out", private)
    (tmp_path / "out.private").rename(tmp_path / "elsewhere")
    judgment = judge_release(folder, signed_by=public)
    assert (judgment.word, judgment.signature, judgment.vouched) == ("verified", "verified", True)
    unnamed = judge_release(folder)
    assert (unnamed.word, unnamed.signature, unnamed.vouched) == ("verified", "present", False)
    key = signing_key(private)
    assert len(key.public_key().public_bytes_raw()) == 32
    assert verifying_key(private).public_bytes_raw() == key.public_key().public_bytes_raw()


def test_a_missing_or_wrong_signature_fails(keys: Any, tmp_path: Path) -> None:
    (private, public), (_, stranger) = keys["hospital"], keys["stranger"]
    unsigned = signed(tmp_path / "unsigned", None)
    assert judge_release(unsigned, signed_by=public).signature == "missing"
    folder = signed(tmp_path / "out", private)
    assert judge_release(folder, signed_by=stranger).signature == "wrong"
    record, signature = folder / "release.json", folder / "release.json.sig"
    whole, written = record.read_bytes(), signature.read_bytes()
    for path, content, wrong in (
        (record, whole.replace(b'"seeded": false', b'"seeded": true'), "wrong"),
        (record, whole + b" ", "wrong"),
        (signature, b"", "missing"),
        (signature, written[:-5], "missing"),
        (signature, b"A" + written[1:] if written[:1] != b"A" else b"B" + written[1:], "wrong"),
        (signature, b"secret " * 20, "missing"),
    ):
        path.write_bytes(content)
        for owner in (True, False):
            judgment = judge_release(folder, signed_by=public)
            assert (judgment.word, judgment.signature) == ("broken", wrong), (path.name, owner)
            assert not is_signed_by(folder, public)
        record.write_bytes(whole)
        signature.write_bytes(written)
    assert is_signed_by(folder, public)
    signature.unlink()
    signature.symlink_to(unsigned / "release.json")
    assert judge_release(folder, signed_by=public).word == "broken"
    assert judge_release(folder).word == "broken"


def test_a_signature_does_not_cover_for_changed_files(keys: Any, tmp_path: Path) -> None:
    private, public = keys["hospital"]
    folder = signed(tmp_path / "out", private)
    data = folder / "data.csv"
    data.write_bytes(data.read_bytes() + b"99\n")
    judgment = judge_release(folder, signed_by=public)
    assert (judgment.word, judgment.signature) == ("broken", "verified")
    assert "data.csv" in judgment.changed


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_a_key_that_others_may_read_is_refused_before_anything_is_done(keys: Any, tmp_path: Path) -> None:
    private, _ = keys["hospital"]
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    shared = tmp_path / "shared.pem"
    shared.write_bytes(private.read_bytes())
    for mode in (0o644, 0o640, 0o604):
        shared.chmod(mode)
        with pytest.raises(InputError, match="other users"):
            signed(tmp_path / "out", shared)
        job = Job(FRAME, {"age": quasi()}, KAnonymity(2), out=tmp_path / "out", sign=shared)
        with pytest.raises(InputError, match="other users"):
            run(job, lambda stage: pytest.fail(stage))
    assert list(tmp_path.iterdir()) == [shared]


def test_what_is_no_key_is_refused_by_name(keys: Any, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    other = X25519PrivateKey.generate()
    form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    pem = other.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    party = '[[party]]\nname = "a"\n'
    wrong = tmp_path / "key"
    for content in (b"", b"Ann Miller", b"\xff\xfe", pem):
        wrong.write_bytes(content)
        wrong.chmod(0o600)
        with pytest.raises(InputError, match="private key of Ed25519") as caught:
            signing_key(wrong)
        assert "Miller" not in str(caught.value)
    for name, content in (
        ("key", b"Ann Miller"),
        ("key", other.public_key().public_bytes(*form)),
        ("key.toml", b"\xff"),
        ("key.toml", b"party = 3"),
        ("key.toml", party.encode()),
        ("key.toml", (keys["hospital"][1].read_text() + keys["stranger"][1].read_text()).encode()),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="holds"):
            verifying_key(tmp_path / name)
    for read in (signing_key, verifying_key):
        with pytest.raises(InputError, match="cannot be read"):
            read(tmp_path / "nothing")


def test_the_command_line_signs_and_verifies(invoke: Any, keys: Any, tmp_path: Path) -> None:
    private, public = keys["hospital"]
    (tmp_path / "people.csv").write_text("age\n" + "20\n21\n22\n23\n" * 5)
    (tmp_path / "job.toml").write_text(
        f'[input]\npath = "people.csv"\n[columns.age]\nrole = "quasi"\n[[guarantee]]\nkind = "k-anonymity"\nk = 2\n'
        f'[output]\nfolder = "by-job"\nreport = false\nsign = "{private}"\n'
    )
    made = ["anonymize", tmp_path / "people.csv", "--quasi", "age", "-k", 2, "--no-report", "--quiet"]
    assert invoke(*made, "--sign", private, "--out", tmp_path / "by-option").exit_code == 0
    assert invoke("run", tmp_path / "job.toml", "--quiet").exit_code == 0
    for name in ("by-option", "by-job"):
        result = invoke("check", tmp_path / name, "--signed-by", public)
        assert result.exit_code == 0, result.output
        assert "signed" in result.stdout
        assert invoke("check", tmp_path / name, "--signed-by", keys["stranger"][1]).exit_code == 1
        assert json.loads(invoke("check", tmp_path / name, "--json").stdout)["signature"] == "present"
    assert invoke("check", tmp_path / "people.csv", "--quasi", "age", "--signed-by", public).exit_code == 2
    assert invoke("check", tmp_path / "by-job", "--signed-by", tmp_path / "job.toml").exit_code == 2
