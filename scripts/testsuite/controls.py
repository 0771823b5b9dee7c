"""Control flow around a source or a sink: the statements are executed once, whatever the way they are written.

In: a `Part`, the statements, and others that are dead where the part wants them. Out: statements. `around` is called once for the
source and once for the sink of each function.
"""


def block(head, lines, end="}"):
    return [f"{head} {{", *lines, end]


class Condition:
    """`if (TRUE)`, and `if (FALSE)` with what is dead; `top` is what the file needs for it."""

    def __init__(self, yes, no, top=()):
        self.yes, self.no, self.top, self.dead = yes, no, top, True

    def around(self, part, place, lines, dead):
        part.top(*self.top)
        if dead:
            return [*block(f"if ({self.no})", dead), *block("else", lines)]
        return block(f"if ({self.yes})", lines)


class Straight:
    dead = False

    def around(self, part, place, lines, dead):
        return lines


class While:
    dead = True

    def around(self, part, place, lines, dead):
        return [*(block("while (0)", dead) if dead else []), *block("while (1)", [*lines, "break;"])]


class For:
    dead = True

    def around(self, part, place, lines, dead):
        return [*(block("for (int round = 0; round < 0; round++)", dead) if dead else []),
                *block("for (int round = 0; round < 1; round++)", lines)]


class Third:
    """In the fourth round of a loop."""

    dead = True

    def around(self, part, place, lines, dead):
        never = block("if (round == 7)", dead) if dead else []
        return block("for (int round = 0; round < 5; round++)", [*never, *block("if (round == 3)", lines)])


class Do:
    dead = False

    def around(self, part, place, lines, dead):
        return block("do", lines, "} while (0);")


class Switch:
    dead = True

    def around(self, part, place, lines, dead):
        other = ["default:", *block("", dead), "break;"] if dead else ["default:", 'puts("other");', "break;"]
        return block("switch (6)", ["case 6:", *block("", lines), "break;", *other])


class Goto:
    dead = True

    def around(self, part, place, lines, dead):
        if dead:
            return [f"goto {place};", *block("", dead), f"{place}:", *block("", lines)]
        return [*block("if (0)", [f"goto {place};"]), *block("", lines), f"{place}:", ";"]


class Either:
    """On one of two ways nobody knows which; a bad function has the flaw on one of them, a good one on neither."""

    dead = False

    def around(self, part, place, lines, dead):
        other = part.instead(place) or lines
        return [*block("if (suite_either())", lines), *block("else", other)]


CONTROLS = {
    "straight": Straight(),
    "if_constant": Condition("1", "0"),
    "if_equal": Condition("5 == 5", "5 != 5"),
    "static_constant": Condition("ALWAYS", "NEVER", ["static const int ALWAYS = 1;", "static const int NEVER = 0;"]),
    "static_global": Condition("always", "never", ["static int always = 1;", "static int never = 0;"]),
    "global_constant": Condition("five_here == 5", "five_here != 5", ["const int five_here = 5;"]),
    "static_function": Condition("is_so()", "!is_so()", ["static int is_so(void)\n{\n    return 1;\n}"]),
    "opaque_function": Condition("suite_returns_true()", "suite_returns_false()"),
    "opaque_global": Condition("suite_true", "suite_false"),
    "opaque_constant": Condition("suite_constant_five == 5", "suite_constant_five != 5"),
    "either": Either(),
    "while": While(),
    "for": For(),
    "for_fourth": Third(),
    "do": Do(),
    "switch": Switch(),
    "goto": Goto(),
}
