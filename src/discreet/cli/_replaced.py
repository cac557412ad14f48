"""What `--overwrite` replaces: a line about the earlier file or folder, read before it is gone."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path


def earlier_output(out: Path | None) -> dict[str, object] | None:
    """Return what lies where a command will write: its files and the day they were written; None where nothing does."""
    if out is None or not out.exists():
        return None
    files = sorted(path for path in out.iterdir() if path.is_file()) if out.is_dir() else [out]
    if not files:
        return None
    written = datetime.fromtimestamp(max(path.stat().st_mtime for path in files)).astimezone()
    return {
        "path": str(out),
        "files": [path.name for path in files],
        "bytes": sum(path.stat().st_size for path in files),
        "written": written.isoformat(timespec="minutes"),
    }


def replaced_lines(earlier: dict[str, object] | None) -> list[tuple[str, str]]:
    """Return the line that says what was replaced."""
    if earlier is None:
        return []
    names = earlier["files"]
    assert isinstance(names, list)
    listed = f"{', '.join(names[:4])}{' …' if len(names) > 4 else ''}"
    return [
        (
            "replaced",
            f"{earlier['path']}, written {earlier['written']}: {listed} ({earlier['bytes']:,} bytes)",
        )
    ]
