"""The page of an evidence paper: its sections follow clauses 6 to 9 of ISO/IEC 27559, with the report's own blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from discreet import __version__
from discreet.core.figures import summarized
from discreet.core.verdict import BROKEN, Basis
from discreet.engines.folders import RECORD, described_file
from discreet.guarantees import RulesHidden
from discreet.job.evidence.attacking import ATTACKED, NO_MEANING
from discreet.job.evidence.statement import QUESTIONS, EvidenceStatement
from discreet.kinds.blocks import (
    Block,
    Bullets,
    Definitions,
    Figure,
    Paragraph,
    Section,
    Subsection,
    TableBlock,
    VerdictBlock,
)
from discreet.kinds.kind import kind_named, kind_of
from discreet.kinds.sections.provenance import value_text
from discreet.kinds.sections.risk import guarantee, verdict_alone
from discreet.kinds.wording import SINGLING_OUT, counted, percent
from discreet.measure import Attacks, AttackSuccess, MembershipAttack
from discreet.measure.attacks.membership import CLOSENESS_PROVES_NOTHING
from discreet.measure.hipaa import ACTUAL_KNOWLEDGE
from discreet.report.page import page

_PRIVATE = (
    "Private: figures in this paper compare with the original data. It is for the owner, and for an ethics board or a "
    "supervisor who may see the original; the paper in the folder without .private is the one to hand on."
)
_FOOTERS = {
    True: "This paper compares with the original data. Store it with the original.",
    False: "Everything in this paper follows from the released files, from what they state, and from what people said.",
}
_ENVIRONMENTS = {
    "public": "public: anybody may have the release, and nothing can stop an attempt, so one is taken to be certain",
    "controlled": "controlled: the recipient alone may have the release, bound by the controls named under Mitigation",
}
_MODELS = {
    "public": "public release, without conditions",
    "controlled": "use agreement, or an enclave where the recipient works on the data",
}
_ROLES = {
    "identifier": "direct identifier",
    "drop": "not needed",
    "person": "says whose row it is",
    "quasi": "others may know it",
    "sensitive": "sensitive",
    "other": "published exactly",
}
_CLAIMS = (
    "Singling out claims that some values, which one released row alone has, are those of exactly one person.",
    "Linkability claims that two records, each with half of the columns that others may know, are of one person.",
    "Inference claims that a person has the commonest sensitive value among the rows that may be the person's.",
)
_CLAIMS_OF_BASKETS = (
    "Singling out claims that a few items, which the fewest released baskets hold, are in exactly one person's basket.",
    "Linkability claims that two records, each with half of the items of a basket, are of one person.",
    "Inference claims a sensitive item of a person whose ordinary items are all known, by the groups that fit.",
)
_OF_CLAIMS = (
    "Due to the release is how much more often a claim is right about people in it than about strangers, as a share.",
    "Attackers choose whom they claim something of, so they may be right more often than the risk of a record is.",
)
_NEEDED = ("purpose", "recipient_means", "attempt", "transparency")


def render_statement(statement: EvidenceStatement) -> str:
    """Return the paper as one self-contained HTML page without any data value."""
    name = statement.record.get("name") or "Release without a name"
    word = _word(statement)
    blocks = [
        Paragraph(_PRIVATE, "internal") if statement.is_private else None,
        _heading(statement, name, word),
        Section("summary", "Summary", "", [_verdict(statement), Bullets(list(_summary(statement)))]),
        _context(statement),
        _data(statement),
        _identifiability(statement),
        _tests(statement),
        _mitigation(statement),
        _governance(statement),
    ]
    return page(blocks, title=f"Evidence: {name}: {word}", footer=_FOOTERS[statement.is_private])


def _word(statement: EvidenceStatement) -> str:
    return (
        f"the release is {BROKEN}"
        if statement.judgment.word == BROKEN
        else f"the guarantee is {statement.judgment.word}"
    )


def _heading(statement: EvidenceStatement, name: str, word: str) -> Definitions:
    record = statement.record
    released = f", released on {record['date']}" if record.get("date") else ""
    return Definitions(
        [
            ("Identifiability statement of", f"{name}{released}"),
            ("For", statement.recipient),
            ("Environment", statement.environment),
            ("Written on", statement.date.isoformat()),
            ("Judgment", f"{word[0].upper()}{word[1:]}."),
        ],
        "about",
    )


def _verdict(statement: EvidenceStatement) -> VerdictBlock:
    """Return the verdict as others may see it; a folder that is not as it was written is broken."""
    judgment, release = statement.judgment, statement.release
    if release is None or isinstance(release.guarantee, RulesHidden):
        block = verdict_alone(judgment.verdict)
    else:
        verdict = kind_of(release).verdict_for_others(judgment.verdict)
        checked = None if verdict.basis is Basis.VERIFIED and verdict.n_rows else _sentence(judgment.why)
        block = guarantee(release.guarantee, verdict, checked=checked or None)
    if judgment.word != BROKEN or not judgment.verdict.ok:
        return block
    text = "The folder is not as it was written, so nothing that it states can be relied on."
    return VerdictBlock(BROKEN, BROKEN, text, block.parts, block.basis)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}." if words else ""


def _summary(statement: EvidenceStatement) -> Iterator[str]:
    """Say the few things that a reader must not miss."""
    judgment, codes = statement.judgment, {caution.code for caution in statement.cautions}
    if judgment.word == BROKEN:
        yield "This release must not be handed on."
    if judgment.why:
        yield _sentence(judgment.why)
    if judgment.changed or judgment.added:
        names = ", ".join((*judgment.changed, *judgment.added))
        yield f"Changed, missing or added since the release was written: {names}."
    highest = _highest(statement)
    if highest is not None and statement.threshold is not None:
        side = "within" if highest <= statement.threshold else "above"
        yield (
            f"The highest risk of a record, {percent(highest)}, is {side} the accepted {percent(statement.threshold)}, "
            "where an attempt is certain and the attacker knows every quasi-identifier of a person."
        )
    elif highest is not None:
        yield f"The highest risk of a record is {percent(highest)}; nobody has said which risk is accepted."
    exact = codes & set(SINGLING_OUT)
    if exact:
        means = (
            "do not publish it"
            if statement.environment == "public"
            else "the controls must keep the recipient from them"
        )
        yield f"That risk does not count columns that are published exactly, by which people can be found: {means}."
    if isinstance(statement.attacks, Attacks):
        worst = max(statement.attacks.all, key=lambda success: success.risk)
        yield (
            f"Of the three attacks {worst.name.lower()} achieves most: right in {percent(worst.rate.share)} of its "
            f"claims, where guessing is in {percent(worst.baseline)}."
        )
    elif isinstance(statement.attacks, MembershipAttack) and statement.attacks.membership is not None:
        auc = percent(statement.attacks.membership.auc)
        yield f"The membership attack ranks people in the data above others in {auc} of pairs; guessing does so in 50%."
    if statement.harbor is not None:
        yield f"HIPAA Safe Harbor, looked for in the released data: {statement.harbor.word}."
    n_open = sum(key not in statement.answers for key in QUESTIONS)
    if n_open:
        yield f"{n_open:,} of {len(QUESTIONS):,} decisions are open: only people can take them."


def _highest(statement: EvidenceStatement) -> float | None:
    """Return the highest risk of a record that the released data shows; None where it shows none."""
    stated = statement.record.get("risk")
    if isinstance(stated, dict) and "highest_at_most" in stated:
        return float(stated["highest_at_most"])
    risk = {} if statement.release is None else statement.release.figures.public.to_dict().get("risk")
    return float(risk["prosecutor"]["highest"]) if isinstance(risk, dict) and "prosecutor" in risk else None


def _context(statement: EvidenceStatement) -> Section:
    rows = [
        ("Recipient", statement.recipient),
        ("Environment", _ENVIRONMENTS[statement.environment]),
        ("Way of sharing (NIST SP 800-188)", _MODELS[statement.environment]),
        ("Accepted risk", "not stated" if statement.threshold is None else percent(statement.threshold)),
    ]
    content = [TableBlock(("Context", "Stated"), rows, "Context"), _questions(statement, _NEEDED)]
    text = (
        "Who receives the data, in which environment, and what that means for attempts to identify somebody."
    )
    return Section("context", "Context (clause 6)", text, content)


def _data(statement: EvidenceStatement) -> Section:
    record, harbor = statement.record, statement.harbor
    noun = statement.judgment.kind.replace("-", " ")
    counts = ", ".join(f"{n:,} {name}" for name, n in statement.judgment.counts.items())
    rows = [
        (entry["name"], _ROLES.get(entry["role"], entry["role"]), _became(entry))
        for entry in record.get("columns", ())
    ]
    content: list[Block] = [Paragraph(f"Released: {noun}{f' ({counts})' if counts else ''}.")]
    if rows:
        content.append(
            TableBlock(("Column", "Role", "In the release"), rows, "Columns and what people decided of them")
        )
    if statement.release is not None:
        named = [str(each) for each in statement.release.figures.identifiers]
        nothing = "None was found: e-mail and web addresses, numbers of telephones, accounts and cards; no free text."
        texts = [f"{text}." for text in named] or [nothing]
        allowed = record.get("allowed", ())
        texts += [f"A person allowed it all the same: {', '.join(allowed)}."] if allowed else []
        content.append(Subsection("Direct identifiers in the texts", [Bullets(texts)]))
    if harbor is not None:
        lines = [f"{'Found' if each.is_sure else 'Open'}: {each}." for each in harbor.findings]
        lines = lines or [f"None of the 18 was found in {counted(harbor.n_columns, 'column')}."]
        words = f"HIPAA Safe Harbor (45 CFR 164.514(b)(2)): {harbor.word}"
        content.append(Subsection(words, [Bullets([*lines, ACTUAL_KNOWLEDGE])]))
    attacker = [
        "A prosecutor knows that a person is in the data, and all of the person's quasi-identifiers, exactly.",
        "A journalist wants to show that anybody can be found, and has a list of the population.",
        "A marketer links as many records as possible to another list.",
        "All of them have the whole release, know the method and its parameters, and see every public file.",
    ]
    content.append(Subsection("Attackers that are modelled", [Bullets(attacker)]))
    text = (
        "What is in the data, which columns others may know, and what attackers are taken to know and want."
    )
    return Section("data", "Data and attack modelling (clause 7)", text, content)


def _became(entry: dict[str, Any]) -> str:
    if entry["role"] in ("identifier", "person", "drop"):
        return "keyed pseudonyms" if entry.get("pseudonym") else "left out"
    return "as groups where needed" if entry["role"] == "quasi" else "each value as it is"


def _identifiability(statement: EvidenceStatement) -> Section:
    release = statement.release
    blocks = [] if release is None else kind_of(release).identifiability(release)
    parts = [part for block in blocks for part in _without_charts(block)]
    if not parts:
        bound = _highest(statement)
        words = "No risk by record follows from the released files alone; the guarantee is what is known."
        if bound is not None:
            words = f"People were counted, not rows: the highest risk of one is at most {percent(bound)}, as stated."
        parts = [Paragraph(words)]
    parts.append(
        Paragraph(
            "The risk is that of the data, with an attempt taken as certain. In a controlled environment it is "
            "multiplied by the probability of an attempt, which only people can judge. For public release of clinical "
            "reports the European Medicines Agency and Health Canada took a threshold of 0.09.",
            "note",
        )
    )
    text = "How likely a record is found again, from the released data alone, as anybody can recompute it."
    return Section("identifiability", "Identifiability (clause 8)", text, parts)


def _without_charts(block: Block) -> Iterator[Block]:
    """Return a block of a report with tables in the place of charts, below a heading of this paper."""
    if isinstance(block, Section):
        content = [part for inner in block.content for part in _without_charts(inner)]
        yield Subsection(block.title, content, block.text)
    elif isinstance(block, Figure):
        if block.table is not None:
            yield Subsection(block.title, [block.table], block.text)
    else:
        yield block


def _tests(statement: EvidenceStatement) -> Section:
    attacks = statement.attacks
    text = "What attacks achieve against the released files, with intervals of 95 %."
    if attacks is None:
        words = (
            NO_MEANING.get(statement.record["kind"], "There is no attack on this kind of data.")
            if statement.record["kind"] not in ATTACKED
            else "Not in this paper: results of attacks compare with the original, and stay with the owner. The owner "
            "runs them by naming the original (--original), and finds them in the private paper."
        )
        return Section("tests", "Adversarial tests (clause 8)", text, [Paragraph(words)])
    content = list(_regulators(attacks) if isinstance(attacks, Attacks) else _membership(attacks))
    return Section("tests", "Adversarial tests (clause 8)", text, content)


def _regulators(attacks: Attacks) -> Iterator[Block]:
    head = ("Attack", "Right", "About strangers", "By guessing", "Due to the release")
    title = "The three attacks that regulators name (WP29 05/2014)"
    table = TableBlock(head, [_success(each) for each in attacks.all], title)
    controls = (
        "There was no control group, so that what is learned of anybody counts as due to the release: it is overstated."
        if attacks.n_controls is None
        else f"Strangers are a control group of {counted(attacks.n_controls, 'person', 'people')} not in the data."
    )
    risk = attacks.attackers
    claims = _CLAIMS_OF_BASKETS if risk is None else _CLAIMS
    yield Subsection(title, [table, Bullets([*claims, *_OF_CLAIMS, controls])])
    if risk is None:
        return
    rows = [("Prosecutor", percent(risk.prosecutor.highest), percent(risk.prosecutor.mean))]
    if risk.journalist is not None:
        rows.append(("Journalist", percent(risk.journalist.highest), percent(risk.journalist.mean)))
    else:
        rows.append(("Journalist", "not measured: no population was named", "–"))
    rows.append(("Marketer", "–", percent(risk.marketer)))
    title = "Risk of a record by attacker"
    yield Subsection(title, [TableBlock(("Attacker", "Highest", "Mean"), rows, title)])


def _success(success: AttackSuccess) -> tuple[str, ...]:
    rate, control = success.rate, success.control
    return (
        success.name.capitalize(),
        f"{percent(rate.share)} of {rate.n_attempts:,} ({percent(rate.low)} to {percent(rate.high)})",
        "–"
        if control is None
        else f"{percent(control.share)} ({percent(control.low)} to {percent(control.high)})",
        percent(success.baseline),
        f"{percent(success.risk)} ({percent(success.low)} to {percent(success.high)})",
    )


def _membership(attack: MembershipAttack) -> Iterator[Block]:
    rows = []
    if attack.membership is not None:
        auc = f"{percent(attack.membership.auc)} ({percent(attack.low)} to {percent(attack.high)}); 50% is a coin"
        rows.append(("A member is nearer to the pseudo-data than others", auc))
    near = attack.closeness
    rows.append(("Distance to the closest record, beside that among people", percent(near.ratio)))
    rows.append(("Pseudo-records that are copies of a record", percent(near.copies)))
    yield TableBlock(("Membership inference", "Result"), rows, "Membership inference")
    yield Paragraph(CLOSENESS_PROVES_NOTHING)


def _mitigation(statement: EvidenceStatement) -> Section:
    record = statement.record
    rows = [("Method", str(record.get("method", "–"))), ("Guarantee", record["verdict"]["guarantee"])]
    rows += [(f"Parameter {name}", value_text(value)) for name, value in statement.parameters.items()]
    counts: dict[str, int] = record.get(kind_named(record["kind"]).records_name, {})
    rows += [(f"Records {name}", f"{n:,}") for name, n in counts.items()]
    content: list[Block] = [TableBlock(("Measure on the data", "Value"), rows, "Measures on the data")]
    texts = summarized(statement.cautions)
    content.append(Subsection("Cautions that remain", [Bullets(texts or ["None by the released data."])]))
    content.append(_questions(statement, ("controls",)))
    text = "What was done to the data, what remains, and which controls hold where the data goes."
    return Section("mitigation", "Mitigation (clause 8)", text, content)


def _governance(statement: EvidenceStatement) -> Section:
    record, judgment = statement.record, statement.judgment
    signature = {"verified": "verified", "present": "there is one, not verified here"}.get(
        judgment.signature, "none"
    )
    rows = [
        ("Made with", f"Discreet {record.get('discreet', '–')}; this paper with {__version__}"),
        ("Signature of release.json", signature),
        (f"SHA-256 of {RECORD}", str(described_file(statement.folder / RECORD).get("sha256"))),
        *((f"SHA-256 of {name}", str(entry["sha256"])) for name, entry in record["files"].items()),
    ]
    rest = [key for key in QUESTIONS if key not in (*_NEEDED, "controls")]
    content = [
        _questions(statement, rest),
        Subsection(
            "What this paper is about",
            [TableBlock(("What", "Version or digest"), rows, "Files, versions and digests")],
        ),
    ]
    text = "Who decided what, who answers for it, and when it is looked at again."
    return Section("governance", "Governance (clause 9)", text, content)


def _questions(statement: EvidenceStatement, keys: Iterable[str]) -> Subsection:
    """Return questions with what people answered, or room to write."""
    entries: Sequence[tuple[str, str]] = [(QUESTIONS[key], statement.answers.get(key, "")) for key in keys]
    return Subsection("For people to decide", [Definitions(entries, "answers")])
