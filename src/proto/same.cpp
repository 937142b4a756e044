#include "proto/same.h"

#include <algorithm>
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

// What lies in one place is not read.
bool is_equal(std::string_view a, std::string_view b) {
    return a.size() == b.size() && (a.data() == b.data() || a == b);
}

bool is_equal(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](std::string_view x, std::string_view y) { return is_equal(x, y); });
}

}  // namespace

Result<bool> is_same(const ir::Model& a, const ir::Model& b) {
    External of_a, of_b;
    SDX_ASSIGN(std::string frame_a, frame_of(a, of_a));
    SDX_ASSIGN(std::string frame_b, frame_of(b, of_b));
    return frame_a == frame_b &&
           std::equal(of_a.files.begin(), of_a.files.end(), of_b.files.begin(), of_b.files.end(),
                      [](const auto& x, const auto& y) { return is_equal(x, y); });
}

}  // namespace sardonyx::proto
