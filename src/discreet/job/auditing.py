"""The job of a vault: an auditor in front of data, which answers until an answer could disclose a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.boundary import public
from discreet.core.errors import OutputError, ParameterError
from discreet.core.params import BOOL, NONE, Constraint, Constraints, OneOf
from discreet.core.registry import AUDITORS
from discreet.job.verbs import TEXT, TEXTS, Made, Progress, VerbJob

if TYPE_CHECKING:
    from discreet.output.audit import Auditor


@public
@dataclass(frozen=True, kw_only=True)
class VaultJob(VerbJob):
    """Make a vault for data: a file, a folder of Parquet files, or a DuckDB file. It stays where it is.

    Parameters
    ----------
    sensitive
        The columns to aggregate: numbers.
    public
        The columns for WHERE and GROUP BY.
    auditor
        What is answered: sums and averages (sum; interval; private with noise), maxima and minima (extrema), counts
        of a 0/1 column over ranges (boolean).
    nulls
        Whether it is no secret whose sensitive values are missing ("public"), or none may be ("refuse").
    pooled
        Whether all users share one history.
    key
        The column that names each person once; needed to update the data later.
    options
        The auditor's own parameters by name.

    Examples
    --------
    >>> VaultJob("staff.csv", sensitive=["salary"], options={"low": 0.0}).chosen_auditor().low
    0.0
    """

    sensitive: Sequence[str]
    public: Sequence[str] = ()
    auditor: str = "sum"
    nulls: str = "refuse"
    pooled: bool = True
    key: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    verb = "audit"
    stages = ("Making the vault",)
    target_key = "folder"
    reading_keys: ClassVar[Mapping[str, Constraint]] = {"table": TEXT}
    constraints: ClassVar[Constraints] = {
        "sensitive": TEXTS,
        "public": TEXTS,
        "auditor": OneOf(("sum", "extrema", "boolean", "interval", "private")),
        "nulls": OneOf(("refuse", "public")),
        "pooled": BOOL,
        "key": (TEXT, NONE),
    }

    @classmethod
    def option_names(cls) -> Iterable[str]:
        """Return the parameters of all auditors; the chosen one refuses what is not its own."""
        return dict.fromkeys(name for spec in AUDITORS.values() for name in spec.options())

    def chosen_auditor(self) -> Auditor:
        """Return the auditor with its parameters; those of another are refused."""
        spec = AUDITORS[self.auditor]
        parameters = spec.options()
        for name in sorted(self.options):
            if name not in parameters:
                raise ParameterError(f"'{name}' does not belong to the auditor {self.auditor}.")
        for name, parameter in parameters.items():
            if parameter.required and name not in self.options:
                raise ParameterError(f"The auditor {self.auditor} needs '{name}'.", fix={name: name.upper()})
        auditor: Auditor = spec.load()(**self.options)
        return auditor

    def refuse_targets(self) -> None:
        """Leave a folder that is there to the vault, which is only ever made in a new one."""

    def make(self, begin: Progress) -> Made:
        """Return the path of the vault."""
        from discreet.output.audit import Vault

        if self.out is None:
            raise OutputError("A vault needs a folder of its own, which will hold its log.")
        begin("Making the vault")
        folder = Path(self.out)
        with Vault.create(
            folder,
            self.data,
            sensitive=list(self.sensitive),
            public=list(self.public),
            auditor=self.chosen_auditor(),
            nulls="public" if self.nulls == "public" else "refuse",
            pooled=self.pooled,
            key=self.key,
            table=self.reading.get("table"),
        ) as vault:
            figures = {
                "vault": str(folder),
                "records": vault.holdings.n_records,
                "auditor": vault.auditor.to_dict(),
                "guarantee": vault.promise,
                "cautions": vault.cautions,
            }
            coarser = [name for name, column in vault.holdings.secret.items() if column.coarser]
            return Made("vault", folder, figures | {"coarser": coarser}, verdict=vault.verdict)
