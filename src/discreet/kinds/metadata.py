"""Metadata for catalogues, from the public figures: a Frictionless data package, Croissant, and HealthDCAT-AP."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet import __version__
from discreet.core.release import Release
from discreet.core.schema import Role
from discreet.core.verdict import Verdict
from discreet.kinds.codebook import DescribedColumn, bounds_columns
from discreet.kinds.wording import About

_FRICTIONLESS = {
    "whole number": "integer",
    "number": "number",
    "date": "date",
    "moment": "datetime",
    "true or false": "boolean",
}
_CROISSANT = {
    "whole number": "sc:Integer",
    "number": "sc:Float",
    "date": "sc:Date",
    "moment": "sc:DateTime",
    "true or false": "sc:Boolean",
}
_MEDIA = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "sav": "application/x-spss-sav",
    "dta": "application/x-stata-dta",
}
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "column": "cr:column",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "includes": "cr:includes",
    "recordSet": "cr:recordSet",
    "source": "cr:source",
}


@dataclass(frozen=True, repr=False)
class Described:
    """What catalogues say of a release: what it is, what it guarantees, and its files.

    ``files`` holds the digest and the size of each file of data, by its name, and ``parts`` those of each part of data
    that a cluster wrote in several files.
    """

    release: Release
    verdict: Verdict
    about: About
    columns: Sequence[DescribedColumn]
    files: Mapping[str, Mapping[str, Any]]
    delimiter: str = ","
    decimal: str = "."
    parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def released(self) -> list[DescribedColumn]:
        """The columns that the data has."""
        return [column for column in self.columns if column.is_released]

    @property
    def title(self) -> str:
        """The name of the data, where it was named."""
        return self.about.name or "Released table"

    @property
    def text(self) -> str:
        """What the data is, in a sentence."""
        counts = self.release.figures.public.counts
        return (
            f"{counts.n_out:,} rows of {len(self.released)} columns, released with Discreet {__version__} under a "
            f"privacy guarantee. {self.guarantee}"
        )

    @property
    def guarantee(self) -> str:
        """The guarantee, and what its verdict rests on."""
        return f"{self.release.guarantee.describe().rstrip('.')}. Verdict: {self.verdict.word}."

    @property
    def limits(self) -> list[str]:
        """The cautions that are public."""
        return [caution.text for caution in self.release.cautions if caution.public]

    @property
    def slug(self) -> str:
        """The name of the data in small letters, digits and hyphens."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.casefold()).strip("-") or "release"

    @property
    def data(self) -> str:
        """The name of the file of rows."""
        return next(name for name in self.files if name.startswith("data."))


def data_package(described: Described, bounds: bool) -> dict[str, Any]:
    """Return a Frictionless data package (Data Package 2)."""
    name = described.data
    form = name.rpartition(".")[2]
    extra = bounds_columns(described.columns) if bounds else {}
    fields = [_field(column, described.decimal) for column in described.released]
    fields += [
        {"name": new, "type": "any", "description": f"The {end} end of the interval in '{column}'."}
        for column, pair in extra.items()
        for new, end in zip(pair, ("lower", "upper"), strict=True)
    ]
    resource: dict[str, Any] = {
        "name": "data",
        "type": "table",
        "path": name,
        "format": form,
        "mediatype": _MEDIA.get(form, "application/octet-stream"),
        "bytes": described.files[name]["bytes"],
        "hash": f"sha256:{described.files[name]['sha256']}",
        "schema": {"fields": fields, "missingValues": [""]},
    }
    if described.parts:
        resource["path"] = list(described.parts)
        del resource["hash"]  # it is of one file
    if form in ("csv", "tsv"):
        resource |= {"encoding": "utf-8", "dialect": {"delimiter": described.delimiter}}
    package: dict[str, Any] = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": described.slug,
        "title": described.title,
        "description": described.text,
        "resources": [
            resource,
            {"name": "codebook", "path": "codebook.csv", "format": "csv", "encoding": "utf-8"},
        ],
        "discreet": {"guarantee": described.guarantee, "cautions": described.limits},
    }
    if described.about.date is not None:
        package["created"] = f"{described.about.date.isoformat()}T00:00:00Z"
    return package


def _field(column: DescribedColumn, decimal: str) -> dict[str, Any]:
    kind = _FRICTIONLESS.get(column.type, "string")
    described: dict[str, Any] = {
        "name": column.name,
        "type": kind,
        "description": f"{_ROLES[column.role]}: {column.became}.",
    }
    if kind == "number" and decimal != ".":
        described["decimalChar"] = decimal
    if kind == "string" and column.labels:
        described["constraints"] = {"enum": [label.label for label in column.labels]}
    return described


_ROLES = {
    Role.IDENTIFIER: "A pseudonym",
    Role.PERSON: "A pseudonym of whose row it is",
    Role.QUASI: "A quasi-identifier",
    Role.SENSITIVE: "Sensitive",
    Role.OTHER: "Another column",
    Role.DROP: "Not needed",
}


def croissant(described: Described) -> dict[str, Any]:
    """Return Croissant metadata, the guarantee and its limits in the vocabulary for responsible AI."""
    name = described.data
    whole = "fileSet" if described.parts else "fileObject"
    sensitive = [column.name for column in described.released if column.role is Role.SENSITIVE]
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"rows/{column.name}",
            "name": column.name,
            "description": f"{_ROLES[column.role]}: {column.became}.",
            "dataType": _CROISSANT.get(column.type, "sc:Text"),
            "source": {whole: {"@id": name}, "extract": {"column": column.name}},
        }
        for column in described.released
    ]
    record: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": described.slug,
        "description": described.text,
        "rai:personalSensitiveInformation": (
            f"{described.guarantee} Columns that must not be learned about a person: {', '.join(sensitive) or 'none'}."
        ),
        "rai:dataManipulationProtocol": (
            f"Made by the method {described.release.recipe.get('method')} of Discreet {__version__}."
        ),
        "rai:dataLimitations": described.limits,
        "distribution": _distribution(described),
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}],
    }
    if described.about.date is not None:
        record["datePublished"] = described.about.date.isoformat()
    return record


def _distribution(described: Described) -> list[dict[str, Any]]:
    """Return the file of rows, or the set of its parts with each of them."""
    name = described.data
    media = _MEDIA.get(name.rpartition(".")[2], "application/octet-stream")
    objects: list[dict[str, Any]] = [
        {
            "@type": "cr:FileObject",
            "@id": file,
            "name": file,
            "contentUrl": file,
            "encodingFormat": media,
            "contentSize": f"{entry['bytes']} B",
            "sha256": entry["sha256"],
        }
        for file, entry in (described.parts or {name: described.files[name]}).items()
    ]
    if described.parts:
        parts = {"@type": "cr:FileSet", "@id": name, "name": name, "encodingFormat": media}
        objects.append(parts | {"includes": f"{name}/*.parquet"})
    return objects


def health_dcat(described: Described) -> dict[str, Any]:
    """Return a dataset in HealthDCAT-AP as JSON-LD; who publishes it and who may use it, the owner adds."""
    name = described.data
    counts = described.release.figures.public.counts
    record: dict[str, Any] = {
        "@context": {
            "dcat": "http://www.w3.org/ns/dcat#",
            "dct": "http://purl.org/dc/terms/",
            "dpv": "https://w3id.org/dpv#",
            "healthdcatap": "http://healthdataportal.eu/ns/health#",
            "spdx": "http://spdx.org/rdf/terms#",
            "xsd": "http://www.w3.org/2001/XMLSchema#",
        },
        "@type": "dcat:Dataset",
        "dct:title": {"@language": "en", "@value": described.title},
        "dct:description": {"@language": "en", "@value": described.text},
        "dct:provenance": {
            "@type": "dct:ProvenanceStatement",
            "dct:description": f"{described.guarantee} {' '.join(described.limits)}".strip(),
        },
        "healthdcatap:numberOfRecords": counts.n_out,
        "dpv:hasPersonalData": [
            f"dpv:{'SensitivePersonalData' if described.release.schema.sensitive else 'PersonalData'}"
        ],
        "dcat:distribution": {
            "@type": "dcat:Distribution",
            "dct:title": name,
            "dcat:accessURL": {"@id": name},
            "dcat:mediaType": _MEDIA.get(name.rpartition(".")[2], "application/octet-stream"),
            "dcat:byteSize": described.files[name]["bytes"],
            "spdx:checksum": {
                "@type": "spdx:Checksum",
                "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
                "spdx:checksumValue": described.files[name]["sha256"],
            },
        },
    }
    if described.about.date is not None:
        record["dct:issued"] = {"@type": "xsd:date", "@value": described.about.date.isoformat()}
    return record
