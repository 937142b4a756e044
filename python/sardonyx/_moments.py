"""Functions whose result depends on where, when or how often they are called: the names of the
caller's frame, the clock, random numbers. The compiler calls functions once, at another moment than
Python would, so that it refuses these."""

import builtins
import functools
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FRAME = "it reads the frame that calls it, which a compiled script does not have"
_CLOCK = "it reads the clock, and the model would keep the time at which it was compiled"
_RANDOM = "it draws another value in each call, and the model would keep the one of its compilation"
_INPUT = "it asks somebody, and the model would keep the answer"

# By module; "" is every function of it.
_TABLE: "dict[str, dict[str, str]]" = {
    "builtins": {
        **dict.fromkeys(("locals", "globals", "eval", "exec", "vars", "dir", "super"), _FRAME),
        **dict.fromkeys(("input", "breakpoint"), _INPUT),
    },
    "sys": dict.fromkeys(
        ("_getframe", "_getframemodulename", "exc_info", "exception", "_current_frames"), _FRAME
    ),
    "inspect": dict.fromkeys(("currentframe", "stack", "trace"), _FRAME),
    "traceback": {"": _FRAME},
    "time": dict.fromkeys(
        (
            "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
            "process_time", "process_time_ns", "thread_time", "localtime", "gmtime", "ctime",
            "strftime", "asctime",
        ),
        _CLOCK,
    ),
    "datetime": dict.fromkeys(("now", "utcnow", "today"), _CLOCK),
    "random": {"": _RANDOM},
    "secrets": {"": _RANDOM},
    "uuid": dict.fromkeys(("uuid1", "uuid4", "uuid6", "uuid7"), _RANDOM),
    "os": dict.fromkeys(("urandom", "getrandom"), _RANDOM),
    "posix": dict.fromkeys(("urandom", "getrandom"), _RANDOM),
    "nt": {"urandom": _RANDOM},
    "numpy.random": {"": _RANDOM},
    "torch": dict.fromkeys(
        ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial"), _RANDOM
    ),
}  # fmt: skip
# Functions that make a generator; with a seed, it is the same one each time.
_WITH_SEED = frozenset(
    ("default_rng", "RandomState", "Random", "Generator", "PCG64", "SeedSequence")
)
# Depend on the caller only if they are called without arguments.
_OF_CALLER = frozenset(("vars", "dir", "super"))


def _reason_in(module: str, name: str) -> "str | None":
    if name in _WITH_SEED or name == "seed":
        return None
    names = _TABLE.get(module, {})
    return names.get(name) or (names.get("") if not name.startswith("__") else None)


def of_call(function: "Any", has_arguments: bool) -> "str | None":
    """Why the compiler may not call it; None: it may."""
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return None
    owner = getattr(function, "__self__", None)
    if isinstance(owner, types.ModuleType):
        module = owner.__name__
    elif isinstance(owner, type):
        module = owner.__module__
    elif owner is not None:
        # A method of a generator, whose state changes with each call.
        module = getattr(function, "__module__", None) or ""
        is_of_module = module in ("random", "numpy.random")  # random.random, np.random.rand
        if not _is_generator(owner) and not is_of_module:
            return None
        return None if name == "seed" else _RANDOM
    else:
        module = getattr(function, "__module__", None) or ""
    if has_arguments and name in _OF_CALLER and module == "builtins":
        return None
    if not has_arguments and name in _WITH_SEED and module.split(".")[0] in ("random", "numpy"):
        return _RANDOM
    for home in (
        module,
        module.removeprefix("_"),
        "numpy.random" if "numpy.random" in module else "",
    ):
        if home and (reason := _reason_in(home, name)):
            return reason
    return None


def names_of(code: types.CodeType) -> "set[str]":
    """The globals, attributes and free names of a function's code."""
    names = {*code.co_names, *code.co_freevars}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= names_of(constant)
    return names


@functools.lru_cache(maxsize=256)
def _paths(code: types.CodeType) -> "tuple[tuple[str, ...], ...]":
    """The names that are read from outside, each with the members that are read from it."""
    import dis

    found: list[list[str]] = []
    is_open = False
    for one in dis.get_instructions(code):
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
            found.append([str(one.argval)])
            is_open = True
        elif one.opname in ("LOAD_ATTR", "LOAD_METHOD") and is_open:
            found[-1].append(str(one.argval))
        elif one.opname not in ("PUSH_NULL", "CACHE", "PRECALL"):
            is_open = False
    paths = {tuple(path) for path in found}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            paths |= set(_paths(constant))
    return tuple(sorted(paths))


def of_function(function: "Any", folder: str) -> "str | None":
    """Why the compiler may not run the function, or one of the folder that it calls by its name."""
    waiting, seen = [function], set()
    while waiting:
        one = waiting.pop()
        one = getattr(one, "__func__", one)
        is_own = isinstance(one, types.FunctionType) and one.__code__.co_filename.startswith(folder)
        if not is_own or id(one) in seen:
            continue
        seen.add(id(one))
        paths = _paths(one.__code__)
        if any(path[-1] == "seed" for path in paths):
            continue
        for path in paths:
            found = _value_of(one, path)
            is_of_caller = path[-1] in _OF_CALLER  # with arguments or not, this does not tell
            reason = None if is_of_caller else of_call(found, has_arguments=True)
            if reason is not None:
                return f"`{'.'.join(path)}` in `{one.__name__}`: {reason}"
            waiting.append(found)
    return None


def _value_of(function: types.FunctionType, path: "tuple[str, ...]") -> "Any":
    """The object of a path, as far as it goes through modules, classes and generators."""
    code = function.__code__
    if path[0] in code.co_freevars:
        try:
            place = code.co_freevars.index(path[0])
            found = (function.__closure__ or ())[place].cell_contents
        except ValueError:
            return None
    else:
        found = function.__globals__.get(path[0], getattr(builtins, path[0], None))
    for name in path[1:]:
        if not isinstance(found, (types.ModuleType, type)) and not _is_generator(found):
            return None
        found = getattr(found, name, None)
    return found


def _is_generator(found: "Any") -> bool:
    kind = type(found)
    return kind.__module__.partition(".")[0] in ("random", "numpy", "torch") and kind.__name__ in (
        "Generator",
        "RandomState",
        "Random",
        "SystemRandom",
    )
