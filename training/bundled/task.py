"""Step-by-step arithmetic word problems in plain English, with one right text per question.

Five families (inventory, comparison, shop, rate, grid), two to six steps, numbers by size. A step is one sentence
that holds one equation; steps are separated by one blank line; the last line is "The answer is N.".
Everything random comes from the `random.Random` passed in, so a seed names a problem for good.

Held out is decided by the arithmetic alone (family, operations, numbers; never names or objects):
one key in forty. No training problem can therefore share its arithmetic with a held-out one. An eighth of these keys
is the range of the validation problems, on which settings are chosen; `heldout.py` keeps both fixed lists apart.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

HELD_OUT_ONE_IN = 40
VALIDATION_ONE_IN = 8  # of the held-out keys
STEP_BREAK = "\n\n"

NAMES = ["Mia", "Tom", "Zoe", "Hugo", "Ana", "Ben", "Eva", "Leo", "Ida", "Max", "Nora", "Sam", "Lily", "Omar", "Ruth", "Finn"]
THINGS = ["apples", "stamps", "cards", "books", "coins", "shells", "eggs", "pens", "beads", "stones"]
WARES = ["pen", "cup", "book", "ball", "hat", "bag", "toy", "card"]
WORK = [("reads", "pages"), ("bakes", "cakes"), ("plants", "trees"), ("runs", "laps"), ("makes", "toys")]
PLACES = [("hall", "chairs"), ("garden", "trees"), ("shelf", "books"), ("box", "eggs"), ("album", "stamps")]


Level = tuple[int, ...]  # the sizes of problems; one is drawn for each: its numbers are so many times as large
TRAINED: Level = (1,)
HARD: Level = (1, 1, 2, 4)  # for routers: the target fails on half of the doubled numbers and nearly all larger ones
LEVELS = {"trained": TRAINED, "hard": HARD}
LIMIT = 150  # no number in a problem of size 1 is larger
ANYONE = 0.15  # share of comparison problems in which a person may be compared with anyone earlier
MOST_STEPS = 6


@dataclass(frozen=True)
class Step:
    """One sentence of the answer and the equation `left operator right = result` inside it."""

    text: str
    left: int
    operator: str
    right: int
    result: int

    @property
    def equation(self) -> str:
        return f"{self.left} {self.operator} {self.right} = {self.result}"


@dataclass(frozen=True)
class Problem:
    """A question, its only right answer text, and the key that decides which split it is in."""

    family: str
    question: str
    steps: tuple[Step, ...]
    key: str

    @property
    def result(self) -> int:
        return self.steps[-1].result

    @property
    def answer(self) -> str:
        lines = [step.text for step in self.steps]
        return STEP_BREAK.join([*lines, f"The answer is {self.result}."])

    @property
    def _place(self) -> int:
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:8], "big")

    @property
    def held_out(self) -> bool:
        return self._place % HELD_OUT_ONE_IN == 0

    @property
    def for_validation(self) -> bool:
        return self.held_out and self._place // HELD_OUT_ONE_IN % VALIDATION_ONE_IN == 0


class Unfit(Exception):
    """The numbers drawn leave the allowed range; draw again."""


class Work:
    """Collects the sentences of a question, the steps of its answer and the key of both."""

    def __init__(self, family: str, size: int) -> None:
        self.family, self.limit = family, LIMIT * size
        self.sentences: list[str] = []
        self.steps: list[Step] = []
        self.shape: list[str] = []

    def say(self, sentence: str, *shape: object) -> None:
        """Adds a sentence to the question; `shape` is what it contributes to the key."""
        self.sentences.append(sentence)
        self.shape.extend(str(part) for part in shape)

    def step(self, left: int, operator: str, right: int, wording: str) -> int:
        """Adds a step; `{}` in the wording stands for the equation, `{r}` for its result."""
        result = calculate(left, operator, right)
        if not 1 <= result <= self.limit:
            raise Unfit
        text = wording.replace("{}", f"{left} {operator} {right} = {result}").replace("{r}", str(result))
        self.steps.append(Step(text, left, operator, right, result))
        return result

    def done(self) -> Problem:
        if not 2 <= len(self.steps) <= MOST_STEPS:
            raise Unfit
        key = "|".join([self.family, *self.shape, *(step.equation for step in self.steps)])
        return Problem(self.family, " ".join(self.sentences), tuple(self.steps), key)


def calculate(left: int, operator: str, right: int) -> int:
    """The value of one equation's left side; 0 (never allowed) where a division leaves a rest."""
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    return left // right if left % right == 0 else 0


def inventory(rng: Random, size: int = 1) -> Problem:
    """One person's things come and go."""
    work, name, thing = Work("inventory", size), rng.choice(NAMES), rng.choice(THINGS)
    other = rng.choice([n for n in NAMES if n != name])
    have = rng.randint(5, 60 * size)
    work.say(f"{name} has {have} {thing}.", have)
    kinds, weights = ["buys", "finds", "gives", "loses", "bags", "doubles"], [3, 3, 3, 3, 2, 1]
    changes = rng.choices(kinds, weights, k=rng.randint(1, 4))
    for change in changes:
        if change in ("buys", "finds"):
            n = rng.randint(2, 50 * size)
            work.say(f"{name} {change} {n} more {thing}.", "add", n)
            have = work.step(have, "+", n, f"{name} {change} {n} more and has {{}} {thing}.")
        elif change == "gives":
            n = rng.randint(2, max(2, min(50 * size, have - 1)))
            work.say(f"{name} gives {n} {thing} to {other}.", "take", n)
            have = work.step(have, "-", n, f"{name} gives {n} away and has {{}} {thing}.")
        elif change == "loses":
            n = rng.randint(2, max(2, min(50 * size, have - 1)))
            work.say(f"{name} loses {n} {thing}.", "take", n)
            have = work.step(have, "-", n, f"{name} loses {n} and has {{}} {thing}.")
        elif change == "bags":
            bags, each = rng.randint(2, 9), rng.randint(2, 9 * size)
            work.say(f"{name} buys {bags} bags with {each} {thing} in each bag.", "bags", bags, each)
            more = work.step(bags, "*", each, f"The {bags} bags hold {{}} {thing}.")
            have = work.step(have, "+", more, f"With the bags {name} has {{}} {thing}.")
        else:
            work.say(f"Then the number of {thing} doubles.", "double")
            have = work.step(have, "*", 2, f"The number doubles and {name} has {{}} {thing}.")
    friends = [n for n in range(2, 10) if have % n == 0 and 2 <= have // n <= 12 * size]
    if friends and rng.random() < 0.6:
        n = rng.choice(friends)
        work.say(f"{name} shares all {thing} equally among {n} friends. How many {thing} does each friend get?", "share", n)
        work.step(have, "/", n, f"Each of the {n} friends gets {{}} {thing}.")
    else:
        work.say(f"How many {thing} does {name} have now?", "now")
    return work.done()


def comparison(rng: Random, size: int = 1) -> Problem:
    """Several people, each described by comparison with an earlier one, mostly the one before.

    The step restates the comparison, then the other person's number, and ends "so X has N": looking a person
    up later is then the same act everywhere (what follows "X has"), which a small model learns far sooner.
    """
    work, thing = Work("comparison", size), rng.choice(THINGS)
    people = rng.sample(NAMES, rng.randint(3, 4))
    anyone = rng.random() < ANYONE
    first = rng.randint(3, 40 * size)
    counts = {people[0]: first}
    work.say(f"{people[0]} has {first} {thing}.", first)
    for index in range(1, len(people)):
        name = people[index]
        place = rng.randrange(index) if anyone else index - 1
        other = people[place]
        known = counts[other]
        kind = rng.choices(["more", "fewer", "times"], [4, 4, 2])[0]
        if kind == "times":
            n = rng.randint(2, 4)
            if known * n > work.limit or known > 30 * size:
                raise Unfit
            work.say(f"{name} gets {n} times as many {thing} as {other}.", kind, n, place)
            told, operator = f"{name} gets {n} times as many as {other}", "*"
        else:
            most = 30 * size
            n = rng.randint(2, most if kind == "more" else max(2, min(most, known - 1)))
            work.say(f"{name} gets {n} {kind} {thing} than {other}.", kind, n, place)
            told, operator = f"{name} gets {n} {kind} than {other}", "+" if kind == "more" else "-"
        counts[name] = work.step(known, operator, n, f"{told}, who has {known}: {{}}, so {name} has {{r}}.")
    if not anyone and rng.random() < 0.4:
        work.say(f"How many {thing} does {people[-1]} have?", "last")
        return work.done()
    work.say(f"How many {thing} do they all have together?", "all")
    total = counts[people[0]]
    for index, name in enumerate(people[1:]):
        if index == 0:
            wording = f"{people[0]} has {total} and {name} has {counts[name]}: {{}} together."
        else:
            wording = f"With {name}, who has {counts[name]}, it is {{}} together."
        total = work.step(total, "+", counts[name], wording)
    return work.done()


def shop(rng: Random, size: int = 1) -> Problem:
    """Two or three kinds of wares, sometimes with change or a coupon."""
    work, name = Work("shop", size), rng.choice(NAMES)
    wares = rng.sample(WARES, rng.choices([2, 3], [3, 2])[0])
    prices = [rng.randint(2, 9 * size) for _ in wares]
    amounts = [rng.randint(2, 9) for _ in wares]
    work.say(" ".join(f"A {ware} costs {price} dollars." for ware, price in zip(wares, prices, strict=True)), *prices)
    bought = [f"{amount} {ware}s" for amount, ware in zip(amounts, wares, strict=True)]
    work.say(f"{name} buys {', '.join(bought[:-1])} and {bought[-1]}.", *amounts)
    total = 0
    costs = [
        work.step(amount, "*", price, f"The {amount} {ware}s cost {{}} dollars.")
        for amount, ware, price in zip(amounts, wares, prices, strict=True)
    ]
    total = work.step(costs[0], "+", costs[1], f"The {wares[0]}s and {wares[1]}s cost {{}} dollars.")
    for ware, cost in zip(wares[2:], costs[2:], strict=True):
        total = work.step(total, "+", cost, f"With the {ware}s it is {{}} dollars.")
    ending = rng.choice(["pay", "change", "coupon"]) if len(work.steps) < 6 else "pay"
    if ending == "change":
        paid = rng.choice([n for n in range(20, work.limit + 1, 10) if n > total] or [0])
        work.say(f"{name} pays with {paid} dollars. How many dollars does {name} get back?", ending, paid)
        work.step(paid, "-", total, f"{name} gets back {{}} dollars.")
    elif ending == "coupon":
        off = rng.randint(2, 15 * size)
        work.say(f"A coupon takes off {off} dollars. How many dollars does {name} pay?", ending, off)
        work.step(total, "-", off, f"With the coupon {name} pays {{}} dollars.")
    else:
        work.say(f"How many dollars does {name} pay?", ending)
    return work.done()


def rate(rng: Random, size: int = 1) -> Problem:
    """So much every day, for two or three stretches of days."""
    work, name = Work("rate", size), rng.choice(NAMES)
    verb, thing = rng.choice(WORK)
    stretches = [(rng.randint(2, 9 * size), rng.randint(2, 9)) for _ in range(rng.choices([2, 3], [3, 2])[0])]
    done = []
    for index, (each, days) in enumerate(stretches):
        first = index == 0
        work.say(
            f"{name} {verb} {each} {thing} every day for {days} days."
            if first
            else f"Then {name} {verb} {each} {thing} every day for {days} days.",
            each,
            days,
        )
        start = f"In {days} days" if first else f"In the next {days} days"
        done.append(work.step(days, "*", each, f"{start} {name} {verb} {{}} {thing}."))
    total = done[0]
    for more in done[1:]:
        total = work.step(total, "+", more, f"That makes {{}} {thing}.")
    if rng.random() < 0.5 and total < work.limit - 5:
        goal = rng.randint(total + 2, work.limit)
        work.say(f"The goal is {goal} {thing}. How many {thing} are left?", "left", goal)
        work.step(goal, "-", total, f"Of the goal {{}} {thing} are left.")
    else:
        work.say(f"How many {thing} is that in all?", "all")
    return work.done()


def grid(rng: Random, size: int = 1) -> Problem:
    """Rows of equal length, then things are taken, added or shared out."""
    work = Work("grid", size)
    place, thing = rng.choice(PLACES)
    rows, each = rng.randint(2, 9), rng.randint(2, 9 * size)
    work.say(f"A {place} has {rows} rows with {each} {thing} in each row.", rows, each)
    total = work.step(rows, "*", each, f"The {rows} rows have {{}} {thing}.")
    for change in rng.choices(["rows", "take", "add"], k=rng.randint(1, 2)):
        if change == "rows":
            rows, each = rng.randint(2, 9), rng.randint(2, 9 * size)
            work.say(f"Then {rows} rows with {each} {thing} in each row are added.", change, rows, each)
            more = work.step(rows, "*", each, f"The {rows} new rows have {{}} {thing}.")
            total = work.step(total, "+", more, f"With the new rows there are {{}} {thing}.")
        elif change == "take":
            n = rng.randint(2, max(2, min(40 * size, total - 1)))
            work.say(f"Then {n} {thing} are taken away.", change, n)
            total = work.step(total, "-", n, f"With {n} taken away there are {{}} {thing}.")
        else:
            n = rng.randint(2, 40 * size)
            work.say(f"Then {n} {thing} are added.", change, n)
            total = work.step(total, "+", n, f"With {n} added there are {{}} {thing}.")
    boxes = [n for n in range(2, 10) if total % n == 0 and 2 <= total // n <= 12 * size]
    if boxes and rng.random() < 0.6:
        n = rng.choice(boxes)
        work.say(f"All {thing} are put in {n} equal groups. How many {thing} are in each group?", "share", n)
        work.step(total, "/", n, f"Each of the {n} groups has {{}} {thing}.")
    else:
        work.say(f"How many {thing} are there now?", "now")
    return work.done()


FAMILIES: dict[str, tuple[Callable[[Random, int], Problem], float]] = {
    "inventory": (inventory, 3),
    "comparison": (comparison, 2.5),
    "shop": (shop, 1.5),
    "rate": (rate, 1),
    "grid": (grid, 1),
}


def draw(rng: Random, level: Level = TRAINED) -> Problem:
    """One problem of either split."""
    make = rng.choices([f for f, _ in FAMILIES.values()], [w for _, w in FAMILIES.values()])[0]
    while True:
        size = rng.choice(level) if len(level) > 1 else level[0]
        try:
            return make(rng, size)
        except Unfit:
            continue


def problems(seed: int, *, held_out: bool, level: Level = TRAINED) -> Iterator[Problem]:
    """The endless, reproducible stream of one split."""
    rng = Random(seed)
    while True:
        problem = draw(rng, level)
        if problem.held_out == held_out:
            yield problem
