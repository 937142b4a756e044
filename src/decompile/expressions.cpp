// The part of Unit that makes the right side of a statement of a node.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/quote.h"
#include "decompile/attribute_types.h"
#include "decompile/schema_defaults.h"
#include "decompile/unit.h"
#include "ir/standard.h"

namespace sardonyx::decompile {
namespace {

// Operators of Python that are one node.
struct SymbolRow {
    std::string_view op_type;
    std::string_view symbol;
    enum Kind { kAny, kNoIntegers, kBooleans } kind;
};

constexpr SymbolRow kSymbols[] = {
    {"Add", "+", SymbolRow::kAny},
    {"Sub", "-", SymbolRow::kAny},
    {"Mul", "*", SymbolRow::kAny},
    {"Div", "/", SymbolRow::kNoIntegers},
    {"MatMul", "@", SymbolRow::kAny},
    {"Less", "<", SymbolRow::kAny},
    {"LessOrEqual", "<=", SymbolRow::kAny},
    {"Greater", ">", SymbolRow::kAny},
    {"GreaterOrEqual", ">=", SymbolRow::kAny},
    {"Equal", "==", SymbolRow::kAny},
    {"And", "&", SymbolRow::kBooleans},
    {"Or", "|", SymbolRow::kBooleans},
    {"Xor", "^", SymbolRow::kBooleans},
};

const SymbolRow* symbol_row(const ir::Node& node) {
    for (const SymbolRow& row : kSymbols) {
        if (ir::is_standard(node, row.op_type)) {
            return &row;
        }
    }
    return nullptr;
}

// The first opset in which these operators broadcast as Python's do.
constexpr int64_t kFirstBroadcast = 7;
constexpr int64_t kMostInLine = 8;  // elements of a literal

// The type of a literal that nothing says another of, where it is the one of this class.
ElementType type_of_numbers(ElementType type) {
    return type == ElementType::kInt64 || type == ElementType::kFloat || type == ElementType::kBool
               ? type
               : ElementType::kUndefined;
}

}  // namespace

bool Unit::has_attributes(const ir::Node& node) const {
    return std::any_of(node.attributes.begin(), node.attributes.end(),
                       [&](const ir::Attribute& one) { return !is_default(node, one); });
}

std::optional<Expression> Unit::symbol(const ir::Node& node) {
    if (version_of("") < kFirstBroadcast || callee_of(node) != nullptr || has_attributes(node) ||
        !node.overload.empty() || wanted_outputs(node) != 1) {
        return std::nullopt;
    }
    auto is_tensor = [&](size_t i) {
        return node.input(i) != nullptr && facts_.constant_of(*node.input(i)) == nullptr;
    };
    if (ir::is_standard(node, "Neg") && given_inputs(node) == 1 && is_tensor(0)) {
        return Expression::atom("-" + flat(argument(node, 0)));
    }
    const SymbolRow* row = symbol_row(node);
    if (row == nullptr || given_inputs(node) != 2 || node.input(0) == nullptr) {
        return std::nullopt;
    }
    // Among constants alone, Python computes itself.
    ElementType type =
        is_tensor(0) ? facts_.known_type(node.input(0)) : facts_.known_type(node.input(1));
    bool fits = row->kind == SymbolRow::kAny ||
                (row->kind == SymbolRow::kNoIntegers && is_floating(type)) ||
                (row->kind == SymbolRow::kBooleans && type == ElementType::kBool);
    if (!fits || !(is_tensor(0) || is_tensor(1))) {
        return std::nullopt;
    }
    Expression left = argument(node, 0), right = argument(node, 1);
    if (left.open == '(' || right.open == '(') {
        return std::nullopt;
    }
    return Expression::atom(fmt::format("{} {} {}", flat(left), row->symbol, flat(right)));
}

// In a script, each combination of inputs that a call gives is a function of its own, and functions
// are never operators of the standard.
void Unit::check_callee(const ir::Node& node, const ir::Function& callee) {
    if (callee.domain.empty()) {
        fail(node, "the function in the domain of ai.onnx");
    }
    const std::vector<ir::Value*>& inputs = callee.body->inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (i >= node.input_count() || node.input(i) == nullptr) {
            fail(node, fmt::format("the omitted function input {}", quoted(inputs[i]->name)));
            return;
        }
    }
}

Expression Unit::call(const ir::Node& node) {
    const ir::Function* callee = callee_of(node);
    Expression result = Expression::call("");
    if (callee != nullptr) {
        check_callee(node, *callee);
        result.head = module_.function_name(*callee);
    } else {
        int64_t version = version_of(node.domain);
        if (version < 1) {
            return fail(node,
                        fmt::format("the domain {}, which is not imported,", quoted(node.domain)));
        }
        if (!is_identifier(node.op_type) || !node.overload.empty()) {
            return fail(node, "the operator's name");
        }
        if (!string_literal(node.domain).ok()) {
            return fail(node, "the domain");
        }
        names_opset_ = names_opset_ || node.domain.empty();
        result.head = fmt::format("{}.{}", module_.opset(node.domain, version), node.op_type);
    }
    for (size_t i = 0; i < given_inputs(node); ++i) {
        result.items.push_back(argument(node, i));
    }
    for (const ir::Attribute& one : node.attributes) {
        if (std::optional<Expression> words = attribute(node, one)) {
            result.items.push_back(std::move(*words));
        }
    }
    return result;
}

// --- Arguments -----------------------------------------------------------------------------------

Expression Unit::argument(const ir::Node& node, size_t index) {
    const ir::Value* value = node.input(index);
    if (value == nullptr) {
        return Expression::atom("None");
    }
    if (facts_.constant_of(*value) != nullptr && is_inline(*value)) {
        if (std::optional<Expression> words = literal(node, index)) {
            return std::move(*words);
        }
    }
    return operand(*value);
}

Expression Unit::operand(const ir::Value& value) {
    const Tensor* constant = facts_.constant_of(value);
    if (constant == nullptr || !is_inline(value)) {
        return Expression::atom(name_of(value, "value"));
    }
    const ir::Value* initializer = value.producer() == nullptr ? &value : nullptr;
    Result<Expression> stored = module_.stored(*constant, initializer, value.name);
    if (!stored.ok()) {
        fail(stored.error().message);
    }
    return stored.ok() ? std::move(*stored) : Expression::atom("None");
}

// Whether a literal as this input becomes this tensor: the schema or another input says the type.
bool Unit::is_literal_at(const ir::Node& node, size_t index) const {
    const ops::Schema* schema = schema_of(node);
    const Tensor& tensor = *facts_.constant_of(*node.input(index));
    const ops::Parameter* parameter = schema != nullptr ? schema->input(index) : nullptr;
    constexpr size_t kMostInputs = 64;  // which are all looked at
    if (parameter == nullptr || node.input_count() > kMostInputs || tensor.rank() > 1 ||
        tensor.count() > kMostInLine || !parameter->is_homogeneous) {
        return false;
    }
    const ops::TypeVariable& variable =
        schema->type_variables[static_cast<size_t>(parameter->type_variable)];
    ElementType type = only_type(variable.types);
    bool are_constants = true;  // all inputs that have the same type
    for (size_t i = 0; i < node.input_count() && type == ElementType::kUndefined; ++i) {
        const ops::Parameter* other = schema->input(i);
        bool is_same = other != nullptr && other->is_homogeneous &&
                       other->type_variable == parameter->type_variable &&
                       node.input(i) != nullptr && facts_.constant_of(*node.input(i)) == nullptr;
        type = is_same ? facts_.known_type(node.input(i)) : type;
        are_constants = are_constants && !is_same;
    }
    if (type == ElementType::kUndefined && are_constants) {
        type = type_of_numbers(tensor.element_type());
    }
    // Without elements, a list says no type.
    return type == tensor.element_type() && tensor.count() > 0 && type != ElementType::kString &&
           plain_tensor_literal(tensor).ok();
}

std::optional<Expression> Unit::literal(const ir::Node& node, size_t index) {
    if (!is_literal_at(node, index)) {
        return std::nullopt;
    }
    Result<Expression> words = plain_tensor_literal(*facts_.constant_of(*node.input(index)));
    return words.ok() ? std::optional(std::move(*words)) : std::nullopt;
}

bool Unit::is_inline(const ir::Value& value) const {
    const ConstantUse& use = facts_.use_of(value);
    const ir::Value* initializer = value.producer() == nullptr ? &value : nullptr;
    if (use.needs_name) {
        return false;
    }
    const Tensor& tensor = *facts_.constant_of(value);
    if (tensor.count() > kMostLiterals) {
        return initializer != nullptr && module_.is_storable(tensor, initializer);
    }
    constexpr int kMostUses = 4;
    if (use.count > kMostUses || value.is_graph_input()) {
        return false;
    }
    for (const ir::Use* one = value.first_use(); one != nullptr; one = one->next) {
        if (facts_.is_live(*one->user) && !is_literal_at(*one->user, one->index)) {
            return false;
        }
    }
    return true;
}

// --- Attributes ----------------------------------------------------------------------------------

bool Unit::is_default(const ir::Node& node, const ir::Attribute& attribute) const {
    return is_default_of(schema_of(node), attribute);
}

std::optional<Expression> Unit::attribute(const ir::Node& node, const ir::Attribute& attribute) {
    if (is_default(node, attribute)) {
        return std::nullopt;
    }
    if (!is_identifier(attribute.name)) {
        return fail(node, fmt::format("the attribute {}", quoted(attribute.name)));
    }
    if (!attribute.is_reference()) {
        return attribute_value(node, attribute).keyword(attribute.name);
    }
    auto found = parameters_.find(attribute.reference);
    return found == parameters_.end()
               ? fail(node,
                      fmt::format("the reference of attribute {} to {}, which is not a parameter,",
                                  quoted(attribute.name), quoted(attribute.reference)))
               : Expression::atom(found->second).keyword(attribute.name);
}

namespace {

// Attributes that hold a number of an element type.
bool is_element_type(const ir::Node& node, const ir::Attribute& attribute) {
    return node.domain.empty() && (attribute.name == "to" || attribute.name == "dtype");
}

}  // namespace

Expression Unit::attribute_value(const ir::Node& node, const ir::Attribute& attribute) {
    if (const auto* number = attribute.get<int64_t>();
        number != nullptr && is_element_type(node, attribute)) {
        ElementType type = element_type_from_number(*number);
        if (type != ElementType::kUndefined) {
            module_.import_from("sardonyx", name(type));
            return Expression::atom(fmt::format("{}.dtype", name(type)));
        }
    }
    if (std::optional<Expression> plain = plain_value(attribute)) {
        return std::move(*plain);
    }
    if (const auto* tensor = attribute.get<Tensor>()) {
        Result<Expression> array = module_.array(*tensor, nullptr, attribute.name);
        return array.ok() ? std::move(*array) : fail(node, array.error().message);
    }
    if (const auto* graph = attribute.get<ir::Graph*>()) {
        return Expression::atom(graphs_.at(*graph));
    }
    if (const auto* type = attribute.get<Type>()) {
        if (std::optional<Expression> words = module_.annotation(*type)) {
            return std::move(*words);
        }
    }
    return fail(node, fmt::format("the attribute {} ({})", quoted(attribute.name),
                                  sardonyx::name(attribute.type)));
}

}  // namespace sardonyx::decompile
