// Named tuples: classes that collections.namedtuple and typing.NamedTuple make. An instance is a
// tuple whose class is known (Object::tuple_class), so that all that tuples do holds for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"

namespace sardonyx::elaborate {

// namedtuple("Point", "x y", defaults=[0])
Object collections_namedtuple(Context& c, const Arguments& a);

// NamedTuple("Point", [("x", int), ("y", int)])
Object typing_named_tuple(Context& c, const Arguments& a);

// Gives the class its fields, and the defaults of the last of them; false after a diagnostic.
bool set_fields(Context& c, Namespace& type, std::vector<std::string> fields,
                std::vector<Object> defaults, syntax::Range range);

// Point(1, y=2)
Object make_named_tuple(Context& c, Namespace& type, const Arguments& a);

// A member of an instance or of a class itself, as Python gives it; nothing: what named tuples do
// not have beside plain ones.
std::optional<Object> named_member(Context& c, const Object& tuple, std::string_view name,
                                   syntax::Range range);
std::optional<Object> named_class_member(Context& c, Namespace& type, std::string_view name,
                                         syntax::Range range);

// Whether a class of named tuples cannot give the name another meaning: `_make`, `index`.
bool is_name_of_named_tuples(std::string_view name);

// Whether an instance has a member of this name, which has no underscore in front.
bool has_named_member(const Object& tuple, std::string_view name);

// tuple._replace(x=1), tuple._asdict(), Point._make(values); nothing: another method.
std::optional<Object> named_method(Context& c, const MethodObject& method, const Arguments& a);

}  // namespace sardonyx::elaborate
