// Any bytes as a .npy file: no crash, and what is read is written so that it reads back the same.
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "weights/npy.h"

using sardonyx::ElementType;
using sardonyx::Result;
using sardonyx::Tensor;

static bool same(const Tensor& a, const Tensor& b) {
    if (a.element_type() != b.element_type() || a.dims() != b.dims()) {
        return false;
    }
    if (a.element_type() == ElementType::kString) {
        return true;  // bytes that are not UTF-8 come back as U+FFFD
    }
    return a.bytes().size() == b.bytes().size() &&
           (a.bytes().empty() ||
            std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    for (ElementType wanted : {ElementType::kUndefined, ElementType::kBfloat16, ElementType::kInt4,
                               ElementType::kFloat8E5M2}) {
        auto bytes = std::make_shared<std::vector<std::byte>>(size);
        if (size != 0) {
            std::memcpy(bytes->data(), data, size);
        }
        Result<Tensor> tensor = sardonyx::weights::read_npy(*bytes, bytes, wanted);
        if (!tensor.ok()) {
            continue;
        }
        Result<std::string> written = sardonyx::weights::write_npy(*tensor);
        if (!written.ok()) {
            continue;
        }
        std::span<const std::byte> copy = std::as_bytes(std::span<const char>(*written));
        Result<Tensor> back = sardonyx::weights::read_npy(copy, nullptr, tensor->element_type());
        SDX_CHECK(back.ok() && same(*tensor, *back));
    }
    return 0;
}
