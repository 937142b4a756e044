// Calls, by what is called: operators, scripts, nested functions, classes, builtins, methods.
#include "elaborate/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "elaborate/array_functions.h"
#include "elaborate/array_math.h"
#include "elaborate/arrays.h"
#include "elaborate/builtins.h"
#include "elaborate/classes.h"
#include "elaborate/closures.h"
#include "elaborate/constructors.h"
#include "elaborate/library.h"
#include "elaborate/methods.h"
#include "elaborate/operator_calls.h"
#include "elaborate/script_calls.h"
#include "elaborate/static_tensors.h"
#include "elaborate/statics.h"
#include "ops/schema_set.h"
#include "ops/substitutes.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

const KeywordArgument* Arguments::find(std::string_view name) const {
    for (const KeywordArgument& keyword : keywords) {
        if (keyword.name == name) {
            return &keyword;
        }
    }
    return nullptr;
}

namespace {

// np.float32(2.0): an array of rank 0.
Object call_element_type(Context& c, const Object& callee, const Arguments& arguments) {
    ElementType type = callee.as_element_type();
    if (callee.type_form() != TypeForm::kNumpyClass) {
        c.report(kNotCallable, arguments.callee_range, fmt::format("`{}` is called", repr(callee)))
            .with_help("cast a tensor with `op.Cast`");
        return Object::error();
    }
    if (c.runs_file && arguments.positional.size() == 1 &&
        arguments.positional[0].is(ObjectKind::kConstant)) {
        if (std::optional<Tensor> cast = cast_array(arguments.positional[0].get<Tensor>(), type)) {
            return Object::make(ObjectKind::kConstant, std::move(*cast));
        }
    }
    if (arguments.positional.size() != 1 || !arguments.positional[0].is_number()) {
        return refuse(c, arguments.range,
                      fmt::format("{} of something that is not one number", name(type)),
                      "cast a tensor with `op.Cast`");
    }
    std::optional<Tensor> tensor =
        static_tensor(c, arguments.positional[0], type, arguments.ranges[0]);
    if (tensor && type == ElementType::kDouble) {
        return Object::real(tensor->elements<double>()[0]);  // np.float64 is a float to Python
    }
    return tensor ? Object::make(ObjectKind::kConstant, std::move(*tensor)) : Object::error();
}

// A call of what functools.partial gave: its arguments come first, and keywords of the call win.
Object call_partial(Context& c, const Object& bound, const Arguments& arguments, size_t wanted) {
    DepthGuard guard(c, arguments.range);
    if (!guard) {
        return Object::error();
    }
    const std::vector<Object>& parts = bound.items();
    Arguments all = arguments;
    const std::vector<Object>& first = parts[1].items();
    all.positional.insert(all.positional.begin(), first.begin(), first.end());
    all.ranges.insert(all.ranges.begin(), first.size(), arguments.callee_range);
    for (const auto& [name, value] : parts[2].get<DictObject>().items) {
        if (arguments.find(name.text()) == nullptr) {
            all.keywords.push_back(
                {name.text(), value, arguments.callee_range, arguments.callee_range});
        }
    }
    return call(c, parts[0], all, wanted);
}

// A function of Python that takes what only the graph knows is read, as those of a file are. Null:
// it cannot be.
const Object* inline_script(Context& c, const Object& callee) {
    auto [place, is_new] = c.inlined.try_emplace(callee.pointer().get());
    if (is_new) {
        std::optional<Object> script = c.function().environment->inline_script(callee);
        place->second = {callee, script ? *script : Object::error()};
    }
    const Object& script = place->second.second;
    return script.is_error() ? nullptr : &script;
}

}  // namespace

Object call(Context& c, const Object& callee, const Arguments& arguments, size_t wanted) {
    if (c.is_raising()) {
        return Object::error();
    }
    switch (callee.kind()) {
        case ObjectKind::kError:
            return Object::error();
        case ObjectKind::kOperator: {
            const OperatorObject& op = callee.get<OperatorObject>();
            return call_operator(c, op.opset, op.name, arguments, wanted);
        }
        case ObjectKind::kScript:
            if (c.runs_file) {
                return refuse(c, arguments.range, "a script is called at the top level of a file");
            }
            return call_script(c, callee.get<ScriptFunction>(), arguments, wanted);
        case ObjectKind::kClosure:
            return call_closure(c, callee.get<Closure>(), arguments);
        case ObjectKind::kBuiltin:
            return call_library(c, callee.get<BuiltinObject>(), arguments);
        case ObjectKind::kMethod:
            if (callee.get<MethodObject>().name == kPartial) {
                return call_partial(c, callee.get<MethodObject>().self, arguments, wanted);
            }
            return call_method(c, callee.get<MethodObject>(), arguments);
        case ObjectKind::kModule:
            if (Namespace* type = as_namespace(callee)) {
                return instantiate(c, *type, arguments);
            }
            c.report(kNotCallable, arguments.callee_range, "a module is called")
                .with_help("call a function of it");
            return Object::error();
        case ObjectKind::kPythonType:
            return call_python_type(c, callee.get<PythonType>(), arguments);
        case ObjectKind::kElementType:
            return call_element_type(c, callee, arguments);
        case ObjectKind::kOpaque: {
            std::vector<std::pair<std::string, Object>> keywords;
            for (const KeywordArgument& keyword : arguments.keywords) {
                keywords.emplace_back(std::string(keyword.name), keyword.value);
            }
            Environment::Answer answer =
                c.function().environment->call(callee, arguments.positional, keywords);
            if (answer.take_back != nullptr) {
                if (c.graph != c.unit->graph) {
                    return refuse(
                        c, arguments.range,
                        fmt::format("a call of `{}`, which changes objects, inside a loop "
                                    "or branch that runs in the graph",
                                    repr(callee)),
                        "call it outside");
                }
                c.undo.push_back({callee, [undo = answer.take_back](const Object&) { undo(); }});
            }
            if (answer.value) {
                return *answer.value;
            }
            const Object* script = inline_script(c, callee);
            // What a method of Python raises on what is known is what it means.
            bool has_raised = script != nullptr && script->is(ObjectKind::kMethod) &&
                              std::all_of(arguments.positional.begin(), arguments.positional.end(),
                                          [](const Object& one) { return one.is_static(); }) &&
                              arguments.keywords.empty();
            if (script != nullptr && !has_raised) {
                return call(c, Object(*script), arguments, wanted);
            }
            std::string_view name = c.source(arguments.callee_range);
            std::string_view like = ops::operator_like(name);
            c.report(kNotCallable, arguments.range,
                     fmt::format("`{}` cannot be called at compile time{}{}", name,
                                 answer.error.empty() ? "" : ": ", answer.error))
                .with_help(like.empty()
                               ? "decorate it with `@script`, or call it outside the script"
                               : fmt::format("scripts call operators: `op.{}(...)`", like));
            return Object::error();
        }
        default:
            c.report(kNotCallable, arguments.callee_range,
                     fmt::format("{} is called", kind_name(callee)))
                .with_help("call an operator, a script or a function");
            return Object::error();
    }
}

}  // namespace sardonyx::elaborate
