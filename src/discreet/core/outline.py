"""What a class takes, read from its source without importing it: parameters, types, defaults and words.

Help must be instant, and importing a method loads NumPy and compiled kernels. So the head of the class (docstring,
fields or the signature of its constructor) is cut out of the file as text, and that piece alone is parsed.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Literal

Shape = Literal["int", "float", "number", "bool", "text", "choice", "names", "levels", "numbers"]
"""How a parameter is written: a number (``number`` is an int or a float), a word, names of columns, or a number for
each of several columns."""

_SCALARS: dict[str, Shape] = {"int": "int", "float": "float", "bool": "bool", "str": "text"}
_LISTS = ("Sequence", "list", "tuple", "Collection", "Iterable")
_MOST_FOLLOWED = 5
"""How many aliases of types are followed, one standing for another."""
_STATEMENT = re.compile(r"\n(?=[^\s)\]}])")
_METHOD = re.compile(r"^    (?:def|@)", re.MULTILINE)
_CONSTRUCTOR = re.compile(r"^    (def __init__\(.*?\) -> None:)$", re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"(class|from) ([\w.]+)|(?P<name>\w+)(?:: [\w\[\], .]+)? = ")
_NAMES = re.compile(r"\w+")
_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\S+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"\n(?=\S)")


_Argument = tuple[str, ast.expr | None, ast.expr | None, bool]
"""The name, annotation and default of an argument, and whether it is keyword-only."""


@dataclass(frozen=True)
class Field:
    """A parameter as the source has it; ``shape`` is None where no text can stand for its values."""

    name: str
    default: Any = None
    required: bool = True
    keyword: bool = False
    shape: Shape | None = None
    choices: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True)
class Outline:
    """The first line of a class's docstring, and its parameters in the order of the constructor."""

    summary: str
    fields: Mapping[str, Field]


@cache
def outline(module: str, name: str) -> Outline:
    """Return the outline of a class, with what it inherits.

    >>> outline("discreet.guarantees.k_anonymity", "KAnonymity").fields["k"].shape
    'int'
    """
    source = _source(module)
    head = source.head(name)
    docstring = ast.get_docstring(head) or ""
    constructor = source.constructor(name)
    fields: dict[str, Field] = {}
    words: dict[str, str] = {}
    for base in reversed(head.bases):  # as dataclasses collect fields: from the last base to the first
        inherited = _inherited(source, base)
        fields |= {} if constructor is not None else inherited
        words |= {key: field.words for key, field in inherited.items()}
    words |= parameter_words(docstring)
    if constructor is not None:
        arguments = list(_arguments(constructor))
    elif name in source.dataclasses:
        arguments = list(_members(head, "kw_only=True" in source.dataclasses[name]))
    else:
        arguments = []
    allowed = _allowed_words(head, source)
    for key, annotation, default, keyword in arguments:
        shape, choices = _shape(annotation, source, _MOST_FOLLOWED)
        if shape == "text" and key in allowed:
            shape, choices = "choice", allowed[key]
        fields[key] = Field(key, _literal(default, source), default is None, keyword, shape, choices)
    # A dataclass puts what is keyword-only behind the rest.
    ordered = sorted(fields.values(), key=lambda field: field.keyword)
    described = (replace(field, words=words.get(field.name, "")) for field in ordered)
    return Outline(docstring.partition("\n")[0], {field.name: field for field in described})


def parameter_words(docstring: str) -> dict[str, str]:
    r"""Return what the Parameters section of a docstring says of each parameter, on one line.

    Several names may share an entry, and a type may follow a colon.

    >>> parameter_words("Do.\n\nParameters\n----------\nlow, high : float\n    The ends of\n    the range.")
    {'low': 'The ends of the range.', 'high': 'The ends of the range.'}
    """
    section = _SECTION.search(inspect.cleandoc(docstring))
    words: dict[str, str] = {}
    if section is None:
        return words
    for entry in _ENTRY.split(section[1].strip("\n")):
        names, _, text = entry.partition("\n")
        for name in names.partition(" : ")[0].split(","):
            words[name.strip()] = " ".join(text.replace("``", "").split())
    return words


class _Source:
    """The text of a module, cut into its top-level statements, of which only those that matter are parsed."""

    def __init__(self, module: str, text: str) -> None:
        self.module = module
        self.classes: dict[str, str] = {}
        self.dataclasses: dict[str, str] = {}
        self.assigned: dict[str, str] = {}
        self.imports: list[str] = []
        decorators = ""
        for statement in _STATEMENT.split(text):
            word = _WORD.match(statement)
            if statement.startswith("@"):
                decorators += statement
                continue
            if word is not None and word[1] == "class":
                self.classes[word[2]] = statement
                if "dataclass" in decorators:
                    self.dataclasses[word[2]] = decorators
            elif word is not None and word[1] == "from":
                self.imports.append(statement)
            elif word is not None:
                self.assigned[word["name"]] = statement
            decorators = ""

    def head(self, name: str) -> ast.ClassDef:
        """Return a class up to its first method."""
        if name not in self.classes:
            raise LookupError(f"{self.module} has no class {name}.")
        parsed = ast.parse(_METHOD.split(self.classes[name], maxsplit=1)[0]).body[0]
        assert isinstance(parsed, ast.ClassDef)
        return parsed

    def constructor(self, name: str) -> ast.arguments | None:
        """Return the arguments of the constructor, where the class writes one down."""
        match = _CONSTRUCTOR.search(self.classes[name])
        if match is None:
            return None
        parsed = ast.parse(f"{match[1]} ...").body[0]
        assert isinstance(parsed, ast.FunctionDef)
        return parsed.args

    def alias(self, name: str) -> tuple[ast.expr, _Source] | None:
        """Return what a name of the module stands for, in this module or where it is imported from."""
        if name in self.assigned:
            value = getattr(ast.parse(self.assigned[name]).body[0], "value", None)
            return None if value is None else (value, self)
        home = self.imported(name)
        return None if home is None else _source(home).alias(name)

    def imported(self, name: str) -> str | None:
        """Return the module of the package that a name is imported from."""
        for statement in self.imports:
            home, _, names = statement.removeprefix("from ").partition(" import ")
            if home.startswith("discreet.") and name in _NAMES.findall(names):
                return home
        return None


@cache
def _source(module: str) -> _Source:
    """Read a module's text; packages that hold it are looked through, not imported."""
    package, *parts = module.split(".")
    path: Any = sys.modules[package].__path__
    name, file = package, ""
    for part in parts:
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.origin is None:
            raise LookupError(f"There is no module {module}.")
        path, file = getattr(sys.modules.get(name), "__path__", spec.submodule_search_locations), spec.origin
    return _Source(module, Path(file).read_text(encoding="utf-8"))


def _inherited(source: _Source, base: ast.expr) -> Mapping[str, Field]:
    """Return the parameters of a base class in this package; other bases have none that matter here."""
    if not isinstance(base, ast.Name):
        return {}
    if base.id in source.classes:
        return outline(source.module, base.id).fields
    home = source.imported(base.id)
    return {} if home is None else outline(home, base.id).fields


def _arguments(constructor: ast.arguments) -> Iterator[_Argument]:
    """Return the arguments of a constructor, less the object itself."""
    positional = constructor.args[1:]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(constructor.defaults))
    for argument, default in zip(positional, [*missing, *constructor.defaults], strict=True):
        yield argument.arg, argument.annotation, default, False
    for argument, default in zip(constructor.kwonlyargs, constructor.kw_defaults, strict=True):
        yield argument.arg, argument.annotation, default, True


def _members(head: ast.ClassDef, keyword: bool) -> Iterator[_Argument]:
    """Return the fields of a dataclass that its constructor takes."""
    for member in head.body:
        if not isinstance(member, ast.AnnAssign) or not isinstance(member.target, ast.Name):
            continue
        if ast.unparse(member.annotation) == "KW_ONLY":
            keyword = True
            continue
        options = _field_options(member.value)
        if "ClassVar" in ast.unparse(member.annotation) or _is(options.get("init"), False):
            continue
        default = options.get("default", options.get("default_factory")) if options else member.value
        yield member.target.id, member.annotation, default, keyword or _is(options.get("kw_only"), True)


def _is(value: ast.expr | None, constant: bool) -> bool:
    return isinstance(value, ast.Constant) and value.value is constant


def _field_options(value: ast.expr | None) -> dict[str | None, ast.expr]:
    """Return the arguments of ``field(...)``; nothing for any other value."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "field":
        return {keyword.arg: keyword.value for keyword in value.keywords}
    return {}


def _allowed_words(head: ast.ClassDef, source: _Source) -> dict[str, tuple[str, ...]]:
    """Return the words that ``constraints`` of a class allow, where ``OneOf`` names them."""
    words_of: dict[str, tuple[str, ...]] = {}
    for member in head.body:
        if not isinstance(member, ast.AnnAssign) or ast.unparse(member.target) != "constraints":
            continue
        declared = member.value if isinstance(member.value, ast.Dict) else ast.Dict([], [])
        for key, value in zip(declared.keys, declared.values, strict=True):
            for constraint in value.elts if isinstance(value, ast.Tuple) else [value]:
                if isinstance(constraint, ast.Call) and ast.unparse(constraint.func) == "OneOf":
                    words = _literal(constraint.args[0], source) or ()
                    words_of[str(_literal(key, source))] = tuple(
                        word for word in words if isinstance(word, str)
                    )
    return words_of


def _shape(annotation: ast.expr | None, source: _Source, follow: int) -> tuple[Shape | None, tuple[str, ...]]:
    """Return how values of an annotated type are written, and the words to choose from."""
    if isinstance(annotation, ast.BinOp):
        return _joined(_shape(annotation.left, source, follow), _shape(annotation.right, source, follow))
    if isinstance(annotation, ast.Name):
        if annotation.id in _SCALARS:
            return _SCALARS[annotation.id], ()
        stands_for = source.alias(annotation.id) if follow else None
        return (None, ()) if stands_for is None else _shape(*stands_for, follow - 1)
    if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.value, ast.Name):
        return None, ()
    outer, inner = annotation.value.id, annotation.slice
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if outer == "Literal":
        words = [part.value for part in parts if isinstance(part, ast.Constant)]
        return (
            ("choice", tuple(map(str, words))) if all(isinstance(word, str) for word in words) else (None, ())
        )
    if outer == "Mapping":
        shape, _ = _shape(parts[1], source, follow)
        return {"int": ("levels", ()), "float": ("numbers", ())}.get(shape or "", (None, ()))  # type: ignore[return-value]
    if outer in _LISTS and isinstance(parts[0], ast.Name) and parts[0].id in ("str", "Any"):
        return "names", ()
    return None, ()


def _joined(
    first: tuple[Shape | None, tuple[str, ...]], second: tuple[Shape | None, tuple[str, ...]]
) -> tuple[Shape | None, tuple[str, ...]]:
    """Return the shape of a union: the first of its types that can be written; int and float are a number."""
    if {first[0], second[0]} == {"int", "float"}:
        return "number", ()
    return second if first[0] is None else first


def _literal(value: ast.expr | None, source: _Source) -> Any:
    """Return the value of a literal, or of a constant that stands for one; None where it is none."""
    if isinstance(value, ast.Name):
        stands_for = source.alias(value.id)
        value, source = (None, source) if stands_for is None else stands_for
    if value is None:
        return None
    try:
        return ast.literal_eval(value)
    except ValueError:
        return None
