// Operators that run at once: the arguments of the C interface as those of eager calls.
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/fail.h"
#include "api/kernels_handle.h"
#include "api/limits.h"
#include "api/value_handle.h"
#include "calls/unknown.h"
#include "eager/arguments.h"
#include "eval/eager.h"
#include "ops/versions.h"
#include "types/domain.h"

namespace sardonyx::api {
namespace {

using eval::RuntimeValue;

// What eager calls need of C (eager/surface.h). The arguments have been checked.
struct Surface {
    using Argument = const sdx_argument*;

    static bool is_there(Argument a) { return a != nullptr && a->kind != SDX_ARGUMENT_NOTHING; }
    static bool is_given(Argument) { return true; }
    static const RuntimeValue* held(Argument a) {
        return a->kind == SDX_ARGUMENT_VALUE ? &a->value->value : nullptr;
    }
    static bool is_literal(Argument a) { return a->kind != SDX_ARGUMENT_VALUE; }
    static bool is_list(Argument a) { return a->kind >= SDX_ARGUMENT_INTS; }
    static bool is_text(Argument a) {
        return a->kind == SDX_ARGUMENT_TEXT || a->kind == SDX_ARGUMENT_TEXTS;
    }
    static bool is_int(Argument a) {
        return a->kind == SDX_ARGUMENT_INT || a->kind == SDX_ARGUMENT_INTS;
    }
    static ElementType literal_type(Argument a) {
        return is_text(a)  ? ElementType::kString
               : is_int(a) ? ElementType::kInt64
                           : ElementType::kFloat;
    }
    static size_t count(Argument a) { return is_list(a) ? a->count : 1; }
    static Tensor from_literal(Argument a, ElementType type) {
        Dims dims;
        if (is_list(a)) {
            dims.push_back(static_cast<int64_t>(a->count));
        }
        type = type == ElementType::kUndefined ? literal_type(a) : type;
        if (is_text(a) != (type == ElementType::kString)) {
            refuse(eager::Wrong::kType,
                   fmt::format("{} where a tensor of {} is expected",
                               is_text(a) ? "a text" : "a number", name(type)));
        }
        if (is_text(a)) {
            return Tensor::of_strings(std::move(dims), {a->texts, a->texts + count(a)});
        }
        Result<Tensor> made =
            is_int(a) ? tensor_from_int64s(type, std::move(dims), {a->ints, count(a)})
                      : tensor_from_doubles(type, std::move(dims), {a->floats, count(a)});
        if (!made.ok()) {
            refuse(eager::Wrong::kType, made.error().message);
        }
        return std::move(*made);
    }
    static bool is_list_of_tensors(Argument) { return false; }
    static Tensor from_list_of_tensors(Argument, ElementType) { return {}; }
    static RuntimeValue from_other(Argument) { return {}; }
    static bool is_tensor(Argument) { return false; }
    static ir::Attribute attribute(const ops::AttributeSchema& schema, Argument a);
    [[noreturn]] static void refuse(eager::Wrong, const std::string& message) { fail(message); }
};

std::vector<std::string> texts_of(const sdx_argument& a, const ops::AttributeSchema* schema) {
    std::vector<std::string> texts(a.texts, a.texts + Surface::count(&a));
    for (const std::string& text : texts) {
        auto problem = schema != nullptr ? calls::check_enumeration(*schema, text) : std::nullopt;
        if (problem) {
            Surface::refuse(eager::Wrong::kValue, problem->text());
        }
    }
    return texts;
}

std::vector<float> floats_of(const sdx_argument& a) {
    return Surface::is_int(&a) ? std::vector<float>(a.ints, a.ints + Surface::count(&a))
                               : std::vector<float>(a.floats, a.floats + Surface::count(&a));
}

// The attribute that the argument is where no schema says what it should be.
ir::Attribute implied_attribute(std::string_view name, const sdx_argument& a) {
    switch (a.kind) {
        case SDX_ARGUMENT_INT:
            return ir::make_attribute(name, *a.ints);
        case SDX_ARGUMENT_INTS:
            return ir::make_attribute(name, std::vector<int64_t>(a.ints, a.ints + a.count));
        case SDX_ARGUMENT_FLOAT:
            return ir::make_attribute(name, static_cast<float>(*a.floats));
        case SDX_ARGUMENT_FLOATS:
            return ir::make_attribute(name, floats_of(a));
        case SDX_ARGUMENT_TEXT:
            return ir::make_attribute(name, std::string(*a.texts));
        case SDX_ARGUMENT_TEXTS:
            return ir::make_attribute(name, texts_of(a, nullptr));
        default:
            if (!a.value->value.is_tensor()) {
                fail(fmt::format("attribute `{}` is {}, and must be a tensor", name,
                                 a.value->value.describe()));
            }
            return ir::make_attribute(name, a.value->value.tensor());
    }
}

ir::Attribute Surface::attribute(const ops::AttributeSchema& schema, Argument a) {
    using ops::AttributeType;
    bool is_number = is_literal(a) && !is_text(a);
    switch (schema.type) {
        case AttributeType::kInt:
            if (a->kind == SDX_ARGUMENT_INT) {
                return ir::make_attribute(schema.name, *a->ints);
            }
            break;
        case AttributeType::kInts:
            if (a->kind == SDX_ARGUMENT_INTS) {
                return implied_attribute(schema.name, *a);
            }
            break;
        case AttributeType::kFloat:
            if (is_number && !is_list(a)) {
                return ir::make_attribute(schema.name, floats_of(*a).front());
            }
            break;
        case AttributeType::kFloats:
            if (is_number && is_list(a)) {
                return ir::make_attribute(schema.name, floats_of(*a));
            }
            break;
        case AttributeType::kString:
            if (a->kind == SDX_ARGUMENT_TEXT) {
                return ir::make_attribute(schema.name, texts_of(*a, &schema).front());
            }
            break;
        case AttributeType::kStrings:
            if (a->kind == SDX_ARGUMENT_TEXTS) {
                return ir::make_attribute(schema.name, texts_of(*a, &schema));
            }
            break;
        case AttributeType::kTensor:
            if (a->kind == SDX_ARGUMENT_VALUE) {
                return implied_attribute(schema.name, *a);
            }
            break;
        default:
            break;
    }
    fail(fmt::format("attribute `{}` takes {}, not an argument of kind {}", schema.name,
                     sardonyx::name(schema.type), a->kind));
}

// What an argument points to is there.
void check_argument(const sdx_argument& a, size_t i) {
    bool is_one = a.kind >= SDX_ARGUMENT_INT && a.kind <= SDX_ARGUMENT_TEXT;
    size_t count = is_one ? 1 : a.count;
    bool is_int = a.kind == SDX_ARGUMENT_INT || a.kind == SDX_ARGUMENT_INTS;
    bool is_float = a.kind == SDX_ARGUMENT_FLOAT || a.kind == SDX_ARGUMENT_FLOATS;
    bool is_text = a.kind == SDX_ARGUMENT_TEXT || a.kind == SDX_ARGUMENT_TEXTS;
    if (a.kind < SDX_ARGUMENT_NOTHING || a.kind > SDX_ARGUMENT_TEXTS) {
        fail(fmt::format("argument {} has the unknown kind {}", i, a.kind));
    }
    if (a.kind == SDX_ARGUMENT_VALUE && !is_valid(a.value)) {
        fail(fmt::format("argument {} is not a value", i));
    }
    if (count > 0 && ((is_int && a.ints == nullptr) || (is_float && a.floats == nullptr) ||
                      (is_text && a.texts == nullptr))) {
        fail(fmt::format("argument {} has {} elements at NULL", i, count));
    }
    if (a.kind >= SDX_ARGUMENT_INTS && count > (size_t{1} << 32)) {
        fail(fmt::format("argument {} has {} elements", i, count));
    }
    for (size_t k = 0; is_text && k < count; ++k) {
        if (a.texts[k] == nullptr) {
            fail(fmt::format("text {} of argument {} is NULL", k, i));
        }
    }
}

struct Operator {
    const eval::OperatorEntry* entry = nullptr;
    int64_t opset = 0;
};

Operator find_operator(const char* domain, int64_t opset, const char* name,
                       const sdx_kernels* kernels) {
    if (domain == nullptr || name == nullptr) {
        fail("the domain or the name of the operator is NULL");
    }
    if (kernels != nullptr && !is_valid(kernels)) {
        fail("the kernels were not made by sdx_kernels_new, or have been freed");
    }
    const eval::OperatorEntry* entry =
        kernels != nullptr ? kernels->table.find(domain, name) : nullptr;
    if (entry == nullptr) {
        if (std::string problem = ops::version_problem(normal_domain(domain), opset);
            !problem.empty()) {
            fail(problem);
        }
        entry = eval::find_operator(normal_domain(domain), name, opset);
    }
    if (entry == nullptr) {
        fail(calls::unknown_operator(domain, opset, name));
    }
    return {entry, opset};
}

// A call of a kernel of the user's: nothing says which inputs and attributes it has.
Result<std::vector<RuntimeValue>> call_custom(const Operator& op,
                                              std::span<const sdx_argument> arguments,
                                              const eval::RunOptions& options,
                                              size_t output_count) {
    std::vector<RuntimeValue> inputs;
    std::vector<ir::Attribute> attributes;
    for (const sdx_argument& a : arguments) {
        if (a.name != nullptr && a.kind != SDX_ARGUMENT_NOTHING) {
            attributes.push_back(implied_attribute(a.name, a));
        } else if (a.name == nullptr) {
            inputs.push_back(!Surface::is_there(&a) ? RuntimeValue()
                             : Surface::is_literal(&a)
                                 ? Surface::from_literal(&a, ElementType::kUndefined)
                                 : a.value->value);
        }
    }
    std::vector<const RuntimeValue*> pointers;
    for (const RuntimeValue& input : inputs) {
        pointers.push_back(&input);
    }
    return eval::run_operator(*op.entry, op.opset, pointers, attributes, output_count, options);
}

Result<std::vector<RuntimeValue>> call(const Operator& op, std::span<const sdx_argument> arguments,
                                       const eval::RunOptions& options, size_t output_count) {
    const ops::Schema& schema = *op.entry->schema;
    for (size_t i = 0; i < arguments.size(); ++i) {
        check_argument(arguments[i], i);
    }
    if (schema.since_version == 0) {
        return call_custom(op, arguments, options, output_count);
    }
    if (auto problem = calls::check_outputs(schema, output_count)) {
        return Error{problem->text()};
    }
    eager::CallMemory memory;
    eager::Arguments<Surface> bound(schema, arguments.size(), memory);
    for (const sdx_argument& a : arguments) {
        const sdx_argument* given = a.kind == SDX_ARGUMENT_NOTHING ? nullptr : &a;
        if (a.name == nullptr) {
            bound.add(given);
        } else if (given != nullptr) {
            bound.add(a.name, given);
        }
    }
    bound.finish();
    if (!bound.bodies().empty()) {
        return Error{fmt::format("`{}` takes graphs, which an argument cannot be", schema.name)};
    }
    eager::Inputs inputs = eager::convert<Surface>(schema, bound.inputs(), memory);
    std::optional<size_t> settled =
        eager::settled_output_count(schema, inputs.values, bound.attributes());
    size_t count = settled ? *settled : eager::output_count(schema, output_count);
    if (output_count > count) {
        return Error{
            fmt::format("`{}` gives {} results here, not {}", schema.name, count, output_count)};
    }
    return eval::run_operator(*op.entry, op.opset, inputs.values, bound.attributes(), count,
                              options);
}

}  // namespace
}  // namespace sardonyx::api

sdx_error* sdx_evaluate(const char* domain, int64_t opset, const char* name,
                        const sdx_argument* arguments, size_t argument_count,
                        const sdx_kernels* kernels, const sdx_run_options* options,
                        const sdx_limits* limits, sdx_value** outputs, size_t output_count) {
    namespace api = sardonyx::api;
    if (outputs == nullptr && output_count > 0) {
        return api::make_error("`outputs` is NULL");
    }
    for (size_t i = 0; i < output_count; ++i) {
        outputs[i] = nullptr;
    }
    return api::guarded([&]() -> sdx_error* {
        if (arguments == nullptr && argument_count > 0) {
            return api::make_error("`arguments` is NULL");
        }
        api::Operator op = api::find_operator(domain, opset, name, kernels);
        sardonyx::eval::Interrupt interrupt;
        auto limited = api::set_limits(limits, &interrupt);
        if (!limited.ok()) {
            return api::make_error(limited.error().message);
        }
        sardonyx::eval::RunOptions chosen = api::engine_options(options);
        chosen.interrupt = &interrupt;
        auto results =
            interrupt.poll()
                ? sardonyx::Result<std::vector<sardonyx::eval::RuntimeValue>>(interrupt.error())
                : api::call(op, {arguments, argument_count}, chosen, output_count);
        return results.ok() ? api::give_values(std::move(*results), outputs, output_count)
                            : api::error_of(results.error(), interrupt);
    });
}
