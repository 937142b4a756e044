// The parameters of a script, and how the arguments of a call are bound to parameters.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "elaborate/annotations.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A parameter of a script with what its annotation and default say.
struct BoundParameter {
    const syntax::Parameter* parameter;
    std::string_view name;
    Annotation annotation;
    bool has_default = false;
    Object default_value;
    bool is_self = false;  // of a method: `default_value` is the object that it is called of

    bool is_variadic() const { return parameter->kind == syntax::ParameterKind::kVarArgs; }
};

// Whether a default says that a parameter without an annotation is an attribute.
bool is_attribute_default(const Object& object);

// One for each parameter of the definition; read once, so that a default is one object as in
// Python. What is wrong with one is said when the function is built: check_parameters().
const std::vector<BoundParameter>& read_parameters(Context& c, const ScriptFunction& function);
// The same, and says what is wrong with them.
const std::vector<BoundParameter>& check_parameters(Context& c, const ScriptFunction& function);

struct CallArgument {
    const Object* object = nullptr;  // null: not given
    syntax::Range range;
};

struct BoundArguments {
    std::vector<CallArgument> by_parameter;
    std::vector<Object> variadic;  // what *args takes
    DictObject others;             // what **kwargs takes
};

// The arguments of a call by parameter; nothing after a diagnostic.
std::optional<BoundArguments> bind_arguments(Context& c, std::string_view name,
                                             std::span<const syntax::Parameter> parameters,
                                             const syntax::Tree& tree, const Arguments& arguments);

}  // namespace sardonyx::elaborate
