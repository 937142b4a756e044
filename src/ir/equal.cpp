#include "ir/equal.h"

#include <algorithm>
#include <cstring>

namespace sardonyx::ir {
namespace {

bool same_floats(const float* a, const float* b, size_t count) {
    return count == 0 || std::memcmp(a, b, count * sizeof(float)) == 0;
}

bool same_sparse(const SparseTensor& a, const SparseTensor& b) {
    return a.dims == b.dims && same_tensor(a.values, b.values) && same_tensor(a.indices, b.indices);
}

}  // namespace

bool same_tensor(const Tensor& a, const Tensor& b) {
    if (a.element_type() != b.element_type() || a.dims() != b.dims()) {
        return false;
    }
    if (a.element_type() == ElementType::kString) {
        auto x = a.elements<std::string>(), y = b.elements<std::string>();
        return std::equal(x.begin(), x.end(), y.begin(), y.end());
    }
    return a.stored_bytes().empty() || std::memcmp(a.stored_bytes().data(), b.stored_bytes().data(),
                                                   a.stored_bytes().size()) == 0;
}

bool same_stored(const Value& a, const Value& b) {
    if (a.sparse != nullptr && b.sparse != nullptr) {
        return same_sparse(*a.sparse, *b.sparse);
    }
    return a.constant && b.constant && same_tensor(*a.constant, *b.constant);
}

bool same_value(const AttributeValue& a, const AttributeValue& b) {
    if (a.index() != b.index()) {
        return false;
    }
    if (const auto* x = std::get_if<float>(&a)) {
        return same_floats(x, &std::get<float>(b), 1);
    }
    if (const auto* x = std::get_if<std::vector<float>>(&a)) {
        const auto& y = std::get<std::vector<float>>(b);
        return x->size() == y.size() && same_floats(x->data(), y.data(), y.size());
    }
    if (const auto* x = std::get_if<Tensor>(&a)) {
        return same_tensor(*x, std::get<Tensor>(b));
    }
    if (const auto* x = std::get_if<int64_t>(&a)) {
        return *x == std::get<int64_t>(b);
    }
    if (const auto* x = std::get_if<std::string>(&a)) {
        return *x == std::get<std::string>(b);
    }
    if (const auto* x = std::get_if<std::vector<int64_t>>(&a)) {
        return *x == std::get<std::vector<int64_t>>(b);
    }
    if (const auto* x = std::get_if<std::vector<std::string>>(&a)) {
        return *x == std::get<std::vector<std::string>>(b);
    }
    if (const auto* x = std::get_if<SparseTensor>(&a)) {
        return same_sparse(*x, std::get<SparseTensor>(b));
    }
    if (const auto* x = std::get_if<std::vector<Tensor>>(&a)) {
        const auto& y = std::get<std::vector<Tensor>>(b);
        return std::equal(x->begin(), x->end(), y.begin(), y.end(), same_tensor);
    }
    if (const auto* x = std::get_if<std::vector<SparseTensor>>(&a)) {
        const auto& y = std::get<std::vector<SparseTensor>>(b);
        return std::equal(x->begin(), x->end(), y.begin(), y.end(), same_sparse);
    }
    if (const auto* x = std::get_if<std::vector<Type>>(&a)) {
        return *x == std::get<std::vector<Type>>(b);
    }
    if (std::holds_alternative<std::monostate>(a)) {
        return true;
    }
    const auto* x = std::get_if<Type>(&a);
    return x != nullptr && *x == std::get<Type>(b);
}

}  // namespace sardonyx::ir
