"""Projects of ARX, written as ARX writes them, for tests and for pages of the documentation."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

METADATA = "<metadata>\n\t<version>3.9.1</version>\n\t<vocabulary>2.0</vocabulary>\n</metadata>\n"
PROJECT = (
    "<project>\n\t<name>Clinic</name>\n\t<separator>;</separator>\n\t<quote>&quot;</quote>\n</project>\n"
)
ROWS = "".join(
    f"Name {n};{20 + n % 40};{'FM'[n % 2]};{2000 + n % 5};{['flu', 'hiv', 'none'][n % 3]}\n"
    for n in range(120)
)
DATA = f"name;age;sex;zip;ill\n{ROWS}"
AGES = "".join(f"{n};{n // 10 * 10}-{n // 10 * 10 + 9};*\n" for n in range(20, 60))
ZIPS = "".join(f"{n};{n // 10}*\n" for n in range(2000, 2005))


def assigned(name: str, role: str, datatype: str = "String", ref: bool = False, **more: str) -> str:
    lines = [f"<name>{name}</name>", f"<type>{role}_ATTRIBUTE</type>", f"<datatype>{datatype}</datatype>"]
    lines += [f"<ref>hierarchies/{name}.csv</ref>"] if ref else []
    lines += [f"<{key}>{value}</{key}>" for key, value in more.items()]
    return "\t<assigment>\n\t\t" + "\n\t\t".join(lines) + "\n\t</assigment>\n"


def definition(*assignments: str) -> str:
    columns = assignments or (
        assigned("name", "IDENTIFYING"),
        assigned("age", "QUASI_IDENTIFYING", "Integer", True, min="All", max="All"),
        assigned("sex", "QUASI_IDENTIFYING", "String", True, min="All", max="All"),
        assigned("zip", "QUASI_IDENTIFYING", "String", True, min="0", max="1"),
        assigned("ill", "SENSITIVE", response="true"),
    )
    return f"<definition>\n{''.join(columns)}</definition>\n"


def config(
    *criteria: str,
    metric: str = "Loss (0.5/1.0/1.0)",
    limit: str = "0.1",
    weights: Mapping[str, float] | None = None,
) -> str:
    models = "".join(f"\t\t<criterion>{model}</criterion>\n" for model in criteria or ("3-anonymity",))
    weighted = "".join(
        f"<attributeWeight><attribute>{name}</attribute><weight>{weight}</weight></attributeWeight>"
        for name, weight in (weights or {"age": 0.5, "sex": 0.5, "zip": 0.5}).items()
    )
    return (
        "<config>\n\t<suppressedAttributeTypes><type>QUASI_IDENTIFYING_ATTRIBUTE</type></suppressedAttributeTypes>\n"
        f"\t<practicalMonotonicity>false</practicalMonotonicity>\n\t<relativeMaxOutliers>{limit}</relativeMaxOutliers>\n"
        f"\t<metric>{metric}</metric>\n\t<attributeWeights>{weighted}</attributeWeights>\n"
        f"\t<criteria>\n{models}\t</criteria>\n</config>\n"
    )


def entries(**changed: Any) -> dict[str, Any]:
    return {
        "metadata.xml": METADATA, "project.dat": b"\xac\xed java", "project.xml": PROJECT, "data/input.csv": DATA,
        "input/config.dat": b"\xac\xed java", "input/config.xml": config(), "input/definition.xml": definition(),
        "input/hierarchies/age.csv": AGES, "input/hierarchies/sex.csv": "F;*\nM;*\n", "input/hierarchies/zip.csv": ZIPS,
        **changed,
    }  # fmt: skip


def written(path: Path, content: Mapping[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            if text is not None:
                archive.writestr(name, text)
    return path
