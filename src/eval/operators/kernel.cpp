#include "eval/operators/kernel.h"

#include <algorithm>

#include <fmt/format.h>

namespace sardonyx::eval {
namespace {

const RuntimeValue kNone;

}  // namespace

std::string to_string(std::span<const int64_t> dims) {
    return fmt::format("[{}]", fmt::join(dims.begin(), dims.end(), ","));
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
    if (input.rank() != 1) {
        std::optional<std::vector<int64_t>> scalar = to_int64s(input, 1);
        const ops::Parameter* parameter = schema().input(i);
        return Error{fmt::format(
            "input {} (`{}`) must have rank 1, not {}{}", i,
            parameter != nullptr ? parameter->name : "", input.rank(),
            scalar && scalar->size() == 1 ? fmt::format(": write `[{}]`", scalar->front()) : "")};
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
    if (!dying_.contains(in)) {
        return false;
    }
    const Tensor& input = tensor(in);
    return input.element_type() == type && input.dims() == dims && input.is_unique();
}

std::shared_ptr<Sequence> KernelContext::changeable_sequence(size_t in) const {
    const std::shared_ptr<const Sequence>& own = value(in).sequence_pointer();
    bool is_ours = dying_.contains(in) && own.use_count() == 1;
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
    // Models of the standard's own test suite name the axis of Unsqueeze by a scalar.
    if (c.rank(i) == 0 && c.schema().name == "Unsqueeze") {
        SDX_ASSIGN(int64_t axis, c.int_scalar(i));
        return std::optional(std::vector<int64_t>{axis});
    }
    SDX_ASSIGN(std::vector<int64_t> list, c.ints(i));
    return std::optional(std::move(list));
}

}  // namespace sardonyx::eval
