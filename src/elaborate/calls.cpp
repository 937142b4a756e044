// Calls, by what is called: operators, scripts, nested functions, classes, builtins, methods.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/closures.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/static_tensors.h"
#include "elaborate/emit/trial.h"
#include "elaborate/library/builtins.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/constructors.h"
#include "elaborate/library/library.h"
#include "elaborate/library/methods.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/changes.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/scopes/hidden_name.h"
#include "elaborate/script_calls.h"
#include "ops/schema_set.h"
#include "ops/substitutes.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

// Functions of Python that have been read to run in place; error: they cannot be.
struct InlinedFunctions {
    std::map<std::shared_ptr<void>, Object> scripts;  // by the opaque objects, which are held
};

namespace {

// np.float32(2.0): a scalar of NumPy.
Object call_element_type(Context& c, const Object& callee, const Arguments& arguments) {
    ElementType type = callee.as_element_type();
    if (callee.type_form() != TypeForm::kNumpyClass) {
        c.report(kNotCallable, arguments.callee_range, fmt::format("`{}` is called", repr(callee)))
            .with_help("cast a tensor with `op.Cast`");
        return Object::error();
    }
    if (arguments.positional.size() == 1 && arguments.positional[0].is(ObjectKind::kConstant)) {
        if (std::optional<Tensor> cast = cast_array(arguments.positional[0].get<Tensor>(), type)) {
            return as_numpys_number(Object::make(ObjectKind::kConstant, std::move(*cast)));
        }
    }
    if (arguments.positional.size() != 1 || !arguments.positional[0].is_number()) {
        return refuse(c, arguments.range,
                      fmt::format("{} of something that is not one number", name(type)),
                      "cast a tensor with `op.Cast`");
    }
    std::optional<Tensor> tensor =
        static_tensor(c, arguments.positional[0], type, arguments.ranges[0]);
    return tensor ? as_numpys_number(Object::make(ObjectKind::kConstant, std::move(*tensor)))
                  : Object::error();
}

// Its arguments come first, and keywords of the call win.
Object call_partial(Context& c, const PartialObject& bound, const Arguments& arguments,
                    size_t wanted) {
    DepthGuard guard(c, arguments.range);
    if (!guard) {
        return Object::error();
    }
    Arguments all = arguments;
    all.positional.insert(all.positional.begin(), bound.first.begin(), bound.first.end());
    all.ranges.insert(all.ranges.begin(), bound.first.size(), arguments.callee_range);
    all.keywords.clear();
    for (const auto& [name, value] : bound.keywords.items) {
        const KeywordArgument* given = arguments.find(name.text());
        all.keywords.push_back(given != nullptr
                                   ? *given
                                   : KeywordArgument{name.text(), value, arguments.callee_range,
                                                     arguments.callee_range});
    }
    for (const KeywordArgument& one : arguments.keywords) {
        if (bound.keywords.find(Object::string(std::string(one.name))) == nullptr) {
            all.keywords.push_back(one);
        }
    }
    return call(c, bound.function, all, wanted);
}

// A call that stays without effect where it fails; nothing: it does.
std::optional<Object> attempted(Context& c, const Object& callee, const Arguments& arguments) {
    diagnostics::Checkpoint before(c.program.diagnostics);
    Trial trial(c);
    Object made = call(c, callee, arguments);
    if (!made.is_error() && !before.has_errors()) {
        trial.keep();
        return made;
    }
    trial.take_back();
    return std::nullopt;
}

// An instance of a class of the program, which the compiler makes where it can: those that Python
// makes cannot hold tensors. Nothing: it cannot.
std::optional<Object> own_instance(Context& c, const Object& callee, const Arguments& arguments) {
    std::optional<Object> type = c.function().environment->own_class(callee);
    return type ? attempted(c, *type, arguments) : std::nullopt;
}

// What setattr() or dataclasses.replace() is of an instance that the compiler has made; of others
// it is Python's. Nothing: it is something else.
std::optional<Object> function_of_instances(Context& c, const Object& callee,
                                            const Arguments& arguments) {
    Namespace* own = arguments.positional.empty() ? nullptr : as_namespace(arguments.positional[0]);
    return own != nullptr && own->is_of_script ? c.function().environment->library_function(callee)
                                               : std::nullopt;
}

// A function of Python that takes what only the graph knows is read, as those of a file are. Null:
// it cannot be.
const Object* inline_script(Context& c, const Object& callee) {
    auto [place, is_new] = c.inlined->scripts.try_emplace(callee.pointer());
    if (is_new) {
        std::optional<Object> script = c.function().environment->inline_script(callee);
        place->second = script ? *script : Object::error();
    }
    return place->second.is_error() ? nullptr : &place->second;
}

// Whether Python has given an instance of a class of the program, or a list or dict of such.
bool gives_own_instances(Context& c, const Object& given) {
    Environment& environment = *c.function().environment;
    if (given.is(ObjectKind::kOpaque)) {
        std::optional<Object> type = environment.attribute(given, "__class__").value;
        return type && environment.own_class(*type);
    }
    bool is_any = false;
    if (given.is_sequence() || given.is(ObjectKind::kDict)) {
        each_part(given, [&](const Object& part) {
            is_any = is_any || (part.is(ObjectKind::kOpaque) && gives_own_instances(c, part));
        });
    }
    return is_any;
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
            return call_method(c, callee.get<MethodObject>(), arguments);
        case ObjectKind::kPartial:
            return call_partial(c, callee.get<PartialObject>(), arguments, wanted);
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
            if (std::optional<Object> made = own_instance(c, callee, arguments)) {
                return *made;
            }
            if (std::optional<Object> known = function_of_instances(c, callee, arguments)) {
                return call(c, *known, arguments, wanted);
            }
            // One of the program is run here, where what it does in turn with its user is seen.
            bool is_generator = c.function().environment->is_generator(callee);
            Environment::Answer answer = is_generator ? Environment::Answer{}
                                                      : c.function().environment->call(
                                                            callee, arguments.positional, keywords);
            if (answer.take_back != nullptr) {
                if (c.graph != c.unit->graph) {
                    return refuse(
                        c, arguments.range,
                        fmt::format("a call of `{}`, which changes objects, inside a loop "
                                    "or branch that runs in the graph",
                                    repr(callee)),
                        "call it outside");
                }
                log_change(c, callee, [undo = answer.take_back](const Object&) { undo(); });
            }
            if (answer.value && !answer.is_held && answer.take_back == nullptr &&
                gives_own_instances(c, *answer.value)) {
                // Those that the compiler makes, the script can change.
                const Object* function = inline_script(c, callee);
                std::optional<Object> made =
                    function != nullptr ? attempted(c, Object(*function), arguments) : std::nullopt;
                if (made) {
                    return *made;
                }
            }
            if (answer.value && answer.is_held) {
                note_foreign(c, *answer.value);
            }
            if (answer.value) {
                return *answer.value;
            }
            const Object* script = inline_script(c, callee);
            // What a method of Python raises on what is known is what it means.
            bool has_raised = !is_generator && script != nullptr &&
                              script->is(ObjectKind::kPartial) &&
                              std::all_of(arguments.positional.begin(), arguments.positional.end(),
                                          [](const Object& one) { return one.is_static(); }) &&
                              arguments.keywords.empty();
            if (script != nullptr && !has_raised) {
                return call(c, Object(*script), arguments, wanted);
            }
            if (std::optional<Object> type = c.function().environment->own_class(callee)) {
                return call(c, *type, arguments, wanted);
            }
            std::string_view name = c.source(arguments.callee_range);
            // A function of a module; one that the program defines may have such a name by chance.
            uint32_t begin = arguments.callee_range.begin;
            bool is_member = begin > 0 && c.source({begin - 1, begin}) == ".";
            std::string help = is_member ? ops::help_for_function(name) : std::string();
            c.report(kNotCallable, arguments.range,
                     fmt::format("`{}` cannot be called at compile time{}{}", name,
                                 answer.error.empty() ? "" : ": ", answer.error))
                .with_help(!help.empty() ? help
                           : is_member
                               ? "call it outside the script, or write what it does with operators"
                               : "decorate it with `@script`, or call it outside the script");
            bool is_no_member =
                answer.error.starts_with("ValueError") &&
                c.function().environment->attribute(callee, "__members__").value.has_value();
            return is_no_member ? raises(c, "ValueError") : Object::error();
        }
        default: {
            if (is_unknown(callee)) {
                report_unknown(c, callee, c.source(arguments.callee_range), arguments.range);
                return Object::error();
            }
            std::string hidden = help_for_hidden(c, c.source(arguments.callee_range));
            c.report(kNotCallable, arguments.callee_range,
                     fmt::format("{} is called", kind_name(callee)))
                .with_help(hidden.empty() ? "call an operator, a script or a function" : hidden);
            return Object::error();
        }
    }
}

}  // namespace sardonyx::elaborate
