"""Run an official chat template beside a spec on generated conversations, and shrink the first difference.

usage: side_by_side.py MODEL|SPEC.kata[#MODEL] [--template PLACE] [--examples N] [--seed N] [--param NAME=VALUE]... …
       side_by_side.py --list [--archives DIR]
       side_by_side.py --repairs
       side_by_side.py --vectors DIR [MODEL]

    python tools/side_by_side.py qwen3
    python tools/side_by_side.py spec/models/gemma4.kata --template trl:chat_templates/gemma4.jinja
    python tools/side_by_side.py deepseek-v4 --archives build/templates --differences 5 --skip-kinds none,repr,dropped

The spec is compiled as it stands in its .kata file; no `katapi build` is needed. Its official template is the one that
tools/official_templates/templates.toml names, out of an installed package (requirements.txt beside that file) or out
of an archive of that package in the folder of --archives.

A request on which both sides print the same text, or both refuse, is no difference. All others are, each of one kind:

    error     the official template fails where the spec prints
    none      the official template prints Python's None
    repr      the official template prints another value of Python as such: True, {'a': 1}
    dropped   the official template leaves out a content, or the name of a call or tool
    refused   the spec refuses what the official template prints
    text      both print, and not the same

A difference says so where it comes down to how the request is written: `(as with an empty content)` where the official
template, given "" for every content that is null or absent, prints what the spec prints. --repairs lists these repairs.
Where the spec refuses, `(as with only what is printed)` tells that it prints the same once the request is without all
that the official template leaves out.

--skip-kinds passes over whole kinds, --allow over differences whose signature, as printed, fits a pattern, perhaps only
where a value of the request fits too: --allow 'refused R113 messages[].content',
--allow 'text when messages[].tool_calls[].function.name ~ ["\\]'. What is known already stands in
tools/official_templates/known.toml, by model, and is passed over too: differences that come down to some repairs, and
those that fit rules.

At the end stand the branches of the official template that no request with the same text went through: what they print
was not compared.
Exit status: 0 where nothing differs but what was passed over, 1 where something does, 2 for a wrong call.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from katapi.language.diagnostics import SpecError  # noqa: E402
from katapi.runtime.errors import KatapiError  # noqa: E402
from katapi.runtime.json_types import Json  # noqa: E402
from tools.official_templates.branches import Branches  # noqa: E402
from tools.official_templates.comparison import Difference, Kind, Rule, Side, difference, mended_by  # noqa: E402
from tools.official_templates.conversations import Conversations  # noqa: E402
from tools.official_templates.draws import Members  # noqa: E402
from tools.official_templates.environment import OfficialTemplate, Outcome  # noqa: E402
from tools.official_templates.places import Found, NotFound, at_place, every, facts, official  # noqa: E402
from tools.official_templates.repairs import REPAIRS, Repair, Request, Separators  # noqa: E402
from tools.official_templates.report import shown  # noqa: E402
from tools.official_templates.shrink import smallest  # noqa: E402
from tools.official_templates.spec_side import SpecSide, separators_of, spec_of  # noqa: E402
from tools.official_templates.words import unknown_to, words_of  # noqa: E402

KNOWN = ROOT / "tools" / "official_templates" / "known.toml"
CLOCK = "now"
"""The parameter that a spec has in place of a clock."""


@dataclass(slots=True)
class Run:
    """What has been compared so far, and what is not to be told."""

    official: Side
    katapi: Side
    branches: Branches
    skipped: frozenset[Kind]
    rules: Sequence[Rule]
    known: Sequence[Repair]
    """Repairs to which a difference may come down and is not told."""
    separators: Separators
    results: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    told: set[str] = field(default_factory=set)

    def judge(self, request: Request) -> tuple[str, Difference | None]:
        """What came of a request in a few words, and the difference that is to be told."""
        theirs, ours = self.official(request).text, self.katapi(request).text
        if theirs == ours:
            if ours is None:
                return "both refuse", None
            self.branches.count()
            return "same text", None
        if ours is not None:
            mended = mended_by(request, ours, self.official, self.katapi, self.known, self.separators)
            if mended:
                return f"as with {', '.join(mended)}", None
            plain = difference(request, self.official, self.katapi)
            if plain is not None and self.allowed(plain):  # before all the repairs, which take long
                return plain.signature, None
        repairs = self.known if ours is None else [*REPAIRS.values()]
        found = difference(request, self.official, self.katapi, repairs, self.separators)
        assert found is not None, "the two sides have just parted"
        if found.signature in self.told:
            return "told already", None
        if self.allowed(found):
            return found.signature, None
        return "different", found

    def allowed(self, found: Difference) -> bool:
        """Whether a difference is to be passed over: by its kind or by a rule."""
        return found.kind in self.skipped or any(rule.allows(found) for rule in self.rules)


def first_difference(run: Run, requests: Conversations, seed: int, examples: range) -> Difference | None:
    """The first request among those of some numbers that shows a difference, made as small as it gets."""
    for number in examples:
        request = requests.request(f"{seed}/{number}")
        result, found = run.judge(request)
        run.results["requests"] += 1
        (run.results if result in _FINE else run.passed)[result] += 1
        if found is not None:
            return smallest_like(found, run, request)
    return None


def smallest_like(found: Difference, run: Run, request: Members) -> Difference:
    """The same difference on the smallest request that shows it."""

    def same(candidate: Members) -> bool:
        if "add_generation_prompt" not in candidate:  # which the two sides take for true and for false
            return False
        other = run.judge(candidate)[1]
        return other is not None and other.signature == found.signature

    return run.judge(smallest(request, same))[1] or found


_FINE = ("same text", "both refuse", "different")


def clock(now: Json) -> datetime | None:
    """The time of a request, or None where it is no time."""
    try:
        return datetime.fromisoformat(now) if isinstance(now, str) else None
    except ValueError:
        return None


def compare(arguments: argparse.Namespace) -> int:
    """One spec beside its template."""
    file, _, name = arguments.model.partition("#")
    in_file = file.endswith(".kata")
    spec = SpecSide(Path(file), name or None) if in_file else SpecSide(spec_of(file, ROOT / "spec" / "models"), file)
    model = spec.program.name
    found = template(model, arguments)
    fact = facts().get(model)
    jinja = OfficialTemplate(
        found.text,
        bos=arguments.bos or (fact.bos if fact else None),
        eos=arguments.eos or (fact.eos if fact else None),
        without_null=arguments.without_null,
    )
    fixed = dict(arguments.param)
    params = {p.name for p in spec.program.request.params}
    only_official = {name: value for name, value in fixed.items() if name not in params}
    clocked = CLOCK in params

    def theirs(request: Request) -> Outcome:
        now = request.get(CLOCK)
        rest = {k: v for k, v in request.items() if k != CLOCK} if clocked else request
        return jinja.render({**rest, **only_official}, clock(now))

    known = {} if arguments.all else tomllib.loads(KNOWN.read_text(encoding="utf-8")).get(model, {})
    rules = [*arguments.allow, *map(Rule.parse, known.get("rules", []))]
    repairs = [REPAIRS[name] for name in known.get("repairs", [])]
    separators = separators_of(spec.program.request)
    run = Run(theirs, spec.render, jinja.branches, frozenset(arguments.skip_kinds), rules, repairs, separators)
    ours = {name: value for name, value in fixed.items() if name in params}
    words = words_of(jinja.tree)
    requests = Conversations(spec.program, words, ours, also=arguments.also)
    print(f"{model}: {spec.program.source.name} beside {found.place}, sha256 {found.sha256}")
    for kind, names in unknown_to(spec.program.request, words).items():
        print(f"  {kind} that the official template looks for and the request rules have not: {', '.join(names)}")
    while len(run.told) < arguments.differences:
        begun = range(run.results["requests"], arguments.examples)
        one = first_difference(run, requests, arguments.seed, begun)
        if one is None:
            break
        run.told.add(one.signature)
        print(f"\n{shown(one)}")
    summary(run, jinja)
    return 1 if run.told else 0


def summary(run: Run, jinja: OfficialTemplate) -> None:
    """How many requests came out how, and what was not compared."""
    results = run.results
    print(f"\n{results['requests']} requests: ", end="")
    print(f"{results['same text']} print the same text, {results['both refuse']} are refused by both")
    for signature, count in run.passed.most_common():
        print(f"  {count} passed over: {signature}")
    left, every_branch = jinja.branches.left, len(jinja.branches.all)
    print(f"{every_branch - len(left)} of {every_branch} branches of the official template print the same")
    for branch in left:
        print(f"  not compared: {branch}")


def template(model: str, arguments: argparse.Namespace) -> Found:
    """The template that was asked for, or the model's own."""
    if arguments.template is not None:
        return at_place(arguments.template)
    fact = facts().get(model)
    if fact is None:
        raise NotFound(f"no template of {model} is known; name one with --template, see --list")
    return official(fact, arguments.archives)


def list_templates(archives: Path | None) -> int:
    """Every template at hand, with the models that it belongs to."""
    models: dict[str, list[str]] = {}
    for model, fact in facts().items():
        models.setdefault(fact.sha256, []).append(model)
    for found in every(archives):
        print(f"{found.sha256[:12]}  {found.place}  {' '.join(models.get(found.sha256, []))}".rstrip())
    return 0


def check_vectors(folder: Path, arguments: argparse.Namespace) -> int:
    """Whether templates print here what the vectors say that they printed; exit status 1 where one does not."""
    wrong = 0
    for model, fact in facts().items():
        file = folder / f"{model}.jsonl.gz"
        if arguments.model not in (None, model) or not file.is_file():
            continue
        try:
            jinja = OfficialTemplate(official(fact, arguments.archives).text, bos=fact.bos, eos=fact.eos)
        except NotFound as error:
            print(f"{model}: {error}")
            wrong += 1
            continue
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            now = datetime.fromisoformat(json.loads(next(lines))["now"])
            cases = [json.loads(line) for line in lines]
        bad = [case["id"] for case in cases if not _as_recorded(jinja, case, now)]
        left, of = len(jinja.branches.left), len(jinja.branches.all)
        print(f"{model}: {len(cases) - len(bad)} of {len(cases)} as recorded; {of - left} of {of} branches", *bad[:3])
        wrong += bool(bad)
    return 1 if wrong else 0


def _as_recorded(jinja: OfficialTemplate, case: dict[str, Json], now: datetime) -> bool:
    params = case["params"]
    assert isinstance(params, dict), "a case says what its template was called with"
    given = {key: case.get(key) for key in ("tools", "documents")}
    outcome = jinja.render({"messages": case["messages"], **given, **params}, now)
    jinja.branches.count()
    return outcome.text == case.get("text") and outcome.error == case.get("error", "")


def _param(text: str) -> tuple[str, Json]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError
    try:
        parsed: Json = json.loads(value)
    except ValueError:
        parsed = value
    return name, parsed


def _kinds(text: str) -> list[Kind]:
    return [Kind(word) for word in text.split(",") if word]


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", help="a model of spec/models/, or the path of a .kata file")
    parser.add_argument("--template", metavar="PLACE", help="PACKAGE:PATH, a file, or ARCHIVE!FILE")
    parser.add_argument("--archives", type=Path, metavar="DIR", help="where archives of packages lie")
    parser.add_argument("--examples", type=int, default=1000, metavar="N", help="how many requests (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="other requests (default: 0)")
    parser.add_argument("--param", type=_param, action="append", default=[], metavar="NAME=VALUE", help="always this")
    parser.add_argument("--differences", type=int, default=1, metavar="N", help="tell so many of them (default: 1)")
    parser.add_argument("--skip-kinds", type=_kinds, default=[], metavar="KIND,…", help="kinds to pass over")
    parser.add_argument("--allow", type=Rule.parse, action="append", default=[], metavar="RULE", help="to pass over")
    parser.add_argument("--all", action="store_true", help="tell what known.toml passes over, too")
    parser.add_argument("--also", action="store_true", help="use the other spellings of fields, too")
    parser.add_argument("--without-null", action="store_true", help="the official template sees no null in messages")
    parser.add_argument("--bos", help="the token that the template is given as bos_token")
    parser.add_argument("--eos", help="the token that the template is given as eos_token")
    parser.add_argument("--list", action="store_true", help="show the templates at hand")
    parser.add_argument("--vectors", type=Path, metavar="DIR", help="check the templates with DIR/<model>.jsonl.gz")
    parser.add_argument("--repairs", action="store_true", help="show what `as with` can say")
    arguments = parser.parse_args()
    if arguments.list:
        return list_templates(arguments.archives)
    if arguments.repairs:
        print(*REPAIRS, sep="\n")
        return 0
    try:
        if arguments.vectors is not None:
            return check_vectors(arguments.vectors, arguments)
        if arguments.model is None:
            parser.error("name a model")
        return compare(arguments)
    except (NotFound, SpecError, KatapiError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
