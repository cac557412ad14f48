from __future__ import annotations

from pathlib import Path

import pytest

from discreet.report import page as bundle


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle._javascript.cache_clear()
    monkeypatch.setattr(bundle, "_SHORTEST", 5)


def _counting(monkeypatch: pytest.MonkeyPatch, script: str = "window.x = 1;") -> list[str]:
    import vl_convert

    made: list[str] = []
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda snippet: made.append(snippet) or script)
    return made


def test_is_made_once_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DISCREET_CACHE", str(tmp_path / "deep" / "cache"))
    made = _counting(monkeypatch)
    assert bundle.javascript() == bundle.javascript() == "window.x = 1;"
    bundle._javascript.cache_clear()
    assert bundle.javascript() == "window.x = 1;"
    assert len(made) == 1
    assert len(list((tmp_path / "deep" / "cache").iterdir())) == 1


def test_an_unwritable_cache_does_no_harm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DISCREET_CACHE", str(tmp_path / "file" / "cache"))
    made = _counting(monkeypatch)
    assert bundle.javascript() == "window.x = 1;"
    assert len(made) == 1


def test_half_a_file_is_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DISCREET_CACHE", str(tmp_path))
    _counting(monkeypatch)
    bundle.javascript()
    kept = next(tmp_path.iterdir())
    kept.write_text("wi")
    bundle._javascript.cache_clear()
    assert bundle.javascript() == "window.x = 1;"
    assert kept.read_text() == "window.x = 1;"


def test_can_stand_in_a_script_element(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DISCREET_CACHE", str(tmp_path))
    _counting(monkeypatch, 'x = "</script>"; y = "<!--";')
    assert "</script" not in bundle.javascript()
    assert "<!--" not in bundle.javascript()


def test_folder_follows_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_CACHE", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert bundle.cache_folder() == Path("/somewhere/discreet")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert bundle.cache_folder() == Path.home() / ".cache" / "discreet"
    monkeypatch.setattr("sys.platform", "darwin")
    assert bundle.cache_folder() == Path.home() / "Library" / "Caches" / "discreet"
