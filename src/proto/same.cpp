#include "proto/same.h"

#include <string>

#include "proto/proto.h"

namespace sardonyx::proto {
namespace {

// The bytes of the model without those of its larger tensors, which `external` has.
Result<std::string> frame_of(const ir::Model& model, External& external) {
    constexpr size_t kSmall = 1024;
    external.smallest = kSmall;
    return write_model(model, &external);
}

}  // namespace

Result<bool> is_same(const ir::Model& a, const ir::Model& b) {
    External of_a, of_b;
    SDX_ASSIGN(std::string frame_a, frame_of(a, of_a));
    SDX_ASSIGN(std::string frame_b, frame_of(b, of_b));
    return frame_a == frame_b && of_a.files == of_b.files;
}

}  // namespace sardonyx::proto
