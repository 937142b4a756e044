// Builtins that need no file of their own.
#pragma once

#include <string_view>
#include <vector>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object py_vars(Context& c, const Arguments& a);

// str.upper(text) and the like: the name of the method, the text, and its arguments.
Object str_method(Context& c, const Arguments& a);

// The function with arguments in front of those of its calls, and keywords that these may replace.
Object bind_arguments(const Object& function, std::vector<Object> first, DictObject keywords);

Object py_print(Context& c, const Arguments& a);

Object py_callable(Context& c, const Arguments& a);

Object py_slice(Context& c, const Arguments& a);

Object py_reveal_type(Context& c, const Arguments& a);

// A mistake does not make it another function: it is a script all the same.
Object sdx_script(Context& c, const Arguments& a);

Object sdx_graph(Context& c, const Arguments& a);

// `op` and `inline` of kDeclarations, and its decorators.
inline constexpr int64_t kLibraryOpset = 18;
Object inline_decorator();

Object declared_inline(Context& c, const Arguments& a);

Object declared_alias(Context& c, const Arguments& a);

// `sardonyx.torch.operator`, for the user's own operators.
Object declared_operator(Context& c, const Arguments& a);

Object sdx_opset(Context& c, const Arguments& a);

// The function with arguments that come before those of its calls.
Object functools_partial(Context& c, const Arguments& a);

// The module `operator`: functions that get items and members of what they are called with.
Object operator_getitem(Context& c, const Arguments& a);
Object operator_itemgetter(Context& c, const Arguments& a);
Object operator_attrgetter(Context& c, const Arguments& a);
// The calls of those, with what they get first.
Object items_got(Context& c, const Arguments& a);
Object members_got(Context& c, const Arguments& a);
Object called_unique(Context& c, const Arguments& a);

// functools.wraps(f)(g) is g with the `__name__` of f.
Object functools_wraps(Context& c, const Arguments& a);

Object wrapped_function(Context& c, const Arguments& a);

// As a decorator it is read with its class (class_statements.cpp).
Object dataclass_of_nothing(Context& c, const Arguments& a);

// A field of a dataclass: how it gets its value is kept (classes.cpp).
Object dataclasses_field(Context& c, const Arguments& a);

Object py_cached_property(Context& c, const Arguments& a);

// repr(object), ascii(object), format(object, spec): of what is known.
Object py_repr(Context& c, const Arguments& a);

Object py_ascii(Context& c, const Arguments& a);

Object py_format(Context& c, const Arguments& a);

Object py_hex(Context& c, const Arguments& a);

Object py_oct(Context& c, const Arguments& a);

Object py_bin(Context& c, const Arguments& a);

// The number of a character, and the character of a number.
Object py_ord(Context& c, const Arguments& a);

Object py_chr(Context& c, const Arguments& a);

// What a class makes of its functions (classes.cpp).
Object py_property(Context& c, const Arguments& a);

Object py_classmethod(Context& c, const Arguments& a);

Object py_staticmethod(Context& c, const Arguments& a);

Object enum_auto(Context& c, const Arguments& a);

// As the context of a `with` they are read there (exceptions.cpp).
Object context_of_nothing(Context& c, const Arguments& a);

Object typing_type_var(Context& c, const Arguments& a);

// Calls the function with one more argument in front.
Object call_with(Context& c, const Object& function, const Object& self,
                 const Arguments& arguments);
// Calls a method of an instance.
Object call_method_of(Context& c, const Object& method, const Object& instance,
                      std::vector<Object> arguments, syntax::Range range);

}  // namespace sardonyx::elaborate
