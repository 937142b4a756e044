// One operator of any version on small tensors of the types that its schema admits, with attributes
// from anywhere: a result or an error, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "eval/eval.h"
#include "ops/ops.h"

namespace {

using namespace sardonyx;

class Bytes {
  public:
    Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
    uint8_t next() { return at_ < size_ ? data_[at_++] : 0; }
    int64_t small(int64_t low, int64_t high) { return low + next() % (high - low + 1); }
    // Mostly small, sometimes at the ends of the range.
    int64_t number() {
        constexpr int64_t kEnds[] = {INT64_MAX, INT64_MIN, INT32_MAX, int64_t{1} << 40, -1, 0};
        return next() < 240 ? small(-3, 6) : kEnds[next() % 6];
    }

  private:
    const uint8_t* data_;
    size_t size_;
    size_t at_ = 0;
};

Tensor make_tensor(Bytes& bytes, ElementType type) {
    Dims dims;
    int64_t rank = bytes.small(0, 4);
    for (int64_t d = 0; d < rank; ++d) {
        dims.push_back(bytes.small(0, 4));
    }
    Tensor tensor = Tensor::zeros(type, dims);
    if (type == ElementType::kString) {
        for (std::string& text : tensor.mutable_elements<std::string>()) {
            text.assign(bytes.next() % 4, static_cast<char>('0' + bytes.next() % 12));
        }
        return tensor;
    }
    if (is_integer(type) && info(type).bits == 64) {
        for (int64_t& element : tensor.mutable_elements<int64_t>()) {
            element = bytes.number();
        }
        return tensor;
    }
    for (std::byte& byte : tensor.mutable_bytes()) {
        byte = static_cast<std::byte>(type == ElementType::kBool ? bytes.next() % 2 : bytes.next());
    }
    return tensor;
}

ElementType choose(Bytes& bytes, ops::ElementMask mask) {
    int start = bytes.next() % 32;
    for (int i = 0; i < 32; ++i) {
        int type = (start + i) % 32;
        if (((mask >> type) & 1) != 0) {
            return static_cast<ElementType>(type);
        }
    }
    return ElementType::kUndefined;
}

std::vector<eval::RuntimeValue> make_inputs(Bytes& bytes, const ops::Schema& schema) {
    std::vector<eval::RuntimeValue> inputs;
    std::vector<ElementType> bound(schema.type_variables.size(), ElementType::kUndefined);
    size_t count = schema.minimum_inputs + bytes.next() % 4u;
    for (size_t i = 0; i < count && i < schema.maximum_inputs; ++i) {
        const ops::Parameter* parameter = schema.input(i);
        const ops::TypeSet& types = schema.type_variables[parameter->type_variable].types;
        ElementType& type = bound[parameter->type_variable];
        if (type == ElementType::kUndefined) {
            type = choose(bytes, types.tensor | types.sequence | types.optional_tensor);
        }
        if (type == ElementType::kUndefined || bytes.next() < 8) {
            inputs.emplace_back();
        } else if (types.sequence != 0 && (types.tensor == 0 || bytes.next() % 2 == 0)) {
            auto sequence = std::make_shared<eval::Sequence>();
            sequence->element_type = type;
            for (int64_t n = bytes.small(0, 3); n > 0; --n) {
                sequence->items.emplace_back(make_tensor(bytes, type));
            }
            inputs.emplace_back(std::shared_ptr<const eval::Sequence>(std::move(sequence)));
        } else {
            inputs.emplace_back(make_tensor(bytes, type));
        }
    }
    return inputs;
}

ir::AttributeValue make_value(Bytes& bytes, const ops::AttributeSchema& schema) {
    size_t length = bytes.next() % 5u;
    switch (schema.type) {
        case ops::AttributeType::kInt:
            return schema.name == "to" || schema.name.find("dtype") != std::string_view::npos
                       ? bytes.small(0, 29)
                       : bytes.number();
        case ops::AttributeType::kFloat:
            return static_cast<float>(bytes.number()) / 2;
        case ops::AttributeType::kString:
            if (schema.enumeration.empty()) {
                return std::string(length, static_cast<char>(bytes.next()));
            }
            return std::string(schema.enumeration[bytes.next() % schema.enumeration.size()]);
        case ops::AttributeType::kInts: {
            std::vector<int64_t> list;
            for (size_t i = 0; i < length; ++i) {
                list.push_back(bytes.number());
            }
            return list;
        }
        case ops::AttributeType::kFloats:
            return std::vector<float>(length, static_cast<float>(bytes.number()));
        case ops::AttributeType::kTensor:
            return make_tensor(bytes, element_type_from_number(bytes.small(1, 28)));
        default:
            return {};
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Bytes bytes(data, size);
    size_t index = bytes.next() + 256u * bytes.next();
    const ops::Schema& schema = ops::schemas()[index % ops::schemas().size()];
    std::vector<eval::RuntimeValue> inputs = make_inputs(bytes, schema);
    std::vector<ir::Attribute> attributes;
    for (const ops::AttributeSchema& attribute : schema.attributes) {
        ir::AttributeValue value;
        if (attribute.is_required || bytes.next() % 2 == 0) {
            value = make_value(bytes, attribute);
        }
        if (!std::holds_alternative<std::monostate>(value)) {
            attributes.push_back(ir::make_attribute(attribute.name, std::move(value)));
        }
    }
    size_t outputs = schema.minimum_outputs + bytes.next() % 3u;
    eval::RunOptions options;
    options.max_steps = 1000;
    options.max_bytes = 1 << 20;
    auto result = eval::run_operator(schema.domain, schema.name, schema.since_version, inputs,
                                     attributes, outputs, options);
    (void)result.ok();
    return 0;
}
