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
    Size offset;  // of its first element in its memory
};
using FactsOf = std::function<const TensorFacts*(std::string_view name)>;

// Numbers the storages of all values. Returns the writes that may reach what is not known to be
// shared. `groups` says which weights share their memory: they have the same text.
std::vector<Problem> number_storages(Program& program,
                                     const std::map<std::string, std::string, std::less<>>& groups,
                                     const FactsOf& facts_of);

// Whether views have the storages of their bases. They do not in a program that torch has loaded
// from a file, whose tensors do not say either where they begin.
bool tells_views(const Program& program);

// Makes each `as_strided` one of the tensor that is all of the memory, whose elements lie in their
// order. Returns those without such a tensor. The storages are numbered; `has_offsets`: the facts
// say where tensors begin.
std::vector<Problem> resolve_strided(Program& program, const FactsOf& facts_of,
                                     bool has_offsets = true);

}  // namespace sardonyx::torch
