"""Writes one step in the paper's words: "go to X", "look at X", "pick up X", "place X on Y".

Numbers, introductions ("I will", "First,"), other verbs, calls (``go_to("X")``) and reasons are made plain. No name is
known here: what a step names is for the parser to accept or refuse. Only the beginning of a line is read, so that
patterns which try several ways stay fast.
"""

from __future__ import annotations

import re

LONGEST_LINE = 300
"""How many characters of a line are read."""
NUMBER_WORDS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
CONDITION = r"\b(?:if|when|whenever|once|until|till|unless|otherwise)\b"

_MARKS = str.maketrans("", "", '*`"“”„«»「」')
_APOSTROPHES = str.maketrans("’‘", "''")
_ORDINALS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|next|last|final"
_LABELS = "step|action|task|instruction|command|move|plan|answer"
# Where a step is in a list: bullets, check boxes, "1.", "1.2)", "(3)", "2/5:", "a)", "(iv)", "Step two -".
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
# What may lead up to a step: "First,", "I will", "Start by", "3 ", "Schritt 1:", "👉".
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
_MOST_PREFIXES = 5
_ENDS = ".!;,' "

# For words with single spaces between them: these patterns try every way to share a run of spaces out.
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
_OF_A_THING = re.compile(r"[ _-]?(?:object|room|location|receptacle|item)$")
_CALLED = (
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
    """Return what a line of a plan says, without its number and other marks of a list."""
    words = line.translate(_MARKS)
    for _ in range(_MOST_PREFIXES):
        shorter = _NUMBERING.sub("", words, count=1)
        if shorter == words:
            break
        words = shorter
    return words.strip()


def canonical_steps(line: str) -> tuple[str, ...]:
    """Write a step in the paper's words.

    Args:
        line: One step, however it is written.

    Returns:
        What it may say, the fullest first: all of it, then without what may be a reason. Empty for what is no step.
    """
    whole = _sentence(_introduced(line))
    if not whole:
        return ()
    forms = [whole]
    asides = _ASIDE.findall(whole)
    cut = _REASON.search(plain := _ASIDE.sub("", whole))
    reasons = [*asides, *([plain[cut.start() :]] if cut else [])]
    # What is to be done under a condition alone is not done.
    if reasons and not any(_CONDITIONAL.match(reason) for reason in reasons):
        forms += [plain, plain[: cut.start()]] if cut else [plain]
    return tuple(dict.fromkeys(form.strip(_ENDS) for form in forms if _sentence(form)))


def is_step(text: str) -> bool:
    """Return whether a text begins with a step, whatever it names."""
    return bool(_sentence(_introduced(text)))


def count_arguments(verb: str) -> int:
    """Return how many names belong to a verb that stands alone, such as ``go_to``: 0 for what is no such verb."""
    return (_template(verb) or "").count("{")


def _introduced(line: str) -> str:
    """Return a line in lower case, without what stands before its verb."""
    words = " ".join(strip_numbering(line[:LONGEST_LINE]).translate(_APOSTROPHES).lower().split())
    for _ in range(_MOST_PREFIXES):
        introduction = _INTRODUCTION.match(words)
        if introduction is None:
            break
        words = strip_numbering(words[introduction.end() :])
    first, space, rest = words.partition(" ")
    return f"{_INFLECTED.get(first, first)}{space}{rest}"


def _sentence(words: str) -> str:
    """Return a step with the paper's verb and all that is said behind it, empty for what is no step."""
    call = _CALL.match(words)
    template = call and _template(call[1])
    if call and template:
        return _filled(template, call[2] if call[2] is not None else call[3])
    words = words.strip(_ENDS)
    for pattern, form in _SENTENCES:
        if pattern.match(words):
            return pattern.sub(form, words, count=1)
    return ""


def _template(verb: str) -> str | None:
    """Return the paper's form of a step whose verb stands alone, None for what is no such verb."""
    bare = _OF_A_THING.sub("", _introduced(verb).rstrip(" :="))
    return next((form for pattern, form in _CALLED if pattern.fullmatch(bare)), None)


def _filled(template: str, said: str) -> str:
    """Return a step with the arguments of a call, empty where none is a name."""
    names = [_KEYWORD.sub("", part.strip(" '{}[]()"), count=1).strip(" '{}[]()") for part in said.split(",")]
    names = [name for name in names if name not in _NO_NAMES]
    if not names:
        return ""
    if len(names) == 1:
        return _sentence(template.format(names[0], "").removesuffix(" on "))
    return template.format(*names)
