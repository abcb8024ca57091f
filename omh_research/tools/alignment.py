"""Does a quote carry the claim that cites it? (spec T13, T13b)

Job: compare a claim with the exact words of its quote: numbers, dates and units always, names,
polarity and scope, and enough of the claim's content words. Refuses to translate (another script
is `cross_language`) and to prove: alignment is necessary for support, never sufficient.
Importers: tools, phases, delegates.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.bounds import bounds_conflict, lacks_worded
from omh_research.tools.dates import find_dates, index_dates
from omh_research.tools.figures import Figure, find_figures, index_figures
from omh_research.tools.identifiers import find_dois
from omh_research.tools.name_index import index_names
from omh_research.tools.negation import ClauseIndex
from omh_research.tools.order import order_conflict
from omh_research.tools.polarity import polarity_conflict
from omh_research.tools.proper_names import find_names
from omh_research.tools.quotes import PreparedText, lead_in, locate
from omh_research.tools.tokens import content_tokens, detect_language, is_cjk

ALIGNED, UNALIGNED, CROSS_LANGUAGE = "aligned", "unaligned", "cross_language"
MIN_COVERAGE = 0.55
MIN_COVERAGE_CJK = 0.5
MAX_COMPARED_CHARS = 20_000


class Alignment(Struct, frozen=True):
    """The outcome: `status` is "aligned", "unaligned" or "cross_language".

    `reason` says what failed in a few words ("" when aligned), `missing` which words, numbers or
    names of the claim the quote lacks, `coverage` the share of content words found (0 to 1).
    """

    status: str
    reason: str = ""
    missing: tuple[str, ...] = ()
    coverage: float = 0.0


_CLAUSE = lazy_re(
    r"(?<=[.!?;:。！？；：])\s+|(?<=[。！？；])|\s[—–]\s|\n|，"
    r"|,\s+(?=(?:but|while|whereas|although|though|however|yet|aber|während|mais|tandis|pero"
    r"|mientras|но)\b)"
)
_MARKER = lazy_re(
    r"\s?(?:\[\^?\d{1,3}(?:\s?[,，;–-]\s?\d{1,3}){0,20}\]|【\d{1,3}[^】\n]{0,40}】)",
    needs=("[", "【"),
)
_OPENING = lazy_re(r"\W{0,3}([A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f][\w&.-]*)")
_LATIN_THEN_HAN = lazy_re("(?<=[A-Za-z%\u00b2\u00b3])(?=[\u3400-\u9fff])")
_POSSESSIVE = lazy_re(r"[^\W\d_][\w&.-]{0,60}(?=['’]s\b)")
_STRICT_UNITS = frozenset({"%", "‰", "pp", "usd", "eur", "gbp", "cny", "jpy", "inr"})
_SCRIPTS = (
    ("latin", lazy_re("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")),
    ("han", lazy_re("[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]")),
    ("hangul", lazy_re("[\u1100-\u11ff\uac00-\ud7af]")),
    ("cyrillic", lazy_re("[\u0400-\u052f]")),
    ("arabic", lazy_re("[\u0600-\u06ff\u0750-\u077f]")),
    ("hebrew", lazy_re("[\u0590-\u05ff]")),
    ("greek", lazy_re("[\u0370-\u03ff]")),
    ("devanagari", lazy_re("[\u0900-\u097f]")),
    ("thai", lazy_re("[\u0e00-\u0e7f]")),
)
_KANA = lazy_re("[\u3040-\u30ff]")
# One Han or Hangul character says about as much as three letters.
_WEIGHTS = {"han": 3, "hangul": 3}


def align(claim: str, quote: str, context: str = "") -> str:
    """Return the status of `compare`: "aligned", "unaligned" or "cross_language"."""
    return compare(claim, quote, context).status


def compare(claim: str, quote: str, context: str = "", lead: str = "") -> Alignment:
    """Compare `claim` with the exact words of `quote` (spec T13).

    `context` is text of the same source that may resolve the claim's subject (its title, the
    sentence before): a name missing from the quote may stand there, a number may not. `lead` is
    what stands before the quote in its own clause (`quotes.lead_in`): a negation or hedge there
    turns the quote round. Citation markers in the claim are ignored.
    """
    claim = _MARKER.sub("", claim).strip()
    quote = quote[:MAX_COMPARED_CHARS].strip()
    if not claim or not quote:
        return Alignment(UNALIGNED, "empty")
    if len(claim) > MAX_COMPARED_CHARS:
        return Alignment(UNALIGNED, f"longer than {MAX_COMPARED_CHARS:,} characters")
    if script_of(claim) != script_of(quote):
        return Alignment(CROSS_LANGUAGE, "claim and quote are written in different scripts")
    if _is_within(claim, quote):
        before = lead_in(claim, PreparedText(quote)) or lead
        conflict = polarity_conflict(claim, f"{before} {claim}") if before else ""
        return Alignment(UNALIGNED if conflict else ALIGNED, conflict, (), 1.0)
    missing = missing_figures(claim, quote) or missing_number_words(claim, quote)
    if missing:
        return Alignment(UNALIGNED, "numbers not in the quote", missing)
    names = _missing_names(claim, quote, context)
    if names:
        return Alignment(UNALIGNED, "names not in the quote", names)
    wanted = dict.fromkeys(content_tokens(claim))
    held = set(content_tokens(quote)) | set(content_tokens(context)) if wanted else set()
    lacking = tuple(token for token in wanted if token not in held)
    coverage = 1 - len(lacking) / len(wanted) if wanted else 1.0
    least = MIN_COVERAGE_CJK if any(map(is_cjk, claim)) else MIN_COVERAGE
    if coverage < least:
        return Alignment(UNALIGNED, "too few of the claim's words in the quote", lacking, coverage)
    conflict = (
        _clause_conflict(claim, quote, lead, quote + context)
        or order_conflict(claim, quote)
        or _turned_round(claim, quote)
    )
    if conflict:
        return Alignment(UNALIGNED, conflict, lacking, coverage)
    return Alignment(ALIGNED, "", lacking, coverage)


def _is_within(part: str, whole: str) -> bool:
    """Say whether `part` stands word for word in `whole`, on token borders."""
    return locate(part, whole) is not None


def script_of(text: str) -> str:
    """Return the script most of `text` is written in, "kana" for Japanese, "" without letters.

    A sentence with Latin names and figures in it keeps the script of its own words.
    """
    scripts = _SCRIPTS[:1] if text.isascii() else _SCRIPTS
    counts = {name: len(pattern.findall(text)) for name, pattern in scripts}
    best = max(counts, key=lambda name: counts[name] * _WEIGHTS.get(name, 1))
    if not counts[best]:
        return ""
    if best == "han" and len(_KANA.findall(text)) * 8 >= counts["han"]:
        return "kana"
    return best


def missing_figures(claim: str, quote: str) -> tuple[str, ...]:
    """Return the numbers, dates and DOIs of `claim`, as spelt, that `quote` does not hold.

    A number counts with its unit: "5 mg" is not "5 g", "12 %" not "12". Other languages' number
    words, decimal signs and dates are read, so a translated sentence may be compared (T13b).
    """
    claim, quote = (
        text if text.isascii() else _LATIN_THEN_HAN.sub(" ", text) for text in (claim, quote)
    )
    dates = find_dates(claim)
    date_index = index_dates(quote)
    missing = [claim[d.start : d.end] for d in dates if not date_index.supports(d)]
    figures = index_figures(quote)
    for figure in find_figures(claim):
        if any(date.start <= figure.start < date.end for date in dates):
            continue
        seen = [figures.units[value] for value in figure.values if value in figures.units]
        if not figures.supports(figure) or not _units_agree(figure, seen):
            missing.append(figure.text)
    missing += _repeated(claim, quote)
    held = set(find_dois(quote))
    missing += [doi for doi in find_dois(claim) if doi not in held]
    return tuple(dict.fromkeys(missing))


def missing_number_words(claim: str, quote: str) -> tuple[str, ...]:
    """Return the numbers and shares that `claim` states in words and `quote` in no form.

    "three" for "four", "two thirds" for 40 %; one and two are not compared.
    """
    return tuple(dict.fromkeys(lacks_worded(claim, quote)))


def _turned_round(claim: str, quote: str) -> str:
    """Return what turns a number or a clause of `claim` against `quote`, "" if nothing does."""
    if bounded := bounds_conflict(claim, [quote]):
        return f"the quote does not say {bounded}"
    is_run = not claim.isascii() and any(map(is_cjk, claim))
    return "one side is negated" if is_run and ClauseIndex([quote]).denies(claim) else ""


def _repeated(claim: str, quote: str) -> list[str]:
    """Return the numbers that `claim` says more than once, and more often than `quote` does.

    "5 to 5 years" for "2 to 5 years": each number is there, but not that many times.
    """
    said = Counter(figure.values for figure in find_figures(claim))
    held = Counter(figure.values for figure in find_figures(quote))
    return [values[0] for values, times in said.items() if times > max(1, held[values])]


def _units_agree(figure: Figure, seen: list[frozenset[str]]) -> bool:
    """Say whether the unit of `figure` is among those its value stands with in the quote."""
    units = frozenset().union(*seen)
    if figure.unit in _STRICT_UNITS:
        return bool(units - {""})
    return "" in units or bool(figure.unit) or not units <= _STRICT_UNITS


def _missing_names(claim: str, quote: str, context: str) -> tuple[str, ...]:
    """Return the names of `claim` that neither `quote` nor, in its place, `context` holds.

    When the quote names somebody the claim does not, the context cannot stand in: that is how a
    swapped name looks.
    """
    language = detect_language(claim) or "en"
    index = index_names([quote])
    # A possessive is a name even where the first word's capital says nothing.
    known = frozenset(match[0].casefold() for match in _POSSESSIVE.finditer(f"{claim} {quote}"))
    named = find_names(claim, language=language, known=known)
    missing = [n for n in named if not index.supports(n) and not _is_within(n.text, quote)]
    if not missing:
        return ()
    others = index_names([claim])
    rivals = [
        name
        for name in find_names(quote, language=language, known=known)
        if not others.supports(name)
    ]
    if context and not rivals:
        around = index_names([context])
        missing = [name for name in missing if not around.supports(name)]
    return tuple(name.text for name in missing)


def _other_subject(claim: str, clause: str, known: str) -> str:
    """Return a reason if claim and clause open with different capitalised words, else "".

    "Pfizer reported …" against "Moderna reported …": an opening capital alone does not make a
    name, so a word that `known` also writes small is let pass.
    """
    ours, theirs = _OPENING.match(claim), _OPENING.match(clause)
    if not ours or not theirs or theirs[1].isupper() or theirs[1].endswith("ly"):
        return ""
    said, held = content_tokens(ours[1]), content_tokens(theirs[1])
    if not said or not held or said[0] in content_tokens(known) or held[0] in content_tokens(claim):
        return ""
    return f"{ours[1]} in place of {theirs[1]}"


def _clause_conflict(claim: str, quote: str, lead: str, known: str) -> str:
    """Compare each clause of the claim with the clause of the quote that carries it."""
    clauses = [clause for clause in _CLAUSE.split(claim) if clause and clause.strip()]
    for clause in clauses or [claim]:
        wanted = dict.fromkeys(content_tokens(clause))
        if len(clauses) > 1 and len(wanted) < 2:
            continue
        carrying = _carrying_clause(quote, wanted)
        said = f"{lead} {carrying}" if lead and quote.startswith(carrying) else carrying
        conflict = polarity_conflict(clause, said) or _other_subject(clause, carrying, known)
        if conflict:
            return conflict
    return ""


def _carrying_clause(quote: str, wanted: dict[str, None]) -> str:
    """Return the clause of `quote` that holds most of the wanted words; all of it if none does."""
    clauses = [clause for clause in _CLAUSE.split(quote) if clause and clause.strip()]
    if len(clauses) < 2 or not wanted:
        return quote
    scores = [len(set(content_tokens(clause)) & wanted.keys()) for clause in clauses]
    best = max(scores)
    if best < max(1, len(wanted) * MIN_COVERAGE_CJK):
        return quote
    return clauses[scores.index(best)]
