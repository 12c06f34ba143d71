"""Step phrasing: rewrites one step in the paper's words "go to X", "look at X", "pick up X", "place X on Y".

Numbers, introductions ("I will", "First,"), other verbs, calls (``go_to("X")``) and reasons are normalized. Names are
not checked here; the parser accepts or refuses them. Only the beginning of a line is read, so that patterns that
backtrack stay fast.
"""

from __future__ import annotations

import re

from housewise.agent.personalize.plan_parser import LONGEST_LINE

NUMBER_WORDS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
CONDITION = r"\b(?:if|when|whenever|once|until|till|unless|otherwise)\b"

_MARKS = str.maketrans("", "", '*`"“”„«»「」')
_APOSTROPHES = str.maketrans("’‘", "''")
_ORDINALS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|next|last|final"
_LABELS = "step|action|task|instruction|command|move|plan|answer"
# Number or bullet of a list item: bullets, check boxes, "1.", "1.2)", "(3)", "2/5:", "a)", "(iv)", "Step two -".
_NUMBERING = re.compile(
    rf"""[\s>\#+•·–—・◦▪‣-]*
    (?: \[[\sx✓✔]?\] | [☐☑✅✔✓◻□]
      | (?:{_LABELS})\s*(?:\d{{1,3}}|(?:{NUMBER_WORDS})\b|[a-z](?=\s*[:.)]))(?:\s*(?:/|of)\s*\d{{1,3}})?\s*[:.)\-–—]*
      | [(\[]?(?:\d{{1,3}}(?:[./]\d{{1,3}}){{0,3}}[a-z]?|[a-z]|[ivx]{{1,5}})\s*[.):\]、°º]+-?
      | action\s*: | (?:and\sthen|then|next|finally)\b
    )?[\s,:]*""",
    re.IGNORECASE | re.VERBOSE,
)
_VERBS = (
    "go|walk|move|navigate|drive|head|return|look|inspect|examine|face|pick|grab|take|grasp|get|place|put|set|drop"
    "|leave|store"
)
_INFLECTED = {
    form: verb
    for verb in _VERBS.split("|")
    for form in (f"{verb}s", f"{verb}es", f"{verb.removesuffix('e')}ing", f"{verb}{verb[-1]}ing")
}
# Words before a step: "First,", "I will", "Start by", "3 ", "Schritt 1:", "👉".
_INTRODUCTION = re.compile(
    rf"""(?: (?:[^\w\s❌✗✘🚫⛔~!¬]|_)+
      | [^\W\d_]{{0,20}}\s*\d{{1,3}}[^\W\d_]{{0,3}}\s*[:.)] | \d{{1,3}}\s
      | [^\x00-\x7f]{{0,8}}[一二三四五六七八九十][^\x00-\x7f]{{0,4}}\s*[、.:)]
      | (?:and|then|now|also|please|lastly|afterwards?|after\sthat|ok(?:ay)?|sure|so|(?:{_ORDINALS})(?:ly)?)\b
      | (?:(?:{_ORDINALS})\s)?(?:{_LABELS})\s*[:=]
      | (?:i|we|you|(?:the\s)?(?:robot|agent))
        (?:'ll|'m|'re|\s(?:will|should|shall|must|can|am|are|is|needs?|has|have|wants?|plan))?\b
        (?:\s(?:be|now|then|first|next|also)\b)*(?:\sgoing(?=\sto\s(?:{_VERBS})\b))?
      | let(?:'s|\sus|\sme)\b | (?:start|begin|continue|proceed)\s(?:by|with)\b
      | to(?=\s(?:{_VERBS})\b)
    )[\s,:]*""",
    re.IGNORECASE | re.VERBOSE,
)
_MAX_PREFIXES = 5
_ENDS = ".!;,' "

# For text with single spaces only: on runs of spaces these patterns backtrack.
_GO = r"(?:go|walk|move|navigate|drive|head|return)"
_LOOK = r"(?:look[ _-]?(?:at|for)|inspect|examine|face)"
_PICK = r"(?:pick[ _-]?up|grab|take|grasp|get)"
_PLACE = r"(?:place|put(?:[ _-]?down)?|set(?:[ _-]?down)?|drop|leave|store)"
_SENTENCES = (
    (re.compile(rf"{_GO}[ _-]?(?:back )?(?:in)?to (?=.)"), "go to "),
    (re.compile(rf"{_LOOK} (?=.)"), "look at "),
    (re.compile(rf"{_PICK} (?=.)"), "pick up "),
    (re.compile(r"pick (?!up$)(.+?)(?: up)?$"), r"pick up \1"),
    (re.compile(rf"{_PLACE} (.+?) (?:back )?(?:on top of|onto|on|into|inside|in|at) (?=.)"), r"place \1 on "),
)
_CALL = re.compile(r"(?:\w+\.)?([a-z][a-z_ -]{1,24}?)\s*(?:[\[({]+([^\])]*)|(?::|=|->|=>|→)\s*(.+))", re.IGNORECASE)
_NOUN_SUFFIX = re.compile(r"[ _-]?(?:object|room|location|receptacle|item)$")
_CALL_TEMPLATES = (
    (re.compile(rf"(?:{_GO}(?:[ _-]?back)?(?:[ _-]?(?:in)?to)?|explore)"), "go to {0}"),
    (re.compile(rf"(?:{_LOOK}|look)"), "look at {0}"),
    (re.compile(rf"(?:{_PICK}|pick)"), "pick up {0}"),
    (re.compile(rf"{_PLACE}(?:[ _-]?(?:onto|on|into|in|at))?"), "place {0} on {1}"),
)
_KEYWORD = re.compile(r"\w+\s*[:=]\s*")
_NO_NAMES = frozenset({"", "none", "null", "on", "in", "at", "within", "next to"})

_PURPOSES = (
    "see|check|explore|find|look|search|inspect|examine|discover|verify|ensure|make|identify|locate|observe|investigate"
    "|have|get|pick|take|retrieve|collect|fetch|grab|place|put|drop|deliver|clean|tidy|organi[sz]e|store|move|return"
    "|bring|view|know|learn|determine|begin|start|continue|prepare|free|clear|complete|finish|do|confirm|scan|assess"
)
_REASON = re.compile(
    rf"""[ ][-–—]+[ ] | [ ]?(?:[–—;:#(\[{{|] | // | => | -> | →) | [.!?][ ]
    | [,.]?[ ](?:because|since|so|as|where|which|for|due|given|in[ ]order|next|first|now|again)\b
    | ,?[ ]to[ ](?:{_PURPOSES})\b | ,?[ ]and[ ](?:look[ ]around|explore|search|check|see)\b""",
    re.VERBOSE,
)
_ASIDE = re.compile(r" ?\([^()]*\)| ?\[[^\[\]]*\]")
_CONDITIONAL = re.compile(
    rf"\W*(?:(?:but|and|only|or)\s)*(?:{CONDITION}|(?:or|optional|skip|cancel|unnecessary|no need)\b"
    r"|not (?:needed|necessary|required)\b)"
)


def strip_numbering(line: str) -> str:
    """Return a line of a plan without its number and other list marks."""
    words = line.translate(_MARKS)
    for _ in range(_MAX_PREFIXES):
        shorter = _NUMBERING.sub("", words, count=1)
        if shorter == words:
            break
        words = shorter
    return words.strip()


def canonical_steps(line: str) -> tuple[str, ...]:
    """Rewrite a step in the paper's words.

    Args:
        line: One step in any phrasing.

    Returns:
        Possible readings, longest first: the whole line, then without a possible reason. Empty if it is not a step.
    """
    whole = _paper_sentence(_without_introduction(line))
    if not whole:
        return ()
    forms = [whole]
    asides = _ASIDE.findall(whole)
    cut = _REASON.search(plain := _ASIDE.sub("", whole))
    reasons = [*asides, *([plain[cut.start() :]] if cut else [])]
    # A step under a condition is not a step.
    if reasons and not any(_CONDITIONAL.match(reason) for reason in reasons):
        forms += [plain, plain[: cut.start()]] if cut else [plain]
    return tuple(dict.fromkeys(form.strip(_ENDS) for form in forms if _paper_sentence(form)))


def is_step(text: str) -> bool:
    """Whether a text starts with a step, whatever it names."""
    return bool(_paper_sentence(_without_introduction(text)))


def count_arguments(verb: str) -> int:
    """Return how many names a bare verb such as ``go_to`` takes, or 0 if it is not such a verb."""
    return (_paper_template(verb) or "").count("{")


def _without_introduction(line: str) -> str:
    """Return a line in lower case from its verb on."""
    words = " ".join(strip_numbering(line[:LONGEST_LINE]).translate(_APOSTROPHES).lower().split())
    for _ in range(_MAX_PREFIXES):
        introduction = _INTRODUCTION.match(words)
        if introduction is None:
            break
        words = strip_numbering(words[introduction.end() :])
    first, space, rest = words.partition(" ")
    return f"{_INFLECTED.get(first, first)}{space}{rest}"


def _paper_sentence(words: str) -> str:
    """Return a step with the paper's verb and the rest of its text. Empty if it is not a step."""
    call = _CALL.match(words)
    template = call and _paper_template(call[1])
    if call and template:
        return _fill_template(template, call[2] if call[2] is not None else call[3])
    words = words.strip(_ENDS)
    for pattern, form in _SENTENCES:
        if pattern.match(words):
            return pattern.sub(form, words, count=1)
    return ""


def _paper_template(verb: str) -> str | None:
    """Return the paper's form of a step for a bare verb, or None if it is not such a verb."""
    bare = _NOUN_SUFFIX.sub("", _without_introduction(verb).rstrip(" :="))
    return next((form for pattern, form in _CALL_TEMPLATES if pattern.fullmatch(bare)), None)


def _fill_template(template: str, said: str) -> str:
    """Return a step with the arguments of a call. Empty if none is a name."""
    names = [_KEYWORD.sub("", part.strip(" '{}[]()"), count=1).strip(" '{}[]()") for part in said.split(",")]
    names = [name for name in names if name not in _NO_NAMES]
    if not names:
        return ""
    if len(names) == 1:
        return _paper_sentence(template.format(names[0], "").removesuffix(" on "))
    return template.format(*names)
