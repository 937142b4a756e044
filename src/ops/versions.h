// Which versions of domains and of the format there are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sardonyx::ops {

// Why there is no such version; empty: there is, or there may be one of a domain that the tables do
// not know. What a later release of the standard means by its operators nobody here can know.
std::string version_problem(std::string_view domain, int64_t version);
// The same of ModelProto.ir_version.
std::string ir_version_problem(int64_t version);

}  // namespace sardonyx::ops
