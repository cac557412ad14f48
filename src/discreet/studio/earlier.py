"""What was made before: the releases, vaults, sessions and experiments of the studio's folder, each on a page."""

from __future__ import annotations

import zipfile
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from discreet.core.errors import InputError
from discreet.engines.folders import RECORD
from discreet.kinds.blocks import Block, Figure, Section, TableBlock

_VAULT, _PAGE = "vault.json", "index.html"
_LARGEST = 8 * 1024**3
_MOST_FILES, _MOST_ROWS = 100, 200


def kind_of_path(path: Path) -> str:
    """Return what lies at a path: a release, a vault, an experiment or a session; empty for anything else."""
    if path.is_symlink():
        return ""
    if not path.is_dir():
        return "session" if path.suffix == ".toml" and _is_session(path) else ""
    if (path / RECORD).is_file():
        return "release"
    if (path / _VAULT).is_file():
        return "vault"
    return "experiment" if (path / _PAGE).is_file() and any(path.glob("*.md")) else ""


def _is_session(path: Path) -> bool:
    return b"[protocol]" in path.read_bytes()[: 1024**2]


def offered_earlier(folder: Path) -> list[Path]:
    """Return what was made before and lies in a folder, or in a folder of it."""
    paths = (path for pattern in ("*", "*/*") for path in sorted(folder.glob(pattern)))
    return [path for path in paths if not path.parent.is_symlink() and kind_of_path(path)]


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpack the zip of a release into a new folder, without folders of its own; return it."""
    folder.mkdir(mode=0o700)
    try:
        with zipfile.ZipFile(archive) as packed:
            entries = [entry for entry in packed.infolist() if not entry.is_dir()]
            if len(entries) > _MOST_FILES or sum(entry.file_size for entry in entries) > _LARGEST:
                raise InputError("The zip holds more than a release does.")
            if len({PurePosixPath(entry.filename).parent for entry in entries}) > 1:
                raise InputError("The zip of a release holds one folder of files.")
            for entry in entries:
                with packed.open(entry) as source, (folder / Path(entry.filename).name).open("xb") as target:
                    while block := source.read(1024**2):
                        target.write(block)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
        raise InputError("The zip cannot be unpacked.") from None
    if not (folder / RECORD).is_file():
        raise InputError(f"The zip is not that of a release: it holds no {RECORD}.")
    return folder


def labeled_table(lines: Iterable[tuple[str, str]]) -> TableBlock:
    """Return labeled lines as a table; a line without a label has that of the line before."""
    rows: list[tuple[str, str]] = []
    for label, text in lines:
        rows.append((label or rows[-1][0], text))
    return TableBlock(("About", "Finding"), rows, "Findings")


def earlier_blocks(path: Path) -> list[Block]:
    """Return the page of a vault, a session or an experiment."""
    return _PAGES[kind_of_path(path)](path)


def _vault(path: Path) -> list[Block]:
    from discreet.output.audit import Vault
    from discreet.report.vault import vault_blocks

    with Vault.open(path, wait=5) as vault:
        return vault_blocks(vault)


def _session(path: Path) -> list[Block]:
    from discreet.parties.network.explanation import explain
    from discreet.parties.network.session import PartySession
    from discreet.report.party_run import explanation_lines

    lines = labeled_table(explanation_lines(explain(PartySession.read(path))))
    text = "Nothing has run, and nothing was sent: this follows from the session file alone."
    return [Section("session", "What the session reveals, before it runs", text, [lines])]


def _experiment(path: Path) -> list[Block]:
    names = sorted({file.stem for ending in ("*.md", "*.svg") for file in path.glob(ending)})
    # Tables and pictures were written in the order of the page.
    names.sort(key=lambda name: min(file.stat().st_mtime_ns for file in path.glob(f"{name}.*")))
    figures = [block for name in names for block in _figures(path, name)]
    return [Section("experiment", "Tables and pictures", "In the order of its page.", figures)]


def _figures(path: Path, name: str) -> Iterator[Block]:
    table, picture = path / f"{name}.md", path / f"{name}.svg"
    if table.is_file():
        lines = table.read_text(encoding="utf-8").splitlines()
        title = next((line.removeprefix("# ") for line in lines if line.startswith("# ")), name)
        note = " ".join(line for line in lines if line and not line.startswith(("#", "|")))
        cells = [line[2:-2].split(" | ") for line in lines if line.startswith("| ")]
        rows = [[cell.replace("&#124;", "|") for cell in line] for line in cells if line[0] != "---"]
        yield Figure(
            title, note, table=TableBlock(rows[0], rows[1 : _MOST_ROWS + 1], title) if rows else None
        )
    if picture.is_file():
        # As an image no script in it runs, and it loads nothing.
        image = f"data:image/svg+xml;base64,{b64encode(picture.read_bytes()).decode()}"
        yield Figure(name.replace("-", " ").capitalize(), image=image, description=f"The picture {name}")


_PAGES: Mapping[str, Callable[[Path], list[Block]]] = {
    "vault": _vault,
    "session": _session,
    "experiment": _experiment,
}
