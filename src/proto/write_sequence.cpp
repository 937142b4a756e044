// A SequenceProto, which stands in files of test data alone.
#include <cstdint>

#include "proto/proto.h"

namespace sardonyx::proto {
namespace {

void put_number(std::string& bytes, uint64_t number) {
    constexpr uint64_t kMore = 0x80;
    for (; number >= kMore; number >>= 7U) {
        bytes += static_cast<char>(number | kMore);
    }
    bytes += static_cast<char>(number);
}

void put_field(std::string& bytes, char key, std::string_view content) {
    bytes += key;
    put_number(bytes, content.size());
    bytes += content;
}

}  // namespace

std::string write_sequence(std::span<const Tensor> tensors, std::string_view name) {
    constexpr char kName = 0x0A, kElementType = 0x10, kTensorValues = 0x1A;
    constexpr char kOfTensors = 1;
    std::string bytes;
    put_field(bytes, kName, name);
    bytes += kElementType;
    bytes += kOfTensors;
    for (const Tensor& one : tensors) {
        put_field(bytes, kTensorValues, write_tensor(one, {}));
    }
    return bytes;
}

}  // namespace sardonyx::proto
