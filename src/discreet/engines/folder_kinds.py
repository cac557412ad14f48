"""Kinds of output folders: how an earlier one is recognized, so that no other folder is ever replaced."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from discreet.core.errors import OutputError


@dataclass(frozen=True)
class FolderKind:
    """A kind of output folder, with the file that marks it.

    Parameters
    ----------
    noun : str
        What errors call it.
    mark : str
        The JSON file that every folder of the kind has, with the version of Discreet under the key ``discreet``.
    private : bool
        Whether only the owner may look into it.
    lists_files : bool
        Whether the mark lists the names of all other files under ``files``; a folder with further ones is refused.
    """

    noun: str
    mark: str
    private: bool = False
    lists_files: bool = False

    def recognizes(self, folder: Path) -> bool:
        """Whether a folder is of this kind and holds nothing that was not written with it, as far as its mark lists."""
        mark = folder / self.mark
        if mark.is_symlink() or not mark.is_file():
            return False
        try:
            record = json.loads(mark.read_bytes())
        except (ValueError, RecursionError):
            return False
        if not isinstance(record, dict) or not isinstance(record.get("discreet"), str):
            return False
        if not self.lists_files:
            return True
        files = record.get("files")
        return isinstance(files, list) and all(
            path.name == self.mark or path.name in files for path in folder.iterdir()
        )


def check_replaceable(
    target: Path, named: str | os.PathLike[str], kind: FolderKind, *, overwrite: bool
) -> None:
    """Raise an OutputError unless a folder may be written at the resolved target, which errors call as the user did."""
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{named} is a file; name a folder for the output.")
    here = Path.cwd()
    if target in (here, Path.home(), *here.parents, *Path.home().parents):
        raise OutputError(f"{named} is a folder in use; name a new one for the output.")
    if not any(target.iterdir()):
        return
    if not overwrite:
        raise folder_in_use(named)
    if not kind.recognizes(target):
        raise OutputError(
            f"{named} holds no earlier {kind.noun}, or other files too, so it is not overwritten; "
            "name another folder."
        )


def require_outside(folder: str | os.PathLike[str], *inputs: str | os.PathLike[str] | None) -> None:
    """Raise an OutputError if an input lies in the folder of the output, where it could be replaced."""
    target = Path(folder).resolve()
    if any(path is not None and target in Path(path).resolve().parents for path in inputs):
        raise OutputError(f"{folder} contains the input data; choose another output folder.")


def folder_in_use(folder: str | os.PathLike[str]) -> OutputError:
    """Return the error for a folder that would be replaced although that is not allowed."""
    return OutputError(
        f"{folder} is there already and not empty; name a new folder, or allow overwriting.",
        fix={"overwrite": True},
    )
