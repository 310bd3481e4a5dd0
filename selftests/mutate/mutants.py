# SPDX-License-Identifier: GPL-2.0-only
"""The mutants of a C source: their places and replacements.

A tokenizer for C and a parser for statements, as far as the operators need it. A
mutant of something that the parser took for an expression by mistake does not compile,
and then it does not count.

"""
import collections
import re

# file, function, operator, index among that operator's mutants in the function, offsets of the
# replaced text, replacement, line of the place, first and last line of the statement
Mutant = collections.namedtuple("Mutant", "file function operator index start end text line first last")
Token = collections.namedtuple("Token", "kind text start end line")

OPERATORS = {
    "negate": "if (x) and while (x) become if (!(x)) and while (!(x))",
    "boundary": "< and <=, > and >= change places",
    "equal": "== and != change places",
    "logic": "&& and || change places",
    "arithmetic": "binary + and -, += and -= change places",
    "bits": "binary & and |, &= and |=, << and >> change places",
    "constant": "a number in a comparison or an index becomes one larger",
    "drop": "a statement that is a call, an assignment or ++/-- is removed",
    "return": "a returned error becomes 0; true and false change places",
}
SWAPS = {
    "<": ("boundary", "<="), "<=": ("boundary", "<"), ">": ("boundary", ">="), ">=": ("boundary", ">"),
    "==": ("equal", "!="), "!=": ("equal", "=="), "&&": ("logic", "||"), "||": ("logic", "&&"),
    "+": ("arithmetic", "-"), "-": ("arithmetic", "+"), "+=": ("arithmetic", "-="), "-=": ("arithmetic", "+="),
    "&": ("bits", "|"), "|": ("bits", "&"), "&=": ("bits", "|="), "|=": ("bits", "&="),
    "<<": ("bits", ">>"), ">>": ("bits", "<<"),
}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
# These operators are also unary; after an operand they are binary.
AMBIGUOUS = {"+", "-", "&"}
TYPES = set("""static const struct enum union unsigned signed int char short long bool float double void
	volatile register extern typedef FILE size_t ssize_t""".split())
# Their arguments are not evaluated, or are not part of the tested behaviour.
OPAQUE = {"sizeof", "_Alignof", "alignof", "offsetof", "assert", "static_assert", "_Static_assert",
          "__attribute__", "va_arg"}
TOKEN = re.compile(r"""
    (?P<skip>\s+|/\*.*?\*/|//[^\n]*)
  | (?P<directive>\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<str>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
  | (?P<chr>[uUL]?'(?:\\.|[^'\\\n])+')
  | (?P<num>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<id>[A-Za-z_]\w*)
  | (?P<punct>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.S | re.X)


def tokens(text):
    found, line = [], 1
    for match in TOKEN.finditer(text):
        # A directive begins its line: "#" is nothing else outside of one.
        if match.lastgroup not in ("skip", "directive"):
            found.append(Token(match.lastgroup, match.group(), match.start(), match.end(), line))
        line += match.group().count("\n")
    return found


class Parser:
    def __init__(self, path, text):
        self.path, self.tokens, self.found = path, tokens(text), []
        self.function = ""
        self.indices = collections.Counter()
        self.partner = {}
        opened = []
        for at, token in enumerate(self.tokens):
            if token.kind != "punct":
                continue
            if token.text in "([{":
                opened.append(at)
            elif token.text in ")]}" and opened:
                self.partner[at] = opened[-1]
                self.partner[opened.pop()] = at

    def text(self, at):
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def kind(self, at):
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""

    def parse(self):
        at = 0
        while at < len(self.tokens):
            text = self.text(at)
            if text == "{" and self.text(at - 1) == ")":
                name = self.partner.get(at - 1, 0) - 1
                self.function = self.text(name)
                end = self.partner.get(at, len(self.tokens))
                self.statements(at + 1, end)
                at = end
            elif text in ("{", "(", "["):
                at = self.partner.get(at, at)
            at += 1
        return self.found

    def statements(self, at, end):
        while at < end:
            after = self.statement(at, end)
            at = max(after, at + 1)

    def semicolon(self, at, end):
        """Where the next ; outside of brackets is."""
        while at < end and self.text(at) != ";":
            at = self.partner.get(at, at) + 1 if self.text(at) in ("(", "[", "{") else at + 1
        return min(at, end)

    def statement(self, at, end):
        """Parses one statement; returns where the next one begins."""
        text, second = self.text(at), self.text(at + 1)
        if text == "{":
            close = self.partner.get(at, end)
            self.statements(at + 1, close)
            return close + 1
        if text in ("if", "while", "switch") and second == "(":
            close = self.partner.get(at + 1, end)
            if text != "switch" and self.text(at + 2) not in ("true", "1"):
                inside = (self.tokens[at + 1].end, self.tokens[close].start)
                self.add("negate", at + 2, *inside, None, at, close)
            self.expression(at + 2, close, at, close)
            if self.text(close + 1) == ";":
                return close + 2
            return self.statement(close + 1, end)
        if text == "for" and second == "(":
            close = self.partner.get(at + 1, end)
            start = at + 2
            if self.declares(start):
                start = self.semicolon(start, close)
            self.expression(start, close, at, close)
            return self.statement(close + 1, end)
        if text in ("do", "else"):
            return self.statement(at + 1, end)
        if text in ("case", "default") or (self.kind(at) == "id" and second == ":"):
            while at < end and self.text(at) != ":":
                at += 1
            return at + 1
        if self.kind(at) == "id" and second == "(" and text not in OPAQUE:
            # A macro that is a loop: its body follows.
            close = self.partner.get(at + 1, end)
            if self.text(close + 1) == "{":
                self.expression(at + 2, close, at, close)
                return self.statement(close + 1, end)
        stop = self.semicolon(at, end)
        if text == "return":
            self.returned(at, stop)
            self.expression(at + 1, stop, at, stop)
        elif text not in ("break", "continue", "goto") and text not in OPAQUE and not self.declares(at):
            if stop < end and self.droppable(at, stop):
                self.add("drop", at, self.tokens[at].start, self.tokens[stop].end, ";", at, stop)
            self.expression(at, stop, at, stop)
        return stop + 1

    def declares(self, at):
        if self.text(at) in TYPES or self.kind(at) != "id":
            return self.text(at) in TYPES
        if self.kind(at + 1) == "id":
            return True
        star = at + 1
        while self.text(star) == "*":
            star += 1
        return star > at + 1 and self.kind(star) == "id" and self.text(star + 1) in ("=", ";", ",", "[")

    def droppable(self, at, stop):
        """A call, an assignment or a step, not an empty statement."""
        words = [self.text(i) for i in range(at, stop)]
        if words[:4] == ["(", "void", ")"] + words[3:4] and "(" not in words[3:]:
            return False
        return any(word in ("(", "=", "++", "--") or (len(word) > 1 and word[-1] == "=") for word in words)

    def returned(self, at, stop):
        words = [self.text(i) for i in range(at + 1, stop)]
        if not words:
            return
        span = (self.tokens[at + 1].start, self.tokens[stop - 1].end)
        if words in (["true"], ["false"]):
            self.add("return", at + 1, *span, "false" if words == ["true"] else "true", at, stop)
        elif (re.search(r"_ERR_|^E[A-Z]+$", words[-1]) and len(words) <= 2) or words in (["error"], ["err"], ["ret"], ["rc"]) \
                or words[0] == "-" and len(words) == 2:
            self.add("return", at + 1, *span, "0", at, stop)

    def operand_before(self, at):
        """Tells whether an operand, not a cast, precedes the token."""
        before = at - 1
        if self.kind(before) in ("id", "num", "str", "chr") or self.text(before) == "]":
            return self.text(before) not in ("return", "case", "sizeof")
        if self.text(before) != ")" or before not in self.partner:
            return False
        inside = [self.tokens[i] for i in range(self.partner[before] + 1, before)]
        return not all(t.text == "*" or t.text in TYPES or t.text.endswith("_t") for t in inside)

    def expression(self, at, end, first, last):
        while at < end:
            token = self.tokens[at]
            if token.text in OPAQUE:
                at = self.partner.get(at + 1, at) + 1
                continue
            if token.kind == "punct" and token.text in SWAPS:
                if token.text not in AMBIGUOUS or self.operand_before(at):
                    operator, text = SWAPS[token.text]
                    self.add(operator, at, token.start, token.end, text, first, last)
            elif token.kind == "num" and re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", token.text):
                before, after = self.text(at - 1), self.text(at + 1)
                if before in COMPARISONS or after in COMPARISONS or (after == "]" and before in ("[", "+", "-")):
                    digits = re.match(r"0[xX][0-9a-fA-F]+|\d+", token.text).group()
                    value = int(digits, 8 if re.fullmatch(r"0\d+", digits) else 0) + 1
                    self.add("constant", at, token.start, token.end, str(value) + token.text[len(digits):], first, last)
            at += 1

    def add(self, operator, at, start, end, text, first, last):
        place = (self.function, operator)
        last = min(last, len(self.tokens) - 1)
        self.found.append(Mutant(self.path, self.function, operator, self.indices[place], start, end, text,
                                 self.tokens[at].line, self.tokens[first].line, self.tokens[last].line))
        self.indices[place] += 1


def mutants(path, text):
    """Returns all mutants of a source."""
    found = Parser(path, text).parse()
    return [m._replace(text=f"!({text[m.start:m.end]})") if m.operator == "negate" else m for m in found]


def name(mutant):
    return f"{mutant.file}:{mutant.function}:{mutant.operator}:{mutant.index}"


def apply(mutant, text):
    return text[:mutant.start] + mutant.text + text[mutant.end:]


def changed_lines(mutant, text):
    """Returns the lines that a mutant changes, before and after the change."""
    begin = text.rfind("\n", 0, mutant.start) + 1
    end = text.find("\n", mutant.end)
    end = len(text) if end < 0 else end
    after = text[begin:mutant.start] + mutant.text + text[mutant.end:end]
    return text[begin:end].split("\n"), after.split("\n")
