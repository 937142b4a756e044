"""Random expressions of a tensor of each element type and a number: literals, numbers of NumPy, and
what is computed from the tensor's size, with static and with named sizes.

Called as Python, compiled from Python and built from the command line they give the same values of
the same type, or the compilers refuse them. SDX_PROMOTIONS is how many are drawn (SDX_FULL: 20,000)
from the seed that sampling.py names.
"""

from __future__ import annotations

import pathlib
import random
import runpy

import numpy as np
import onnx
import pytest

from language import TYPE_NAMES, shared_evaluator
from language.drawing import built, draw, models_by_surface, outcomes
from sampling import SEEDS, count

pytestmark = pytest.mark.filterwarnings("ignore")

COUNT = count("SDX_PROMOTIONS", 400, 20000)
SHARDS = 2

TYPES = [np.dtype(name) for name in TYPE_NAMES if name != "bfloat16"]
HEAD = (
    "import numpy as np\n"
    f"from sardonyx import script, {', '.join(sorted(TYPE_NAMES.values()))}, opset21 as op\n"
)
NUMBERS = [
    *("1", "-1", "2", "300", "70000", "2**40", "0.5", "2.0", "1e6", "True", "3 // 2", "-7 % 4"),
    *("np.float32(1.5)", "np.int64(2)", "len(x)", "(len(x) - 2)", "x.shape[0] / 2", "-len(x)"),
    *("float(len(x))", "(len(x) > 2)", "(1 if len(x) > 1 else 2)", "(not len(x))", "0", "x.size"),
    *("(len(x) if len(x) > 1 else 0.5)", "(0.5 if len(x) > 1 else len(x))", "max(len(x), 0.5)"),
    *("(len(x) / 2 if len(x) > 1 else 1)", "len(x) % -2", "(len(x) == 3) + 1", "-len(x) // 2"),
]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"]
COMPARISONS = ["<", "<=", "==", "!=", ">", ">="]
CALLS = [
    *("max(x[0], {n})", "min({n}, x[1])", "abs(x) + {n}", "x[0] * {n}", "sum(x) + {n}"),
    *("op.Where(x > {n}, x, {n})", "op.Add(x, {n})", "op.Max(x, {n})", "x.sum() * {n}"),
    *("(x if len(x) > {n} else x + {n})", "op.Clip(x, {n}, 3)", "op.Pow(x, {n})", "-x + {n}"),
    *("[x[0], {n}][1]", "op.Concat(x, [{n}], axis=0)", "op.Cast({n}, to=1)", "round({n}) + x"),
    *("divmod(x, {n})[0]", "int({n}) * x", "op.Equal(x, {n})", "op.Mod(x, {n})"),
    *("x.astype(FLOAT) + {n}", "sum([x, x], {n})", "x[:{n}]", "x[{n}]", "({n} in x)"),
]


def expression(draw: random.Random) -> str:
    number = draw.choice(NUMBERS)
    kind = draw.randrange(8)
    if kind < 3:
        return f"x {draw.choice(OPERATORS)} {number}"
    if kind < 5:
        return f"{number} {draw.choice(OPERATORS)} x"
    if kind < 6:
        return f"x {draw.choice(COMPARISONS)} {number}"
    return draw.choice(CALLS).format(n=number)


def outcome(seed: int, folder: pathlib.Path) -> str:
    draw = random.Random(seed)
    dtype = draw.choice(TYPES)
    size = draw.choice(["3", '"N"'])
    shown = f"    return {expression(draw)}\n"
    text = f"{HEAD}@script(default_opset=op)\ndef f(x: {TYPE_NAMES[dtype.name]}[{size}]):\n{shown}"
    path = folder / f"p{seed}.py"
    path.write_text(text)
    shown = text[len(HEAD) :]
    function = runpy.run_path(str(path))["f"]
    inputs = {
        "x": np.array([1, 2 if dtype.kind == "u" else -2, 0 if dtype.kind == "b" else 3], dtype)
    }
    raised = None
    try:
        expected = np.asarray(function(**inputs))
    except Exception as error:
        raised = error
    models = models_by_surface(built(text), function, shown)
    if not models:
        return "raises" if raised else "refused"
    # Of a number of the run, only the run knows whether the type holds it, and its sign.
    is_of_run = (
        raised
        and size == '"N"'
        and any(
            words in str(raised) for words in ("cannot hold", "negative power", "negative number")
        )
    )
    for surface, model in models.items():
        try:
            got = np.asarray(shared_evaluator().run(onnx.load_from_string(model), inputs)[0])
        except Exception as error:
            assert raised, f"{surface}: {error}\n{shown}"
            continue
        assert not raised or is_of_run, f"only Python refuses: {raised!r}\n{shown}"
        assert is_of_run or (
            got.dtype == expected.dtype and np.array_equal(got, expected, equal_nan=True)
        ), f"{surface}: {got} of {got.dtype}, not {expected} of {expected.dtype}\n{shown}"
    return "raises in the run" if raised else "equal"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_promotions(shard: int, tmp_path: pathlib.Path) -> None:
    found = outcomes(outcome, SEEDS, range(shard, COUNT, SHARDS), tmp_path)
    assert found.count("equal") > len(found) // 4, found


if __name__ == "__main__":
    draw(outcome, lambda _, error: str(error)[:2000])
