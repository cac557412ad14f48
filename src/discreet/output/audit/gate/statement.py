"""The gate: one SELECT of a small language, read by a whitelist of syntax nodes and of their arguments.

What is taken is built anew from declared column names and bound constants; no text of the user reaches the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from discreet.output.audit.auditor import QueryError
from discreet.output.audit.gate.predicates import (
    And,
    Compare,
    Constant,
    In,
    IsNull,
    Not,
    Or,
    Predicate,
    constant,
)

if TYPE_CHECKING:
    from sqlglot import exp

TABLE = "data"
Function = Literal["group", "count", "sum", "avg", "min", "max"]

_MOST_CHARACTERS = 20_000
_MOST_TOKENS = 5_000
_MOST_NESTED = 60
_MOST_LISTED = 1_000
_MOST_SELECTED = 32
_EXAMPLE = "Write, for example: SELECT avg(salary) FROM data WHERE department = 'x'."


@dataclass(frozen=True)
class Output:
    """One column of an answer: a group's value, a count, or an aggregate of a sensitive column."""

    name: str
    function: Function
    column: str | None = None


@dataclass(frozen=True)
class Statement:
    """A query that the gate has taken."""

    outputs: tuple[Output, ...]
    where: Predicate | None
    group: tuple[str, ...]


@dataclass(frozen=True)
class Declared:
    """The declared columns: the public ones with their kinds, and the sensitive ones."""

    public: Mapping[str, str]
    sensitive: tuple[str, ...]

    def resolve(self, name: str) -> str:
        """Return the declared column of this name, whatever its case where that is unambiguous."""
        known = (*self.public, *self.sensitive)
        if name in known:
            return name
        alike = [one for one in known if one.lower() == name.lower()]
        if len(alike) != 1:
            raise QueryError(
                f"The vault has no column of that name. Public: {', '.join(self.public) or 'none'}; "
                f"sensitive: {', '.join(self.sensitive)}."
            )
        # Only where one column fits: two names that differ by case alone must be written as declared.
        return alike[0]


def read_statement(sql: str, declared: Declared) -> Statement:
    """Parse a query; anything outside the language is refused.

    >>> declared = Declared({"age": "number"}, ("salary",))
    >>> read_statement("SELECT avg(salary) FROM data WHERE age > 30", declared).outputs
    (Output(name='avg(salary)', function='avg', column='salary'),)
    """
    try:
        return _Reader(declared).statement(_parsed(sql))
    except RecursionError:
        raise QueryError("The statement is nested too deeply.") from None


def _parsed(sql: object) -> exp.Select:
    """Parse exactly one SELECT; the parser's own messages repeat the text and are not passed on."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.tokens import TokenType

    if not isinstance(sql, str) or not sql.strip():
        raise QueryError(f"There is no statement. {_EXAMPLE}")
    if len(sql) > _MOST_CHARACTERS:
        raise QueryError(f"The statement is longer than {_MOST_CHARACTERS:,} characters.")
    if any("\ud800" <= character <= "\udfff" for character in sql):
        raise QueryError("The statement is no valid Unicode text: it holds a half of a surrogate pair.")
    try:
        tokens = sqlglot.tokenize(sql, dialect="duckdb")
        while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
            tokens.pop()
        kinds = [token.token_type for token in tokens]
        if not kinds or kinds[0] != TokenType.SELECT or TokenType.SEMICOLON in kinds:
            raise QueryError(f"Only one SELECT statement is taken. {_EXAMPLE}")
        # Counted on tokens, before the parser, which recurses into parentheses.
        if len(kinds) > _MOST_TOKENS or _nesting(kinds, TokenType.L_PAREN, TokenType.R_PAREN) > _MOST_NESTED:
            raise QueryError("The statement is too long or nested too deeply.")
        parsed = sqlglot.parse(sql, dialect="duckdb")
    except QueryError:
        raise
    except RecursionError:
        raise QueryError("The statement is nested too deeply.") from None
    except Exception:  # noqa: BLE001  # whatever the parser raises repeats the text
        raise QueryError(f"The statement cannot be read. {_EXAMPLE}") from None
    statements = [one for one in parsed if one is not None]
    if len(statements) != 1 or type(statements[0]) is not exp.Select:
        raise QueryError(f"Only one SELECT statement is taken. {_EXAMPLE}")
    selected: exp.Select = statements[0]
    return selected


def _nesting(kinds: Iterable[Any], opening: Any, closing: Any) -> int:
    deepest = depth = 0
    for kind in kinds:
        depth += (kind == opening) - (kind == closing)
        deepest = max(deepest, depth)
    return deepest


class _Reader:
    """Turns a syntax tree into a statement, one whitelisted node at a time."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared

    def statement(self, select: exp.Select) -> Statement:
        _only(select, "expressions", "from_", "where", "group")
        self._require_table(select.args.get("from_"))
        group = self._group(select.args.get("group"))
        outputs = tuple(self._output(node, group) for node in select.expressions)
        names = [one.name for one in outputs]
        if len(outputs) > _MOST_SELECTED or len(set(names)) < len(names):
            raise QueryError(f"Select at most {_MOST_SELECTED} columns, each with a name of its own.")
        if all(one.function == "group" for one in outputs):
            raise QueryError(f"The statement selects no aggregate. {_EXAMPLE}")
        where: Any = select.args.get("where")
        if where is None:
            return Statement(outputs, None, group)
        _only(where, "this")
        return Statement(outputs, self._predicate(where.this), group)

    def _require_table(self, node: Any) -> None:
        from sqlglot import exp

        table: Any = node.this if isinstance(node, exp.From) else None
        if type(table) is not exp.Table:
            raise QueryError(f"Select from the table {TABLE}.")
        _only(node, "this")
        _only(table, "this")
        if _name(table.this).lower() != TABLE:
            raise QueryError(f"Select from the table {TABLE}.")

    def _group(self, node: Any) -> tuple[str, ...]:
        if node is None:
            return ()
        _only(node, "expressions")
        names = tuple(self._public(one, "GROUP BY") for one in node.expressions)
        if not names or len(set(names)) < len(names):
            raise QueryError("GROUP BY takes public columns, each once.")
        return names

    def _output(self, node: Any, group: Sequence[str]) -> Output:
        from sqlglot import exp

        alias = None
        if type(node) is exp.Alias:
            _only(node, "this", "alias")
            alias, node = _name(node.args["alias"]), node.this
            taken = {one.lower() for one in (*self.declared.public, *self.declared.sensitive)}
            if alias.lower() in taken:
                raise QueryError("An alias must not be the name of a column.")
        if type(node) is exp.Column:
            name = self._column(node)
            if name not in group:
                raise QueryError("A selected column must be a public one named in GROUP BY, or an aggregate.")
            return Output(alias or name, "group", name)
        functions: dict[type, Function] = {
            exp.Count: "count",
            exp.Sum: "sum",
            exp.Avg: "avg",
            exp.Min: "min",
            exp.Max: "max",
        }
        function = functions.get(type(node))
        if function is None:
            raise QueryError("Only COUNT, SUM, AVG, MIN and MAX of a sensitive column can be selected.")
        _only(node, "this", *(("big_int",) if function == "count" else ()))
        if function == "count" and type(node.this) is exp.Star:
            _only(node.this)
            return Output(alias or "count(*)", "count")
        if type(node.this) is not exp.Column:
            raise QueryError("An aggregate takes the name of one sensitive column, and nothing else.")
        name = self._column(node.this)
        if name not in self.declared.sensitive:
            raise QueryError("Aggregates are of sensitive columns; of public ones there is COUNT(*).")
        return Output(alias or f"{function}({name})", function, name)

    def _column(self, node: Any) -> str:
        _only(node, "this", "table")
        table = node.args.get("table")
        if table is not None and _name(table).lower() != TABLE:
            raise QueryError(f"The only table is {TABLE}.")
        return self.declared.resolve(_name(node.this))

    def _public(self, node: Any, where: str) -> str:
        from sqlglot import exp

        if type(node) is not exp.Column:
            raise QueryError(f"{where} takes public columns and constants only.")
        name = self._column(node)
        if name not in self.declared.public:
            raise QueryError(
                f"{where} must not use a sensitive column: a denial would then depend on its values."
            )
        return name

    def _predicate(self, node: Any) -> Predicate:
        from sqlglot import exp

        # Exact types, as a subclass of a node could mean more than what is taken here.
        kind = type(node)
        if kind is exp.Paren:
            _only(node, "this")
            return self._predicate(node.this)
        if kind is exp.Not:
            _only(node, "this")
            return Not(self._predicate(node.this))
        if kind in (exp.And, exp.Or):
            parts = tuple(self._predicate(one) for one in self._flat(node, kind))
            return And(parts) if kind is exp.And else Or(parts)
        if kind in (exp.In, exp.Between, exp.Is):
            return self._membership(node)
        if kind is exp.Column:
            name = self._public(node, "WHERE")
            if self.declared.public[name] != "truth value":
                raise QueryError("A column stands alone in WHERE only if it holds truth values.")
            return Compare("=", name, Constant(True))
        return self._comparison(node)

    @staticmethod
    def _flat(node: Any, kind: Any) -> list[Any]:
        """Return the operands of a chain of AND or of OR, without recursion."""
        found: list[Any] = []
        waiting: list[Any] = [node]
        while waiting:
            one: Any = waiting.pop()
            if isinstance(one, kind):
                _only(one, "this", "expression")
                waiting += [one.expression, one.this]
            else:
                found.append(one)
        return found

    def _membership(self, node: Any) -> Predicate:
        from sqlglot import exp

        name = self._public(node.this, "WHERE")
        kind = self.declared.public[name]
        if type(node) is exp.In:
            _only(node, "this", "expressions")
            if not 0 < len(node.expressions) <= _MOST_LISTED:
                raise QueryError(f"IN takes a list of 1 to {_MOST_LISTED:,} constants.")
            return In(name, tuple(_constant(one, kind) for one in node.expressions))
        if type(node) is exp.Between:
            _only(node, "this", "low", "high")
            low, high = (_constant(node.args[end], kind) for end in ("low", "high"))
            return And((Compare(">=", name, low), Compare("<=", name, high)))
        _only(node, "this", "expression")
        if type(node.expression) is not exp.Null:
            raise QueryError("IS takes NULL or NOT NULL only.")
        return IsNull(name)

    def _comparison(self, node: Any) -> Predicate:
        from sqlglot import exp

        signs = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
        sign = signs.get(type(node))
        if sign is None:
            raise QueryError(
                "WHERE takes comparisons of public columns with constants, IN, BETWEEN, IS NULL, AND, OR, NOT."
            )
        _only(node, "this", "expression")
        left, right = node.this, node.expression
        if type(left) is not exp.Column:
            left, right = right, left
            sign = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
        name = self._public(left, "WHERE")
        return Compare(sign, name, _constant(right, self.declared.public[name]))


def _constant(node: Any, kind: str) -> Constant:
    """Return a constant that fits the kind of its column; nothing is converted by the engine."""
    from sqlglot import exp

    negative = False
    if type(node) is exp.Neg:
        _only(node, "this")
        negative, node = True, node.this
    if type(node) is exp.Literal:
        _only(node, "this", "is_string")
        return constant(node.this, is_text=bool(node.args.get("is_string")), negative=negative, kind=kind)
    if type(node) is exp.Boolean and not negative:
        _only(node, "this")
        return constant(bool(node.this), is_text=False, negative=False, kind=kind)
    raise QueryError("WHERE compares public columns with plain constants only.")


def _name(node: Any) -> str:
    from sqlglot import exp

    if type(node) is not exp.Identifier:
        raise QueryError("A name is expected where the statement has something else.")
    _only(node, "this", "quoted")
    if not isinstance(node.this, str) or not node.this or len(node.this) > 200:
        raise QueryError("A name must have 1 to 200 characters.")
    return node.this


def _only(node: Any, *allowed: str) -> None:
    """Refuse a node with any argument beside the allowed ones."""
    for name, value in node.args.items():
        if name not in allowed and value is not None and value is not False and value != [] and value != "":
            raise QueryError(
                "The statement uses a clause or an option that the vault does not take. "
                "Taken are SELECT of aggregates, FROM, WHERE and GROUP BY."
            )
