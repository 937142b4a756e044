#include "infer/node_context.h"

#include "infer/subgraph.h"

#include <fmt/format.h>

#include <algorithm>

#include "calls/types.h"
#include "infer/diagnostics.h"

namespace sardonyx::infer {
namespace {

// Whether elements of the type can be contents of a shape computation.
bool holds_contents(ElementType type) {
    return is_integer(type) || type == ElementType::kBool;
}

bool holds(ElementType type, int64_t value) {
    if (type == ElementType::kBool) {
        return value == 0 || value == 1;
    }
    int bits = info(type).bits;
    if (element_class(type) == ElementClass::kUnsigned) {
        return value >= 0 && (bits >= 63 || value < int64_t{1} << bits);
    }
    return bits >= 64 || (value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1));
}

// Where the value of an attribute is found after references have been followed.
struct Resolved {
    const ir::Attribute* attribute = nullptr;  // null: absent, or not known
    bool is_unbound = false;                   // a parameter whose argument is not known
};

Resolved resolve(const ir::Attribute* attribute, const Call* call) {
    while (attribute != nullptr && attribute->is_reference()) {
        if (call == nullptr) {
            return {nullptr, true};
        }
        std::string_view wanted = attribute->reference;
        auto has_name = [wanted](const ir::Attribute& a) { return a.name == wanted; };
        auto given = std::find_if(call->attributes.begin(), call->attributes.end(), has_name);
        if (given != call->attributes.end()) {
            attribute = &*given;
            call = call->outer;
            continue;
        }
        const std::vector<ir::Attribute>& defaults = call->function->attribute_defaults;
        auto standard = std::find_if(defaults.begin(), defaults.end(), has_name);
        attribute = standard != defaults.end() ? &*standard : nullptr;
        call = nullptr;
    }
    return {attribute, false};
}

// The value of the attribute as T, else the schema's default through `default_of`.
template <typename T, typename F>
auto attribute_or_default(const NodeContext& c, std::string_view name, ops::AttributeType type,
                          F default_of)
    -> std::optional<decltype(default_of(std::declval<const ops::AttributeSchema&>()))> {
    Resolved found = resolve(c.node.find_attribute(name), c.context.call);
    if (found.attribute != nullptr) {
        if (const T* value = found.attribute->template get<T>()) {
            return *value;
        }
        return std::nullopt;
    }
    const ops::AttributeSchema* declared =
        found.is_unbound ? nullptr : c.schema->find_attribute(name);
    if (declared == nullptr || !declared->has_default || declared->type != type) {
        return std::nullopt;
    }
    return default_of(*declared);
}

template <typename T>
const T* attribute_pointer(const NodeContext& c, std::string_view name) {
    const ir::Attribute* found = resolve(c.node.find_attribute(name), c.context.call).attribute;
    return found != nullptr ? found->get<T>() : nullptr;
}

}  // namespace

// --- Inputs --------------------------------------------------------------------------------------

const Type& NodeContext::input_type(size_t i) const {
    const ir::Value* value = node.input(i);
    return value != nullptr ? value->type : kNoType;
}

const Shape* NodeContext::input_shape(size_t i) const {
    const Type& type = input_type(i);
    return type.is_tensor() && type.has_shape() ? &type.shape() : nullptr;
}

int NodeContext::input_rank(size_t i) const {
    const Shape* shape = input_shape(i);
    return shape != nullptr ? static_cast<int>(shape->size()) : -1;
}

const ir::Attribute* resolve_attribute(const ir::Attribute& attribute, const Call* call) {
    return resolve(&attribute, call).attribute;
}

const Tensor* constant_of(const Context& context, const ir::Value& value) {
    if (!value.constant.has_value()) {
        return nullptr;
    }
    // From IR version 4 on an initializer that is also an input is only a default.
    bool may_be_overridden = value.is_graph_input() && value.is_initializer() &&
                             !(context.model != nullptr && context.model->ir_version > 0 &&
                               context.model->ir_version < 4);
    return may_be_overridden ? nullptr : &*value.constant;
}

const Tensor* NodeContext::input_constant(size_t i) const {
    const ir::Value* value = node.input(i);
    return value != nullptr ? constant_of(context, *value) : nullptr;
}

std::optional<std::vector<Dim>> NodeContext::input_dims(size_t i) const {
    const ir::Value* value = node.input(i);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (value->content != nullptr) {
        return value->content->elements;
    }
    const Tensor* constant = input_constant(i);
    if (constant != nullptr && constant->rank() <= 1 &&
        constant->count() <= static_cast<int64_t>(kMaxContent)) {
        if (std::optional<std::vector<int64_t>> values = to_int64s(*constant, kMaxContent)) {
            return std::vector<Dim>(values->begin(), values->end());
        }
    }
    const Shape* shape = input_shape(i);
    if (shape == nullptr || shape->size() > 1) {
        return std::nullopt;
    }
    if (shape->empty()) {
        return std::vector<Dim>(1);
    }
    const Dim& count = shape->front();
    bool is_small = count.is_static() && count.value() >= 0 &&
                    count.value() <= static_cast<int64_t>(kMaxContent);
    return is_small ? std::optional(std::vector<Dim>(static_cast<size_t>(count.value())))
                    : std::nullopt;
}

std::optional<std::vector<int64_t>> NodeContext::input_ints(size_t i) const {
    const ir::Value* value = node.input(i);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (const Tensor* constant = input_constant(i)) {
        return constant->rank() <= 1 ? to_int64s(*constant, kMaxContent) : std::nullopt;
    }
    if (value->content == nullptr) {
        return std::nullopt;
    }
    std::vector<int64_t> values;
    for (const Dim& dim : value->content->elements) {
        if (!dim.is_static()) {
            return std::nullopt;
        }
        values.push_back(dim.value());
    }
    return values;
}

std::optional<double> NodeContext::input_number(size_t i) const {
    const Tensor* constant = input_constant(i);
    if (constant == nullptr || constant->count() != 1) {
        return std::nullopt;
    }
    std::optional<std::vector<double>> values = to_doubles(*constant, 1);
    return values.has_value() ? std::optional(values->front()) : std::nullopt;
}

// --- Attributes ----------------------------------------------------------------------------------

bool NodeContext::has_attribute(std::string_view name) const {
    Resolved found = resolve(node.find_attribute(name), context.call);
    return found.attribute != nullptr || found.is_unbound;
}

bool NodeContext::is_attribute_unbound(std::string_view name) const {
    return resolve(node.find_attribute(name), context.call).is_unbound;
}

std::optional<int64_t> NodeContext::attribute_int(std::string_view name) const {
    return attribute_or_default<int64_t>(
        *this, name, ops::AttributeType::kInt,
        [](const ops::AttributeSchema& a) { return a.default_int; });
}

std::optional<float> NodeContext::attribute_float(std::string_view name) const {
    return attribute_or_default<float>(
        *this, name, ops::AttributeType::kFloat,
        [](const ops::AttributeSchema& a) { return a.default_float; });
}

std::optional<std::string_view> NodeContext::attribute_string(std::string_view name) const {
    return attribute_or_default<std::string>(
        *this, name, ops::AttributeType::kString,
        [](const ops::AttributeSchema& a) { return a.default_string; });
}

std::optional<std::vector<int64_t>> NodeContext::attribute_ints(std::string_view name) const {
    return attribute_or_default<std::vector<int64_t>>(
        *this, name, ops::AttributeType::kInts, [](const ops::AttributeSchema& a) {
            return std::vector<int64_t>(a.default_ints.begin(), a.default_ints.end());
        });
}

const Tensor* NodeContext::attribute_tensor(std::string_view name) const {
    return attribute_pointer<Tensor>(*this, name);
}

ir::Graph* NodeContext::attribute_graph(std::string_view name) const {
    ir::Graph* const* graph = attribute_pointer<ir::Graph*>(*this, name);
    return graph != nullptr ? *graph : nullptr;
}

const Type* NodeContext::attribute_type(std::string_view name) const {
    return attribute_pointer<Type>(*this, name);
}

const ir::Attribute* NodeContext::attribute(std::string_view name) const {
    return resolve(node.find_attribute(name), context.call).attribute;
}

// --- Outputs -------------------------------------------------------------------------------------

ElementType NodeContext::output_element(size_t i) const {
    const ops::Parameter* output = schema->output(i);
    if (output == nullptr) {
        return ElementType::kUndefined;
    }
    const ops::TypeSet& types = schema->type_variables[output->type_variable].types;
    bool is_single = types.tensor != 0 && (types.tensor & (types.tensor - 1)) == 0;
    if (is_single && types.sequence == 0 && types.optional_tensor == 0 && !types.maps &&
        types.optional_sequence == 0) {
        int number = 0;
        while ((types.tensor >> number & 1U) == 0) {
            ++number;
        }
        return static_cast<ElementType>(number);
    }
    bool is_heterogeneous =
        output->option == ops::ParameterOption::kVariadic && !output->is_homogeneous;
    for (size_t k = 0; !is_heterogeneous && k < node.input_count(); ++k) {
        const ops::Parameter* input = schema->input(k);
        if (input == nullptr) {
            break;
        }
        ElementType element = input_element(k);
        if (input->type_variable == output->type_variable && element != ElementType::kUndefined &&
            input_type(k).is_tensor()) {
            return element;
        }
    }
    return ElementType::kUndefined;
}

void NodeContext::set_output(size_t i, Type type) {
    ir::Value* output = node.output(i);
    if (output == nullptr) {
        return;
    }
    if (!output->type.is_known()) {
        output->type = std::move(type);
        return;
    }
    std::optional<Type> both = merge(type, output->type);
    if (both.has_value()) {
        output->type = std::move(*both);
        return;
    }
    fail(kDeclaredTypeMismatch,
         fmt::format("`{}` is declared as {}, but `{}` makes it {}", output->name,
                     output->type.to_string(), node.op_type, type.to_string()),
         -1, -1, "correct the declared type, or leave it out");
    output->type = std::move(type);
}

void NodeContext::set_output_dims(size_t i, bool is_scalar, std::vector<Dim> elements) {
    ir::Value* output = node.output(i);
    if (output == nullptr || elements.size() > kMaxContent ||
        !holds_contents(output->type.element_type())) {
        return;
    }
    ElementType type = output->type.element_type();
    // Narrower types wrap around at sizes that do occur.
    bool holds_expressions = type == ElementType::kInt64 || type == ElementType::kInt32;
    bool is_any_known = elements.empty();
    for (Dim& element : elements) {
        if (element.is_static() ? !holds(type, element.value()) : !holds_expressions) {
            element = Dim();
        }
        is_any_known = is_any_known || !element.is_unknown();
    }
    if (is_any_known) {
        output->content = std::make_unique<ir::SymbolicContent>();
        output->content->is_scalar = is_scalar;
        output->content->elements = std::move(elements);
    }
}

void NodeContext::set_output_constant(size_t i, Tensor tensor) {
    set_output(i, tensor.type());
    if (ir::Value* output = node.output(i)) {
        output->constant = std::move(tensor);
    }
}

Dim NodeContext::fresh_dim() const {
    return context.fresh_dims != nullptr ? infer::fresh_dim(*context.fresh_dims) : Dim();
}

Dim fresh_dim(int& next) {
    return Dim::symbol(fmt::format("unk__{}", next++));
}

// --- Findings ------------------------------------------------------------------------------------

namespace {

// What to do where a finding does not say it.
struct Help {
    std::string_view code, text;
};
constexpr Help kHelp[] = {
    {kArgumentCount.code, "give what the operator's documentation asks for"},
    {kAttributeType.code, "give the attribute the type that the operator declares"},
    {kRankMismatch.code, "reshape, squeeze or unsqueeze it, or correct its annotation"},
};

std::string help_of(const diagnostics::Kind& kind, std::string help) {
    for (const Help& row : kHelp) {
        if (help.empty() && row.code == kind.code) {
            return std::string(row.text);
        }
    }
    return help;
}

}  // namespace

void NodeContext::fail(const diagnostics::Kind& kind, std::string_view message, int input,
                       int other_input, std::string help) {
    help = help_of(kind, std::move(help));
    if (context.findings != nullptr) {
        context.findings->push_back({&kind,
                                     without_fresh_symbols(message),
                                     std::move(help),
                                     input,
                                     other_input,
                                     {},
                                     node.span});
    }
}

void NodeContext::fail_attribute(const diagnostics::Kind& kind, std::string_view attribute,
                                 std::string_view message, std::string help) {
    help = help_of(kind, std::move(help));
    if (context.findings != nullptr) {
        context.findings->push_back(
            {&kind, without_fresh_symbols(message), std::move(help), -1, -1, attribute, node.span});
    }
}

// --- Vocabulary ----------------------------------------------------------------------------------

std::string NodeContext::input_name(size_t i) const {
    return calls::input_name(*schema, i);
}

void NodeContext::pass_shape(size_t in, size_t out) {
    const Type& type = input_type(in);
    set_output(out, output_element(out), type.is_tensor() ? type.maybe_shape() : std::nullopt);
}

namespace {

// A number where a list must stand.
std::string rank_help(const NodeContext& c, size_t input, int rank, int minimum) {
    if (rank != 0 || minimum != 1) {
        return {};
    }
    std::optional<std::vector<int64_t>> value = c.input_ints(input);
    return value && value->size() == 1 ? fmt::format("write `[{}]`", value->front())
                                       : std::string("give a list: `[n]` in place of `n`");
}

}  // namespace

bool NodeContext::check_rank(size_t input, int minimum, int maximum) {
    int rank = input_rank(input);
    if (rank < 0 || (rank >= minimum && rank <= maximum)) {
        return true;
    }
    std::string wanted = minimum == maximum ? fmt::format("rank {}", minimum)
                         : rank < minimum   ? fmt::format("at least rank {}", minimum)
                                            : fmt::format("at most rank {}", maximum);
    fail(kRankMismatch,
         fmt::format("{} is {} of rank {}, and must have {}", input_name(input),
                     input_type(input).to_string(), rank, wanted),
         static_cast<int>(input), -1, rank_help(*this, input, rank, minimum));
    return false;
}

Dim NodeContext::match_dims(size_t input_a, int axis_a, size_t input_b, int axis_b) {
    const Shape* a = input_shape(input_a);
    const Shape* b = input_shape(input_b);
    Dim first = a != nullptr && axis_a < static_cast<int>(a->size()) ? (*a)[axis_a] : Dim();
    Dim second = b != nullptr && axis_b < static_cast<int>(b->size()) ? (*b)[axis_b] : Dim();
    if (first.differs(second)) {
        fail(kShapeMismatch,
             fmt::format("axis {} of {} is {}, but axis {} of {} is {}: shapes `{}` and `{}`",
                         axis_a, input_name(input_a), first.to_string(), axis_b,
                         input_name(input_b), second.to_string(), to_text(*a), to_text(*b)),
             static_cast<int>(input_a), static_cast<int>(input_b), "the two sizes must be equal");
        return first;
    }
    return known_dim(first, second);
}

const Dim& known_dim(const Dim& a, const Dim& b) {
    return a.is_static() || (a.is_symbolic() && !b.is_static()) ? a : b;
}

Dim product(std::span<const Dim> dims) {
    Dim result = 1;
    for (const Dim& dim : dims) {
        if (dim.is_static() && dim.value() == 0) {
            return 0;
        }
        result = result * dim;
    }
    return result;
}

std::string to_text(const Shape& shape) {
    std::string text = "[";
    for (const Dim& dim : shape) {
        text += text.size() > 1 ? "," : "";
        text += dim.to_string();
    }
    return text + "]";
}

std::string to_text(const std::vector<int64_t>& values) {
    return to_text(Shape(values.begin(), values.end()));
}

std::optional<Dim> broadcast_dims(const Dim& a, const Dim& b) {
    bool a_is_one = a.is_static() && a.value() == 1;
    bool b_is_one = b.is_static() && b.value() == 1;
    if (a_is_one) {
        return b;
    }
    if (b_is_one) {
        return a;
    }
    if (a.is_static() && b.is_static()) {
        return a.value() == b.value() ? std::optional(a) : std::nullopt;
    }
    if (a.equals(b)) {
        return a;
    }
    bool a_is_not_one = a.is_static() || a.is_at_least(2);
    bool b_is_not_one = b.is_static() || b.is_at_least(2);
    if (a_is_not_one && b_is_not_one) {
        return a.differs(b) ? std::nullopt : std::optional(known_dim(a, b));
    }
    if (a_is_not_one) {
        return a;
    }
    return b_is_not_one ? b : Dim();
}

std::optional<Shape> NodeContext::broadcast(std::initializer_list<size_t> inputs) {
    return broadcast(std::span<const size_t>(inputs.begin(), inputs.size()));
}

std::optional<Shape> NodeContext::broadcast(std::span<const size_t> inputs) {
    size_t rank = 0;
    for (size_t input : inputs) {
        const Shape* shape = input_shape(input);
        if (shape == nullptr) {
            return std::nullopt;
        }
        rank = std::max(rank, shape->size());
    }
    if (inputs.empty()) {
        return Shape();
    }
    const Shape& first = *input_shape(inputs[0]);
    Shape result;
    result.reserve(rank);
    result.assign(rank - first.size(), Dim(1));
    result.insert(result.end(), first.begin(), first.end());
    for (size_t n = 1; n < inputs.size(); ++n) {
        const Shape& shape = *input_shape(inputs[n]);
        size_t offset = rank - shape.size();
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            std::optional<Dim> both = broadcast_dims(result[offset + axis], shape[axis]);
            if (!both.has_value()) {
                fail_broadcast(inputs.first(n), inputs[n], shape.size() - axis);
                both = Dim();
            }
            result[offset + axis] = std::move(*both);
        }
    }
    return result;
}

void NodeContext::fail_broadcast(std::span<const size_t> earlier, size_t input,
                                 size_t axis_from_end) {
    const Shape& shape = *input_shape(input);
    const Dim& dim = shape[shape.size() - axis_from_end];
    for (size_t other : earlier) {
        const Shape& other_shape = *input_shape(other);
        if (other_shape.size() < axis_from_end) {
            continue;
        }
        const Dim& other_dim = other_shape[other_shape.size() - axis_from_end];
        if (!broadcast_dims(other_dim, dim).has_value()) {
            fail(
                kBroadcastMismatch,
                fmt::format("`{}` cannot broadcast shapes `{}` and `{}`: axis -{} is {} in one and "
                            "{} in the other",
                            node.op_type, to_text(other_shape), to_text(shape), axis_from_end,
                            other_dim.to_string(), dim.to_string()),
                static_cast<int>(input), static_cast<int>(other),
                "make the sizes equal, or one of them 1");
            return;
        }
    }
}

std::optional<int> NodeContext::normalize_axis(int64_t axis, int rank, std::string_view attribute,
                                               int input) {
    if (axis >= -rank && axis < rank) {
        return static_cast<int>(axis < 0 ? axis + rank : axis);
    }
    std::string message =
        fmt::format("axis {} of `{}` is outside a shape of rank {}", axis, node.op_type, rank);
    std::string help = rank == 0 ? std::string("a scalar has no axes")
                                 : fmt::format("use an axis from {} to {}", -rank, rank - 1);
    if (input >= 0) {
        fail(kAxisOutOfRange, std::move(message), input, -1, std::move(help));
    } else {
        fail_attribute(kAxisOutOfRange, attribute, std::move(message), std::move(help));
    }
    return std::nullopt;
}

}  // namespace sardonyx::infer
