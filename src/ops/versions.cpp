#include "ops/versions.h"

#include <fmt/format.h>

#include <limits>

#include "ops/ops.h"
#include "types/domain.h"

namespace sardonyx::ops {

std::string version_problem(std::string_view domain, int64_t version) {
    const DomainInfo* known = find_domain(normal_domain(domain));
    std::string_view shown = shown_domain(normal_domain(domain));
    if (version < 1 || version > std::numeric_limits<int32_t>::max()) {
        return fmt::format("version {} of the domain `{}` cannot be", version, shown);
    }
    return known != nullptr && version > known->newest_version
               ? fmt::format("the newest version of the domain `{}` is {}, not {}", shown,
                             known->newest_version, version)
               : std::string();
}

std::string ir_version_problem(int64_t version) {
    constexpr int64_t kOldest = 3;
    return version < kOldest || version > newest_ir_version()
               ? fmt::format("the IR version is {}; versions {} to {} can be read", version,
                             kOldest, newest_ir_version())
               : std::string();
}

}  // namespace sardonyx::ops
