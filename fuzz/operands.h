// What the fuzz targets of the evaluator make from bytes: numbers, tensors of odd shapes, and the
// attributes and operands that the schema of an operator admits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "eval/eval.h"
#include "ops/ops.h"

namespace sardonyx::fuzz {

// Reads bytes one by one; zeros past the end.
class Bytes {
  public:
    Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
    bool at_end() const { return at_ >= size_; }
    uint8_t next() { return at_ < size_ ? data_[at_++] : 0; }
    bool one_in(int count) { return next() % count == count - 1; }
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

inline Tensor make_tensor(Bytes& bytes, ElementType type, Dims dims) {
    Tensor tensor = Tensor::zeros(type, std::move(dims));
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
    if (int64_t used = tensor.count() * info(type).bits % 8; used != 0) {
        tensor.mutable_bytes().back() &=
            static_cast<std::byte>((1 << used) - 1);  // of packed types
    }
    return tensor;
}

inline Tensor make_tensor(Bytes& bytes, ElementType type) {
    Dims dims;
    int64_t rank = bytes.small(0, 4);
    for (int64_t d = 0; d < rank; ++d) {
        dims.push_back(bytes.small(0, 4));
    }
    return make_tensor(bytes, type, std::move(dims));
}

inline eval::RuntimeValue make_sequence(Bytes& bytes, ElementType type) {
    auto sequence = std::make_shared<eval::Sequence>();
    sequence->element_type = type;
    for (int64_t n = bytes.small(0, 3); n > 0; --n) {
        sequence->items.emplace_back(make_tensor(bytes, type));
    }
    return std::shared_ptr<const eval::Sequence>(std::move(sequence));
}

// kUndefined where the mask is empty.
inline ElementType choose(Bytes& bytes, ops::ElementMask mask) {
    int start = bytes.next() % 32;
    for (int i = 0; i < 32; ++i) {
        int type = (start + i) % 32;
        if (((mask >> type) & 1) != 0) {
            return static_cast<ElementType>(type);
        }
    }
    return ElementType::kUndefined;
}

// Nothing for graphs, sparse tensors and the like.
inline ir::AttributeValue make_value(Bytes& bytes, const ops::AttributeSchema& schema) {
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
        case ops::AttributeType::kStrings:
            return std::vector<std::string>(length,
                                            std::string(1, static_cast<char>('a' + length)));
        case ops::AttributeType::kTensor:
            return make_tensor(bytes, element_type_from_number(bytes.small(1, 28)));
        case ops::AttributeType::kTypeProto:
            return Type::tensor(element_type_from_number(bytes.small(1, 28)));
        default:
            return {};
    }
}

// The required attributes, and some of the others.
inline std::vector<ir::Attribute> make_attributes(Bytes& bytes, const ops::Schema& schema) {
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
    return attributes;
}

}  // namespace sardonyx::fuzz
