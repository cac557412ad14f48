"""A caution: something to know before a release is handed on."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from discreet.core.boundary import public


@public
@dataclass(frozen=True)
class Caution:
    """One thing to know before a release is handed on.

    Attributes
    ----------
    code
        A fixed name, for programs.
    text
        A sentence, for people; it holds counts and column names, and no data value.
    public
        Whether it follows from the released data alone, so that it may be published.
    """

    code: str
    text: str
    public: bool = True

    def to_dict(self) -> dict[str, object]:
        """Return the caution as plain data for JSON."""
        return asdict(self)
