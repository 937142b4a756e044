"""The signatures of operators, as `inspect.signature` gives them."""

import inspect
import keyword

_KINDS = {
    "input": inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "variadic": inspect.Parameter.VAR_POSITIONAL,
    "attribute": inspect.Parameter.KEYWORD_ONLY,
    "named": inspect.Parameter.VAR_KEYWORD,
}


def signature(rows: "list[tuple[str, str, bool, object]]") -> inspect.Signature:
    """A signature of the name, the kind, whether it is required and the default of each parameter.

    What Python cannot write as a parameter is left out: such attributes are given by `**`.
    """
    parameters: dict[str, inspect.Parameter] = {}
    for name, form, is_required, default in rows:
        if name in parameters or not name.isidentifier() or keyword.iskeyword(name):
            continue
        kind = _KINDS[form]
        is_open = kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        given = inspect.Parameter.empty if is_required or is_open else default
        parameters[name] = inspect.Parameter(name, kind, default=given)
    return inspect.Signature(list(parameters.values()))
