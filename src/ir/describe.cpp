#include "ir/describe.h"

#include <fmt/format.h>

namespace sardonyx::ir {

std::string describe(const Node& node) {
    std::string type = node.domain.empty() ? std::string(node.op_type)
                                           : fmt::format("{}.{}", node.domain, node.op_type);
    if (!node.name.empty()) {
        return fmt::format("node `{}` (`{}`)", node.name, type);
    }
    std::string_view output = node.output_count() > 0 ? node.output()->name : "";
    return output.empty() ? fmt::format("node `{}`", type)
                          : fmt::format("the node of `{}` (`{}`)", output, type);
}

}  // namespace sardonyx::ir
