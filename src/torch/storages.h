// What lies in the same memory, where nothing says it. Writes in place depend on it. What an
// operator gives is a view of its argument by what it does.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torch/program.h"
#include "torch/sizes.h"

namespace sardonyx::torch {

// What is known of a tensor; null: nothing.
struct TensorFacts {
    std::vector<Size> sizes;
    std::vector<Size> strides;
    int64_t element_type = 0;
};
using FactsOf = std::function<const TensorFacts*(std::string_view name)>;

// Numbers the storages of all values. Returns the writes that may reach what is not known to be
// shared. `groups` says which weights share their memory: they have the same text.
std::vector<Problem> number_storages(Program& program,
                                     const std::map<std::string, std::string, std::less<>>& groups,
                                     const FactsOf& facts_of);

}  // namespace sardonyx::torch
