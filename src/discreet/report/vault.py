"""The page of a vault: what was asked, answered and denied, and what it cost; no answer and no data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from discreet.guarantees import NoValueDisclosed
from discreet.output.audit.attacking import Attacked
from discreet.output.audit.vault import Asked, Vault
from discreet.report import charts, pictures
from discreet.report.figures import Figures, counted, number, table
from discreet.report.markup import Markup, tag
from discreet.report.page import whole_page
from discreet.report.sections import promise, tile

_PLACES = (
    ("promise", "Promise"),
    ("asked", "Asked"),
    ("log", "Log"),
    ("vault", "Vault"),
)
_MOST_SHOWN = 200
ALONE, AUDITED = "gate alone", "with the auditor"


def render_vault(vault: Vault) -> str:
    """Return the report of a vault as one self-contained HTML page; it holds statements, never an answer."""
    figures = Figures()
    history = vault.history()
    verdict = vault.verdict
    guarantee = NoValueDisclosed(of=vault.config.sensitive)
    seen = f"The query sets of {counted(len(history), 'statement')} were put together again from the log."
    main = tag(
        "main",
        promise(guarantee, verdict, seen=seen),
        _summary(vault, history),
        _asked(history, figures),
        _log(history),
        _vault(vault),
        id="main",
    )
    state = "kept" if verdict.ok else "broken"
    return whole_page(main, figures, _PLACES, title=f"Vault report: the guarantee is {state}")


def attack_picture(found: Sequence[Attacked]) -> dict[str, Any]:
    """Draw how many records each attack pinned down, with the gate alone and with the auditor."""
    import altair as alt

    rows = [
        {
            "attack": one.attack,
            "defense": defense,
            "share": pinned / max(one.targets, 1),
            "told": f"{pinned:,} of {one.targets:,}",
        }
        for one in found
        for defense, pinned in ((ALONE, one.pinned_unaudited), (AUDITED, one.pinned))
    ]
    colors = alt.Scale(domain=[ALONE, AUDITED], range=[pictures.OCHRE, pictures.TEAL])
    base = pictures.standing(rows).encode(
        y=alt.Y("attack:N", sort=None, title=None),
        yOffset=alt.YOffset("defense:N", sort=[ALONE, AUDITED]),
        x=alt.X(
            "share:Q",
            title="targeted records pinned down",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%", tickCount=5),
        ),
        color=alt.Color("defense:N", scale=colors, legend=alt.Legend(title=None, orient="top")),
    )
    chart = base.mark_bar(cornerRadiusEnd=2) + base.mark_text(align="left", dx=5).encode(text="told:N")
    return pictures.finished(
        chart,
        title="Query attacks on the vault",
        subtitle="share of the targeted records whose value the attacker found",
        told="Share of records that each attack pinned down, with the gate alone and with the auditor.",
        width=460,
        height=44 * len(found),
    )


def _summary(vault: Vault, history: Sequence[Asked]) -> Markup:
    answered = sum(one.answered for one in history)
    left = vault.epsilon_left
    tiles = [
        ("Asked", f"{len(history):,}", counted(len({one.user for one in history}), "user")),
        ("Answered", f"{answered:,}", "each committed to the log first"),
        ("Denied", f"{len(history) - answered:,}", "for reasons that do not depend on values"),
    ]
    if left is not None:
        tiles.append(("Budget left", f"ε = {number(round(left, 6))}", "of the whole privacy budget"))
    return tag("dl", *(tile(*one) for one in tiles), class_="tiles")


def _asked(history: Sequence[Asked], figures: Figures) -> Markup:
    if not history:
        return tag("section", tag("h2", "What was asked"), tag("p", "Nothing yet."), id="asked")
    counts = Counter(one.reason or "answered" for one in history)
    names = list(counts)
    shares = [counts[name] / len(history) for name in names]
    return tag(
        "section",
        tag("h2", "What was asked"),
        figures.figure(
            "Statements by outcome",
            charts.losses(names, shares),
            f"{len(history):,} statements.",
            ("outcome", "statements"),
            [(name, f"{counts[name]:,}") for name in names],
        ),
        id="asked",
    )


def _log(history: Sequence[Asked]) -> Markup:
    shown = history[-_MOST_SHOWN:]
    rows = [
        (
            str(one.number),
            one.time,
            one.user or "–",
            one.sql if len(one.sql) <= 300 else one.sql[:297] + "...",
            one.reason or "answered",
        )
        for one in reversed(shown)
    ]
    told = "" if len(shown) == len(history) else f"The latest {_MOST_SHOWN} of {len(history):,}."
    return tag(
        "section",
        tag("h2", "Log"),
        tag("p", told) if told else "",
        table(("entry", "time", "user", "statement", "outcome"), rows),
        id="log",
    )


def _vault(vault: Vault) -> Markup:
    config = vault.config
    rows = [
        ("Auditor", str(vault.auditor)),
        ("Sensitive columns", ", ".join(config.sensitive)),
        ("Public columns", ", ".join(config.public) or "–"),
        ("Records", f"{vault.holdings.n_records:,}"),
        ("Histories", "one for all users" if config.pooled else "one for each user"),
        ("Missing values", "public" if config.nulls == "public" else "none"),
    ]
    return tag("section", tag("h2", "Vault"), table(("what", "which"), rows), id="vault")
