"""Forms: fields for the parameters of a spec, and what they were filled in with, as a job file has it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import ParameterError
from discreet.core.params import FloatIn, IntIn
from discreet.core.spec import GuaranteeSpec, Parameter, Spec

Pairs = Sequence[tuple[str, str]]
"""Names and values of fields, as a form sends them; several fields may have one name."""

_INPUTS = {
    "int": "number",
    "float": "number",
    "number": "number",
    "bool": "check",
    "choice": "choice",
    "text": "text",
    "names": "names",
    "levels": "by-column",
    "numbers": "by-column",
}
_BY_HAND = {"rules": "lines", "ranges": "ranges"}
"""How parameters are filled in that no option of the command line could hold as they are."""
_HIGHEST = {"int": 50.0, "float": 10.0, "number": 10.0}
"""Where a slider ends, for parameters without an upper end."""
_FIRST = {"k": 5, "l": 2, "t": 0.2, "alpha": 0.5, "c": 3, "beta": 1, "delta": 1, "p": 10, "m": 2}
"""What a required parameter begins with, by its published letter."""
_FIRST_SHARES = {"p": 0.9, "t": 0.2, "alpha": 0.5, "beta": 1, "delta": 1, "l": 2, "c": 3}
_NONE = re.compile(r"; None means [^.;]*|None means [^.;]*[.;] ?")
_HELP = {
    "key": "Where the secret key is: env:NAME or file:PATH, never the key itself.",
    "rules": "One a line: a rule such as diapers => beer, or the items of a set, such as diapers, beer.",
}
_LEFT_BLANK = re.compile(r"\bNone (?=[a-z]+s\b)")


@dataclass(frozen=True)
class FormField:
    """One field: how it is shown, what it holds, and between which ends a number lies."""

    name: str
    label: str
    kind: str
    value: Any
    words: str
    required: bool = False
    low: float | None = None
    high: float | None = None
    step: str = "any"
    options: tuple[str, ...] = ()
    default: str = ""
    slider: bool = False


@dataclass(frozen=True)
class FormGroup:
    """Fields under a heading, with a sentence of what they are about."""

    name: str
    title: str
    words: str
    fields: tuple[FormField, ...]


def group_of_spec(
    prefix: str,
    spec: Spec,
    values: Mapping[str, Any],
    columns: Sequence[str],
    *,
    title: str = "",
    slider: bool = False,
    without: Iterable[str] = (),
) -> FormGroup:
    """Return the fields of a spec's parameters; those that no text can stand for are left out."""
    parameters = parameters_of_spec(spec, without)
    leading = next((parameter.name for parameter in parameters if parameter.required), None)
    fields = (
        _field(
            f"{prefix}.{parameter.name}",
            parameter,
            values.get(parameter.name),
            columns,
            slider=slider and parameter.name == leading,
        )
        for parameter in parameters
    )
    return FormGroup(prefix, title or spec.name, sentence(spec.words), tuple(fields))


def parameters_of_spec(spec: Spec, without: Iterable[str] = ()) -> list[Parameter]:
    """Return the parameters of a spec that a form can hold; those of a guarantee with what it is about."""
    options = dict(spec.options())
    if isinstance(spec, GuaranteeSpec) and "of" in spec.parameters():
        options["of"] = spec.parameters()["of"]
    hidden = {"overwrite", "random_state", *without}
    return [
        parameter
        for name, parameter in options.items()
        if name not in hidden and (parameter.shape is not None or name in _BY_HAND)
    ]


def sentence(words: str) -> str:
    """Return words of a docstring as a sentence, without its markup.

    >>> sentence("finds ``k`` of them")
    'Finds k of them.'
    """
    text = _NONE.sub("", words.replace("``", "").replace("`", "")).strip()
    text = _LEFT_BLANK.sub("left blank, it ", text)
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}." if text else ""


def _field(name: str, parameter: Parameter, value: Any, columns: Sequence[str], *, slider: bool) -> FormField:
    low, high = _ends(parameter)
    kind = _BY_HAND.get(parameter.name) or _INPUTS[parameter.shape or ""]
    options = tuple(parameter.choices)
    if columns and kind == "names":
        options = tuple(columns)
    elif columns and parameter.name in ("of", "column", "by", "target", "key", "value", "person"):
        kind, options = "choice", tuple(columns)
    elif columns and kind == "by-column":
        options = tuple(columns)
    elif kind == "names":
        kind = "lines"
    default = "" if parameter.default in (None, "", ()) else str(parameter.default)
    if value is None and parameter.required:
        value = (_FIRST_SHARES if parameter.shape == "float" else _FIRST).get(parameter.name)
    if value is None and kind == "check":
        value = parameter.default
    return FormField(
        name=name,
        label=_label(parameter.name),
        kind=kind,
        value=value,
        words=_HELP.get(parameter.name) or sentence(parameter.words),
        required=parameter.required,
        low=low,
        high=high if high is not None else (_HIGHEST.get(parameter.shape or "") if slider else None),
        step="1" if parameter.shape == "int" else "any",
        options=options,
        default=default,
        slider=slider and kind == "number",
    )


def _label(name: str) -> str:
    """Return a parameter's name as the label of its field; published letters stay as they are.

    >>> _label("max_suppressed"), _label("k"), _label("of")
    ('Max suppressed', 'k', 'About')
    """
    words = "about" if name == "of" else name.replace("_", " ")
    return words if len(words) == 1 else words[:1].upper() + words[1:]


def _ends(parameter: Parameter) -> tuple[float | None, float | None]:
    """Return the ends between which a number must lie, where its constraints name finite ones."""
    low: float | None = None
    high: float | None = None
    if parameter.shape in ("int", "float", "number"):
        for constraint in parameter.constraints:
            if isinstance(constraint, IntIn):
                low, high = constraint.low, constraint.high
            elif isinstance(constraint, FloatIn):
                low = constraint.low if math.isfinite(constraint.low) else None
                high = constraint.high if math.isfinite(constraint.high) else None
    return low, high


def filled_in(
    prefix: str, spec: Spec, pairs: Pairs, columns: Sequence[str], *, without: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the parameters that a form sets, without those that were left as they are by default."""
    values: dict[str, Any] = {}
    for parameter in parameters_of_spec(spec, without):
        name = f"{prefix}.{parameter.name}"
        kind = _field(name, parameter, None, columns, slider=False).kind
        texts = [text for key, text in pairs if key == name]
        if kind == "by-column":
            by_column = {
                key.removeprefix(f"{name}:"): _number(parameter, text)
                for key, text in pairs
                if key.startswith(f"{name}:") and text.strip()
            }
            if by_column:
                values[parameter.name] = by_column
            continue
        value = _value(parameter, kind, texts)
        if value is not None and (parameter.required or value != parameter.default):
            values[parameter.name] = value
    return values


def _value(parameter: Parameter, kind: str, texts: Sequence[str]) -> Any:
    """Return the value of a parameter from the texts of its fields; None where they are blank."""
    if kind == "check":
        return "on" in texts
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    if kind == "ranges":
        return _ranges(lines)
    if kind in ("names", "lines"):
        numbered = kind == "lines" and parameter.name != "rules" and all(line.isdecimal() for line in lines)
        return [int(line) for line in lines] if numbered else lines
    return _number(parameter, lines[0]) if kind == "number" else lines[0]


def _ranges(lines: Sequence[str]) -> dict[str, list[float]]:
    """Read lines such as ``age = 0, 100``."""
    ranges = {}
    try:
        for line in lines:
            name, _, ends = line.rpartition("=")
            low, high = (float(end) for end in ends.split(","))
            ranges[name.strip()] = [low, high]
    except ValueError:
        raise ParameterError("Write a range as the column, then its ends: age = 0, 100.") from None
    return ranges


def _number(parameter: Parameter, text: str) -> int | float:
    try:
        if parameter.shape in ("int", "levels"):
            return int(text)
        number = float(text)
        # A count where it is none of a share, such as a support of 20.
        is_other = not any(constraint.admits(number) for constraint in parameter.constraints)
        if text.lstrip("-").isdecimal() and (parameter.shape == "number" or is_other):
            return int(text)
    except (ValueError, OverflowError):
        noun = "a whole number" if parameter.shape in ("int", "levels") else "a number"
        raise ParameterError(f"'{parameter.name}' takes {noun}.") from None
    return number
