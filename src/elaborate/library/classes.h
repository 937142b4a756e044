// What Python does with classes and their instances: calls of them, members bound and assigned.
// What a class is stands in objects/namespaces.h, and what makes one in files/class_statements.h.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"

namespace sardonyx::elaborate {

// What Python gives for the member `name`, which is kept as `found`: methods are bound, properties
// are computed.
Object bound_member(Context& c, Namespace& own, std::string_view name, const Object& found,
                    syntax::Range range);

// What the member that a class keeps as `found` is to its instance `self`; to the class where that
// is the error object.
Object bound_to(Context& c, const Object& self, Namespace& type, const Object& found,
                syntax::Range range);

// `__dict__` of an instance, whose members stay from then on. Nothing: it has none, or slots.
std::optional<Object> shown_members(Context& c, Namespace& own);

// own.name = value; false after a diagnostic.
bool assign_to_member(Context& c, Namespace& own, std::string_view name, const Object& value,
                      syntax::Range range);

// What a property is kept as: its function, or a tuple of it and of the one that assigns.
inline constexpr std::string_view kProperty = "property";

// The function that computes a property.
const Object& getter_of(const MethodObject& property);

// Whether a builtin makes a method something else than one of instances.
bool is_method_decorator(const Object& object);

// The function itself: that it is abstract forbids only what no script does.
Object abc_abstractmethod(Context& c, const Arguments& a);

// dataclasses.asdict(instance), astuple(instance), replace(instance, field=value, ...)
Object dataclasses_asdict(Context& c, const Arguments& a);
Object dataclasses_astuple(Context& c, const Arguments& a);
Object dataclasses_replace(Context& c, const Arguments& a);

// dataclasses.fields(class or instance)
Object dataclasses_fields(Context& c, const Arguments& a);

// types.SimpleNamespace(name=value, ...)
Object types_simple_namespace(Context& c, const Arguments& a);

// A call of a class, or of an instance that has `__call__`.
Object instantiate(Context& c, Namespace& type, const Arguments& arguments);

}  // namespace sardonyx::elaborate
