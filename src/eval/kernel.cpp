#include "eval/kernel.h"

#include <algorithm>

#include <fmt/format.h>

namespace sardonyx::eval {
namespace {

const RuntimeValue kNone;

bool same_attribute_type(ir::AttributeType a, ops::AttributeType b) {
    return static_cast<uint8_t>(a) == static_cast<uint8_t>(b);
}

// "INT64 tensor" for messages.
bool admits(const ops::TypeSet& set, const RuntimeValue& value) {
    if (value.is_none()) {
        return set.optional_tensor != 0 || set.optional_sequence != 0;
    }
    if (value.is_tensor()) {
        ops::ElementMask bit = 1u << static_cast<int>(value.tensor().element_type());
        return ((set.tensor | set.optional_tensor) & bit) != 0;
    }
    bool holds_maps = value.is_sequence() && !value.sequence().items.empty() &&
                      value.sequence().items[0].is_map();
    if (value.is_map() || holds_maps) {
        return set.maps;
    }
    // An empty sequence may not know its element type.
    ElementType type = value.sequence().element_type;
    ops::ElementMask mask = set.sequence | set.optional_sequence;
    return type == ElementType::kUndefined ? mask != 0
                                           : (mask & (1u << static_cast<int>(type))) != 0;
}

ElementType element_of(const RuntimeValue& value) {
    if (value.is_tensor()) {
        return value.tensor().element_type();
    }
    return value.is_sequence() ? value.sequence().element_type : ElementType::kUndefined;
}

Status check_input(const ops::Schema& schema, const ops::Parameter& parameter, size_t index,
                   const RuntimeValue& value) {
    const ops::TypeVariable& variable = schema.type_variables[parameter.type_variable];
    if (admits(variable.types, value)) {
        return {};
    }
    if (value.is_none()) {
        return Error{fmt::format("input {} (`{}`) is missing", index, parameter.name)};
    }
    return Error{
        fmt::format("input {} (`{}`) is {}, which version {} of the operator does not take", index,
                    parameter.name, value.describe(), schema.since_version)};
}

}  // namespace

std::string to_string(std::span<const int64_t> dims) {
    return fmt::format("[{}]", fmt::join(dims.begin(), dims.end(), ","));
}

std::string describe_inputs(std::span<const RuntimeValue* const> inputs) {
    std::string text;
    for (const RuntimeValue* input : inputs) {
        text += text.empty() ? "" : ", ";
        text += input->describe();
    }
    return text.empty() ? "none" : text;
}

Status check_size(ElementType type, std::span<const int64_t> dims, const RunOptions& options) {
    if (type == ElementType::kUndefined) {
        return Error{"an attribute names an element type that does not exist"};
    }
    std::optional<int64_t> count = element_count(dims);
    if (!count.has_value()) {
        return Error{fmt::format("shape {} is negative or too large", to_string(dims))};
    }
    // Strings are objects; an element below 8 bits counts as a byte for what kernels unpack.
    int64_t width = type == ElementType::kString ? static_cast<int64_t>(sizeof(std::string))
                                                 : std::max<int64_t>(1, info(type).bits / 8);
    if (*count > options.max_bytes / width) {
        return Error{fmt::format("a tensor {}{} is beyond the limit of {} bytes", name(type),
                                 to_string(dims), options.max_bytes)};
    }
    return {};
}

const ir::Attribute* AttributeView::resolve(const ir::Attribute& attribute) const {
    if (!attribute.is_reference()) {
        return &attribute;
    }
    for (const Binding& binding : bindings_) {
        if (binding.name == attribute.reference) {
            return binding.value;
        }
    }
    return nullptr;
}

const ir::Attribute* AttributeView::find(std::string_view name) const {
    for (const ir::Attribute& attribute : attributes_) {
        if (attribute.name == name) {
            return resolve(attribute);
        }
    }
    return nullptr;
}

const RuntimeValue& KernelContext::value(size_t i) const {
    return i < inputs_.size() ? *inputs_[i] : kNone;
}

bool KernelContext::has_packed_input() const {
    return std::any_of(inputs_.begin(), inputs_.end(), [](const RuntimeValue* value) {
        if (!value->is_tensor()) {
            return false;
        }
        int bits = info(value->tensor().element_type()).bits;
        return bits > 0 && bits < 8;
    });
}

Result<std::vector<int64_t>> KernelContext::ints(size_t i) const {
    const Tensor& input = tensor(i);
    if (input.rank() > 1) {
        return Error{fmt::format("input {} must have rank 0 or 1, not {}", i, input.rank())};
    }
    std::optional<std::vector<int64_t>> values = to_int64s(input);
    if (!values.has_value()) {
        return Error{fmt::format("input {} ({}) must hold integers", i, value(i).describe())};
    }
    return *std::move(values);
}

Result<int64_t> KernelContext::int_scalar(size_t i) const {
    std::optional<std::vector<int64_t>> values = to_int64s(tensor(i), 1);
    if (!values.has_value() || values->size() != 1) {
        return Error{fmt::format("input {} ({}) must be one integer", i, value(i).describe())};
    }
    return values->front();
}

Result<double> KernelContext::real_scalar(size_t i) const {
    std::optional<std::vector<double>> values = to_doubles(tensor(i), 1);
    if (!values.has_value() || values->size() != 1) {
        return Error{fmt::format("input {} ({}) must be one number", i, value(i).describe())};
    }
    return values->front();
}

int64_t KernelContext::int_attribute(std::string_view name, int64_t otherwise) const {
    const ir::Attribute* attribute = find_attribute(name);
    if (const int64_t* value = attribute != nullptr ? attribute->get<int64_t>() : nullptr) {
        return *value;
    }
    const ops::AttributeSchema* schema = schema_.find_attribute(name);
    return schema != nullptr && schema->has_default ? schema->default_int : otherwise;
}

float KernelContext::float_attribute(std::string_view name, float otherwise) const {
    const ir::Attribute* attribute = find_attribute(name);
    if (const float* value = attribute != nullptr ? attribute->get<float>() : nullptr) {
        return *value;
    }
    const ops::AttributeSchema* schema = schema_.find_attribute(name);
    return schema != nullptr && schema->has_default ? schema->default_float : otherwise;
}

std::string_view KernelContext::string_attribute(std::string_view name) const {
    const ir::Attribute* attribute = find_attribute(name);
    if (attribute != nullptr) {
        if (const std::string* value = attribute->get<std::string>()) {
            return *value;
        }
    }
    const ops::AttributeSchema* schema = schema_.find_attribute(name);
    return schema != nullptr ? schema->default_string : std::string_view();
}

std::span<const int64_t> KernelContext::ints_attribute(std::string_view name) const {
    const ir::Attribute* attribute = find_attribute(name);
    if (attribute != nullptr) {
        if (const auto* value = attribute->get<std::vector<int64_t>>()) {
            return *value;
        }
    }
    const ops::AttributeSchema* schema = schema_.find_attribute(name);
    return schema != nullptr ? schema->default_ints : std::span<const int64_t>();
}

std::span<const float> KernelContext::floats_attribute(std::string_view name) const {
    const ir::Attribute* attribute = find_attribute(name);
    if (attribute != nullptr) {
        if (const auto* value = attribute->get<std::vector<float>>()) {
            return *value;
        }
    }
    const ops::AttributeSchema* schema = schema_.find_attribute(name);
    return schema != nullptr ? schema->default_floats : std::span<const float>();
}

std::span<const std::string> KernelContext::strings_attribute(std::string_view name) const {
    const ir::Attribute* attribute = find_attribute(name);
    const auto* value = attribute != nullptr ? attribute->get<std::vector<std::string>>() : nullptr;
    return value != nullptr ? std::span<const std::string>(*value) : std::span<const std::string>();
}

const Tensor* KernelContext::tensor_attribute(std::string_view name) const {
    const ir::Attribute* attribute = find_attribute(name);
    return attribute != nullptr ? attribute->get<Tensor>() : nullptr;
}

Result<Tensor> KernelContext::scratch(ElementType type, Dims dims) const {
    SDX_TRY(check_size(type, dims, options_));
    return Tensor::uninitialized(type, std::move(dims));
}

Result<Tensor*> KernelContext::output(size_t i, ElementType type, Dims dims) {
    SDX_CHECK(i < outputs_.size());
    if (may_fill_place(i, type, dims)) {
        return &outputs_[i].tensor();
    }
    SDX_TRY(check_size(type, dims, options_));
    outputs_[i] = Tensor::uninitialized(type, std::move(dims));
    return &outputs_[i].tensor();
}

bool KernelContext::may_fill_place(size_t i, ElementType type, const Dims& dims) const {
    return has_place_ && i == 0 && outputs_[0].tensor().element_type() == type &&
           outputs_[0].tensor().dims() == dims;
}

bool KernelContext::may_overwrite(size_t in, ElementType type, const Dims& dims) const {
    if (in >= 32 || ((dying_ >> in) & 1) == 0) {
        return false;
    }
    const Tensor& input = tensor(in);
    return input.element_type() == type && input.dims() == dims && input.is_unique();
}

std::shared_ptr<Sequence> KernelContext::changeable_sequence(size_t in) const {
    const std::shared_ptr<const Sequence>& own = value(in).sequence_pointer();
    bool is_ours = in < 32 && ((dying_ >> in) & 1) != 0 && own.use_count() == 1;
    return is_ours ? std::const_pointer_cast<Sequence>(own) : std::make_shared<Sequence>(*own);
}

Result<Tensor*> KernelContext::output_over(size_t in, size_t i, ElementType type,
                                           const Dims& dims) {
    if (!may_fill_place(i, type, dims) && may_overwrite(in, type, dims)) {
        outputs_[i] = tensor(in);
        return &outputs_[i].tensor();
    }
    return output(i, type, dims);
}

Result<int> KernelContext::axis(int64_t axis, int rank) const {
    if (axis < -rank || axis >= rank) {
        return Error{fmt::format("axis {} is out of range for rank {}", axis, rank)};
    }
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<std::vector<int>> KernelContext::axes(std::span<const int64_t> axes, int rank) const {
    std::vector<int> result;
    for (int64_t item : axes) {
        SDX_ASSIGN(int normalized, axis(item, rank));
        result.push_back(normalized);
    }
    std::sort(result.begin(), result.end());
    if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
        return Error{fmt::format("axes {} name an axis twice", to_string(axes))};
    }
    return result;
}

Result<std::optional<std::vector<int64_t>>> list_argument(const KernelContext& c,
                                                          std::string_view name, size_t i) {
    if (c.schema().find_attribute(name) != nullptr) {
        if (!c.has_attribute(name)) {
            return std::optional<std::vector<int64_t>>();
        }
        std::span<const int64_t> list = c.ints_attribute(name);
        return std::optional(std::vector<int64_t>(list.begin(), list.end()));
    }
    if (!c.has_input(i)) {
        return std::optional<std::vector<int64_t>>();
    }
    SDX_ASSIGN(std::vector<int64_t> list, c.ints(i));
    // Models of the standard's own test suite name the axis of Unsqueeze by a scalar.
    if (c.tensor(i).rank() != 1 && c.schema().name != "Unsqueeze") {
        return Error{fmt::format("input {} (`{}`) must have rank 1, not 0: write `[{}]`", i, name,
                                 list.front())};
    }
    return std::optional(std::move(list));
}

Status check_call(const ops::Schema& schema, std::span<const RuntimeValue* const> inputs,
                  size_t output_count) {
    if (inputs.size() < schema.minimum_inputs || inputs.size() > schema.maximum_inputs) {
        return Error{fmt::format(
            "{} inputs, but the operator takes {}", inputs.size(),
            schema.minimum_inputs == schema.maximum_inputs
                ? fmt::format("{}", schema.minimum_inputs)
                : fmt::format("{} to {}", schema.minimum_inputs, schema.maximum_inputs))};
    }
    if (output_count > schema.maximum_outputs) {
        return Error{fmt::format("{} outputs are wanted, but the operator has {}", output_count,
                                 schema.maximum_outputs)};
    }
    // The element type that each type variable stands for; tables have few variables.
    std::array<ElementType, 32> bound{};
    for (size_t i = 0; i < inputs.size(); ++i) {
        const ops::Parameter* parameter =
            &schema.inputs[std::min<size_t>(i, schema.inputs.size() - 1)];
        const RuntimeValue& value = *inputs[i];
        if (value.is_none() && parameter->option == ops::ParameterOption::kOptional) {
            continue;
        }
        const ops::TypeVariable& variable = schema.type_variables[parameter->type_variable];
        if (!admits(variable.types, value)) [[unlikely]] {
            return check_input(schema, *parameter, i, value);
        }
        if (!parameter->is_homogeneous || parameter->type_variable >= 32) {
            continue;
        }
        ElementType& first = bound[parameter->type_variable];
        ElementType type = element_of(value);
        if (first == ElementType::kUndefined) {
            first = type;
        } else if (type != first && type != ElementType::kUndefined) [[unlikely]] {
            return Error{
                fmt::format("input {} (`{}`) is {}, but an earlier input of type `{}` is {}", i,
                            parameter->name, value.describe(), variable.name, name(first))};
        }
    }
    return {};
}

namespace {

// The attributes that hold a number of TensorProto.DataType, in every operator that has them.
constexpr std::string_view kElementTypeAttributes[] = {
    "dtype", "output_datatype", "output_dtype", "precision", "softmax_precision", "stash_type",
    "to",
};

// What the text of the operator says of a value; nothing of a parameter of a function.
Status check_value(const ops::AttributeSchema& known, const ir::Attribute& attribute) {
    const std::string* text = attribute.get<std::string>();
    if (text != nullptr && !known.enumeration.empty() &&
        std::find(known.enumeration.begin(), known.enumeration.end(), *text) ==
            known.enumeration.end()) {
        return Error{fmt::format("attribute `{}` is `{}`, but must be one of `{}`", known.name,
                                 *text, fmt::join(known.enumeration, "`, `"))};
    }
    const auto* number = attribute.get<int64_t>();
    if (number != nullptr && element_type_from_number(*number) == ElementType::kUndefined &&
        !(known.has_default && *number == known.default_int) &&
        std::find(std::begin(kElementTypeAttributes), std::end(kElementTypeAttributes),
                  known.name) != std::end(kElementTypeAttributes)) {
        return Error{
            fmt::format("attribute `{}` is {}, which is no element type", known.name, *number)};
    }
    return {};
}

}  // namespace

Status check_attributes(const ops::Schema& schema, const AttributeView& attributes) {
    for (const ir::Attribute& written : attributes.all()) {
        const ir::Attribute* bound = attributes.resolve(written);
        const ir::Attribute& attribute = bound != nullptr ? *bound : written;
        const ops::AttributeSchema* known = schema.find_attribute(written.name);
        if (known == nullptr) {
            return Error{fmt::format("attribute `{}` is not one of version {} of the operator",
                                     written.name, schema.since_version)};
        }
        if (!same_attribute_type(attribute.type, known->type)) {
            return Error{fmt::format("attribute `{}` is {}, but must be {}", written.name,
                                     ir::name(attribute.type),
                                     ir::name(static_cast<ir::AttributeType>(known->type)))};
        }
        SDX_TRY(check_value(*known, attribute));
    }
    for (const ops::AttributeSchema& known : schema.attributes) {
        if (!known.is_required) {
            continue;
        }
        bool found = std::any_of(attributes.all().begin(), attributes.all().end(),
                                 [&](const ir::Attribute& a) { return a.name == known.name; });
        if (!found) {
            return Error{fmt::format("attribute `{}` is missing", known.name)};
        }
    }
    return {};
}

}  // namespace sardonyx::eval
