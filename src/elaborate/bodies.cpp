// The body of a script, run to the outputs of a graph.
#include "elaborate/bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "elaborate/annotations.h"
#include "elaborate/emit/as_value.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/names.h"
#include "elaborate/emit/values.h"
#include "elaborate/jumps.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/tolerance.h"
#include "elaborate/scopes/carried.h"
#include "elaborate/scopes/merge.h"

namespace sardonyx::elaborate {

namespace {

// A list of Python's numbers is one tensor, whether they are known or not; any other is a sequence.
bool is_of_numbers(const Object& list) {
    auto is_number = [](const Object& item) {
        return is_python_number(item) || item.is(ObjectKind::kString) ||
               (item.is_sequence() && is_of_numbers(item));
    };
    const std::vector<Object>& items = list.items();
    return !items.empty() && std::all_of(items.begin(), items.end(), is_number);
}

// What the body returned, as a list of objects; nothing after an error. `before`: it ran.
std::optional<std::vector<Object>> returned_objects(Context& c, const ScriptFunction& function,
                                                    Jump jump,
                                                    const diagnostics::Checkpoint& before) {
    if (c.gave_up) {
        return std::nullopt;
    }
    if (jump != Jump::kReturn || c.at.result.is_none()) {
        if (jump == Jump::kReturn || !before.has_errors()) {
            c.program.diagnostics
                .report(kMissingReturn, function.name_span(),
                        fmt::format("`{}` returns nothing", function.name))
                .with_help("return its results");
        }
        return std::nullopt;
    }
    if (c.at.result.is_error()) {
        if (!c.program.diagnostics.has_errors()) {
            c.report(kUnsupportedStatement, c.at.result_range,
                     "what is returned depends on a value that the compiler cannot follow")
                .with_help(
                    "change it in simpler loops and branches: what stops the compiler "
                    "should be said there, and is not, which is a defect of Sardonyx");
        }
        return std::nullopt;
    }
    return c.at.result.is(ObjectKind::kTuple) ? c.at.result.items()
                                              : std::vector<Object>{c.at.result};
}

// One result. A list is one object in Python, and one sequence here.
Object as_result(Context& c, const Object& object, const Annotation* annotation) {
    bool is_annotated = annotation != nullptr && annotation->type.kind() == TypeKind::kSequence;
    if (!object.is_sequence() || (!is_annotated && is_of_numbers(object))) {
        return beside_tensors(object);
    }
    if (object.items().empty()) {
        ElementType type =
            is_annotated ? annotation->type.element().element_type() : ElementType::kUndefined;
        if (type == ElementType::kUndefined) {
            c.report(kUnsupportedOperand, c.at.result_range,
                     "an empty list is returned, and the type of its items is not known")
                .with_help("annotate the result, as in `-> Sequence[FLOAT[...]]`");
            return Object::error();
        }
        return empty_sequence(c, annotation->type, c.at.result_range);
    }
    bool are_values = object.is(ObjectKind::kList) &&
                      std::all_of(object.items().begin(), object.items().end(), is_leaf);
    if (!are_values) {
        c.report(kUnsupportedOperand, c.at.result_range,
                 fmt::format("{} among the results", kind_name(object)))
            .with_help("return its items one by one, or a list of tensors");
        return Object::error();
    }
    std::vector<ir::Value*> items;
    for (const Object& item : object.items()) {
        if (item.is_either()) {
            report_either(c, c.at.result_range);
        }
        items.push_back(item.is_either() ? nullptr : as_value(c, item, c.at.result_range));
    }
    return as_object(Emitter(c, c.at.result_range).emit_variadic("SequenceConstruct", items));
}

// The results as outputs of the unit's graph.
void add_outputs(Context& c, const ScriptFunction& function, const std::vector<Object>& objects) {
    std::optional<std::vector<Annotation>> annotations =
        read_results(c, function.definition->returns, objects.size());
    if (annotations && annotations->size() != objects.size()) {
        c.report(tolerated(c, kReturnTypeMismatch), c.at.result_range,
                 fmt::format("`{}` returns {} result{}, and its annotation says {}", function.name,
                             objects.size(), objects.size() == 1 ? "" : "s", annotations->size()))
            .label(c.span(function.definition->returns->range), "annotated here")
            .with_help(c.at.result.is(ObjectKind::kList)
                           ? "a list is one result: return a tuple, as in `tuple(xs)`"
                           : "annotate as many results as there are");
        annotations.reset();
    }
    for (size_t i = 0; i < objects.size(); ++i) {
        const Annotation* annotation = annotations ? &(*annotations)[i] : nullptr;
        ElementType type =
            annotation != nullptr ? annotation->type.element_type() : ElementType::kUndefined;
        if (objects[i].is_either() && type == ElementType::kUndefined) {
            report_either(c, c.at.result_range);
            return;
        }
        ir::Value* value = output_of(c, c.unit->graph, as_result(c, objects[i], annotation), type,
                                     c.at.result_range);
        if (value == nullptr) {
            return;
        }
        if (value->name.empty()) {
            value->name = c.model.intern(objects.size() == 1 ? std::string("return_val")
                                                             : fmt::format("return_val_{}", i));
        }
        if (annotation != nullptr) {
            std::string which = objects.size() > 1 ? fmt::format(" as result {}", i + 1) : "";
            check_annotated(c, kReturnTypeMismatch, *annotation, value,
                            fmt::format("`{}` returns{}", function.name, which), c.at.result_range,
                            function.definition->returns->range);
        }
    }
}

// What each statement of the script that is compiled may take of its own.
constexpr int64_t kStepsOfStatement = 2000;
constexpr int64_t kIterationsOfStatement = 200;

}  // namespace

void run_body(Context& c, const ScriptFunction& function) {
    if (c.unit->caller == nullptr) {
        auto statements = static_cast<int64_t>(function.definition->body.size());
        c.more_steps += statements * kStepsOfStatement;
        c.more_iterations += statements * kIterationsOfStatement;
    }
    diagnostics::Checkpoint before(c.program.diagnostics);
    Jump jump = exec_body(c, function.definition->body);
    if (std::optional<std::vector<Object>> objects = returned_objects(c, function, jump, before)) {
        add_outputs(c, function, *objects);
    }
    remove_dead_nodes(c.model, *c.unit->graph);
    remove_unused_initializers(*c.unit->graph);
    if (!c.unit->is_function) {
        name_initializers(c);
    }
    name_values(c.model, *c.unit->graph);
}

}  // namespace sardonyx::elaborate
