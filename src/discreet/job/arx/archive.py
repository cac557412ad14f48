"""The archive of an ARX project: a zip of XML, data and hierarchies, read without trusting any of it."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from xml.parsers import expat

from discreet.core.errors import InputError

VOCABULARY = "2.0"
"""The only form of projects that is read; ARX 3 writes it."""
_LARGEST_XML = 16 << 20
_LARGEST_FILE = 8 << 30


@dataclass
class Element:
    """An element of XML: its name, its text, and the elements in it."""

    name: str
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Element]:
        """Iterate over the elements of a name."""
        return (child for child in self.children if child.name == name)

    def get(self, name: str) -> str | None:
        """Return the text of the first element of a name; None where there is none."""
        return next((child.text.strip() for child in self.all(name)), None)


@dataclass(frozen=True)
class Archive:
    """An opened project. Entries are found by name and copied to names of our own; none is ever extracted."""

    path: Path
    zip: zipfile.ZipFile

    def has(self, name: str) -> bool:
        """Whether there is an entry."""
        return name in self.zip.namelist()

    def xml(self, name: str) -> Element:
        """Return the root of an entry of XML; one that declares entities or a document type is refused."""
        content = self._bytes(name)
        try:
            return _parsed(content, None)
        except expat.ExpatError:
            pass
        try:  # older versions wrote in the encoding of the machine
            return _parsed(content, "iso-8859-1")
        except expat.ExpatError:
            raise InputError(f"{self.path}: {name} is no valid XML.") from None

    def lines(self, name: str) -> list[str]:
        """Return the lines of an entry of text."""
        content = self._bytes(name)
        try:
            return content.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            return content.decode("iso-8859-1").splitlines()

    def copy(self, name: str, target: Path) -> None:
        """Copy an entry into a file."""
        self._require(name, _LARGEST_FILE)
        with self.zip.open(name) as source, target.open("xb") as copied:
            shutil.copyfileobj(source, copied)

    def _bytes(self, name: str) -> bytes:
        self._require(name, _LARGEST_XML)
        return self.zip.read(name)

    def _require(self, name: str, largest: int) -> None:
        if not self.has(name):
            raise InputError(f"{self.path} is no project of ARX: it has no {name}.")
        if self.zip.getinfo(name).file_size > largest:
            raise InputError(f"{self.path}: {name} is larger than {largest >> 20:,} MiB and is not read.")


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Open a project of ARX; another version, a path in an entry's name or a damaged archive is refused in one line."""
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_paths(path, archive)
            project = Archive(path, archive)
            found_version = project.xml("metadata.xml").get("vocabulary")
            if found_version != VOCABULARY:
                raise InputError(
                    f"{path} is a project of another version of ARX: its vocabulary is not {VOCABULARY}. Open it in "
                    "ARX 3.9 and save it."
                )
            yield project
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except _DeclaredError:
        raise InputError(
            f"{path} declares a document type in its XML, which ARX never writes; it is not read."
        ) from None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, RuntimeError, OSError):
        raise InputError(f"{path} cannot be read as a project of ARX, which is a zip archive.") from None


class _DeclaredError(Exception):
    """A document type is declared, by which entities could be expanded or files be read."""


def _refuse_paths(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse entries that would lie elsewhere if somebody extracted them, and names that occur twice."""
    names = archive.namelist()
    for name in names:
        parts = PurePosixPath(name.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in parts.parts[0][:2] or "\0" in name:
            raise InputError(f"{path} has an entry whose name is a path elsewhere; it is not read.")
    if len({*names}) < len(names):
        raise InputError(f"{path} has two entries of one name; it is not read.")
    if any(entry.flag_bits & 1 for entry in archive.infolist()):
        raise InputError(f"{path} is encrypted; save it without a password.")


def _parsed(content: bytes, encoding: str | None) -> Element:
    """Parse XML that declares nothing, so that there are no entities but the five of XML itself."""
    parser = expat.ParserCreate(encoding)
    root = Element("")
    open_elements = [root]

    def declared(*_: object) -> None:
        raise _DeclaredError

    def start(name: str, _: object) -> None:
        element = Element(name)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def text(characters: str) -> None:
        open_elements[-1].text += characters

    parser.StartDoctypeDeclHandler = declared
    parser.EntityDeclHandler = declared
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_elements.pop()
    parser.CharacterDataHandler = text
    parser.Parse(content, True)
    return root.children[0]
