"""Kinds of output folders: how an earlier one is recognized, so that no other folder is ever replaced."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from fnmatch import fnmatch
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
        Whether the mark lists the names of other files under ``files``.
    beside : tuple of str
        The names of other files that a folder of the kind may have. A folder with any other file is not replaced,
        unless its kind neither lists files nor names any.
    """

    noun: str
    mark: str
    private: bool = False
    lists_files: bool = False
    beside: tuple[str, ...] = ()

    def recognizes(self, folder: Path) -> bool:
        """Whether a folder is of this kind and holds nothing that was not written with it, as far as that is known."""
        mark = folder / self.mark
        if mark.is_symlink() or not mark.is_file():
            return False
        try:
            record = json.loads(mark.read_bytes())
        except (ValueError, RecursionError):
            return False
        if not isinstance(record, dict) or not isinstance(record.get("discreet"), str):
            return False
        if not self.lists_files and not self.beside:
            return True
        files = record.get("files") if self.lists_files else []
        if not isinstance(files, list | dict):
            return False
        written = {self.mark, *self.beside, *map(str, files)}
        return all(path.name in written and not path.is_dir() for path in folder.iterdir())


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


def require_apart(target: str | os.PathLike[str], *inputs: object) -> None:
    """Raise an OutputError if a file to be written is an input, lies in a folder of inputs, or fits their pattern.

    Inputs that are no paths are passed over.
    """
    resolved = Path(target).resolve()
    for source in inputs:
        if isinstance(source, list | tuple):
            require_apart(target, *source)
        elif isinstance(source, str | os.PathLike):
            path = Path(source).resolve()
            is_input = resolved == path or fnmatch(str(resolved), str(path))
            is_same_file = resolved.exists() and path.exists() and resolved.samefile(path)
            if is_input or is_same_file or (path.is_dir() and path in resolved.parents):
                raise OutputError(f"{target} is what is read, or lies in it; name another file.")


def folder_in_use(folder: str | os.PathLike[str]) -> OutputError:
    """Return the error for a folder that would be replaced although that is not allowed."""
    return OutputError(
        f"{folder} is there already and not empty; name a new folder, or allow overwriting.",
        fix={"overwrite": True},
    )
