#include "calls/unknown.h"

#include <span>

#include "ops/ops.h"
#include "ops/substitutes.h"
#include "types/domain.h"

namespace sardonyx::calls {

std::string unknown_operator(std::string_view domain, int64_t version, std::string_view name) {
    domain = normal_domain(domain);
    std::string message = "opset " + std::to_string(version) + " of `" +
                          std::string(shown_domain(domain)) + "` has no operator `" +
                          std::string(name) + "`";
    std::span<const ops::Schema> versions = ops::schema_versions(domain, name);
    std::string_view near = ops::nearest_operator(domain, name, version);
    if (!versions.empty()) {
        return message + ": it came with opset " + std::to_string(versions.front().since_version);
    }
    if (std::string_view words = ops::substitute(name); domain.empty() && !words.empty()) {
        return message + ": " + std::string(words);
    }
    return near.empty() ? message : message + ": did you mean `" + std::string(near) + "`?";
}

}  // namespace sardonyx::calls
