"""The report of a vault: statements answered and denied, and the privacy budget; it holds no answer and no data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from discreet.kinds.blocks import Block, Bullets, Section, TableBlock, Tiles, share_figure
from discreet.kinds.sections.risk import guarantee, headline
from discreet.kinds.wording import counted, number
from discreet.output.audit.attacking import Attacked
from discreet.output.audit.vault import Asked, Vault
from discreet.report import theme
from discreet.report.page import page

_MAX_STATEMENTS, _MAX_LENGTH = 200, 300
UNAUDITED, AUDITED = "without auditor", "with auditor"


def render_vault(vault: Vault) -> str:
    """Return the report of a vault as one self-contained HTML page; it holds statements, never an answer."""
    footer = (
        "This report holds the statements that were sent to the vault and how they ended; no answer is in it."
    )
    return page(vault_blocks(vault), title=f"Vault: {headline(vault.verdict)}", footer=footer)


def vault_blocks(vault: Vault) -> list[Block]:
    """Return what the report of a vault shows: the guarantee, what was asked and denied, and the budget left."""
    history, verdict, cautions = vault.history(), vault.verdict, vault.cautions
    what = "query sets" if vault.epsilon_left is None else "costs"
    checked = f"The {what} of {counted(len(history), 'statement')} were recomputed from the log."
    return [
        guarantee(vault.guarantee, verdict, checked=checked, described=vault.promise),
        *([Section("cautions", "Cautions", "", [Bullets(cautions)])] if cautions else []),
        _summary(vault, history),
        _outcomes(history),
        _log(history),
        _configuration(vault),
    ]


def attack_picture(attacks: Sequence[Attacked]) -> dict[str, Any]:
    """Draw the share of records that each attack disclosed, without and with the auditor."""
    import altair as alt

    rows = [
        {
            "attack": tried.attack,
            "defense": defense,
            "share": disclosed / max(tried.targets, 1),
            "label": f"{disclosed:,} of {tried.targets:,}",
        }
        for tried in attacks
        for defense, disclosed in ((UNAUDITED, tried.pinned_unaudited), (AUDITED, tried.pinned))
    ]
    colors = alt.Scale(domain=[UNAUDITED, AUDITED], range=[theme.OCHRE, theme.TEAL])
    base = theme.altair_chart(rows).encode(
        y=alt.Y("attack:N", sort=None, title=None),
        yOffset=alt.YOffset("defense:N", sort=[UNAUDITED, AUDITED]),
        x=alt.X(
            "share:Q",
            title="share of targeted records disclosed",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%", tickCount=5),
        ),
        color=alt.Color("defense:N", scale=colors, legend=alt.Legend(title=None, orient="top")),
    )
    labels = base.mark_text(align="left", dx=5, color=theme.SOFT).encode(text="label:N")
    return theme.picture(
        base.mark_bar(cornerRadiusEnd=2) + labels,
        title="Query attacks on the vault",
        subtitle="targeted records whose value the attacker found",
        description="Share of records that each attack disclosed, without and with the auditor.",
        width=460,
        height=44 * len(attacks),
    )


def _summary(vault: Vault, history: Sequence[Asked]) -> Tiles:
    answered = sum(entry.answered for entry in history)
    left = vault.epsilon_left
    tiles = [
        ("Statements", f"{len(history):,}", counted(len({entry.user for entry in history}), "user")),
        ("Answered", f"{answered:,}", "logged before the answer was sent"),
        ("Denied", f"{len(history) - answered:,}", "for reasons that do not depend on values"),
    ]
    if left is not None:
        whose = "of the whole privacy budget" if vault.config.pooled else "to the user who spent most"
        tiles.append(("Budget left", f"ε = {number(round(left, 6))}", whose))
    return Tiles(tiles)


def _outcomes(history: Sequence[Asked]) -> Section:
    if not history:
        return Section("outcomes", "Outcomes", "No statement yet.")
    counts = Counter(entry.reason or "answered" for entry in history)
    shares = [count / len(history) for count in counts.values()]
    figure = share_figure("Statements by outcome", ("Outcome", "Share of statements"), list(counts), shares)
    return Section("outcomes", "Outcomes", counted(len(history), "statement") + ".", [figure])


def _log(history: Sequence[Asked]) -> Section:
    latest = history[-_MAX_STATEMENTS:]
    rows = [
        (str(entry.number), entry.time, entry.user or "–", _shortened(entry.sql), entry.reason or "answered")
        for entry in reversed(latest)
    ]
    text = "" if len(latest) == len(history) else f"The latest {_MAX_STATEMENTS} of {len(history):,}."
    head = ("Entry", "Time", "User", "Statement", "Outcome")
    return Section("log", "Log", text, [TableBlock(head, rows, "Log, latest first")])


def _shortened(sql: str) -> str:
    return sql if len(sql) <= _MAX_LENGTH else sql[: _MAX_LENGTH - 3] + "..."


def _configuration(vault: Vault) -> Section:
    config = vault.config
    rows = [
        ("Auditor", str(vault.auditor)),
        ("Sensitive columns", ", ".join(config.sensitive)),
        ("Public columns", ", ".join(config.public) or "–"),
        ("Records", f"{vault.holdings.n_records:,}"),
        ("Histories", "one for all users" if config.pooled else "one for each user"),
        ("Missing values", "public" if config.nulls == "public" else "none"),
    ]
    return Section("vault", "Vault", "", [TableBlock(("Property", "Value"), rows, "Vault")])
