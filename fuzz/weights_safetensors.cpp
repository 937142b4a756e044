// Any bytes as a .safetensors file and as an .npz archive: no crash, and each tensor that is read
// lies in the bytes or is no larger than they are.
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "weights/weights.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using sardonyx::weights::NamedTensors;
    auto bytes = std::make_shared<std::vector<std::byte>>(size);
    if (size != 0) {
        std::memcpy(bytes->data(), data, size);
    }
    for (auto read : {sardonyx::weights::read_safetensors, sardonyx::weights::read_npz}) {
        sardonyx::Result<NamedTensors> tensors = read(*bytes, bytes);
        if (!tensors.ok()) {
            continue;
        }
        for (const auto& [name, tensor] : *tensors) {
            bool is_text = tensor.element_type() == sardonyx::ElementType::kString;
            SDX_CHECK(is_text || tensor.bytes().size() <= size);
        }
    }
    return 0;
}
