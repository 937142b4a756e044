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

// What a program says of memory besides the sizes and strides of its tensors.
enum class MemoryTold : uint8_t {
    kNothing,
    kOffsets,   // where tensors begin in their memory
    kStorages,  // which tensors share theirs, and where they begin, unless torch has loaded the
                // program from a file: then its views say neither
};

// Numbers the storages of all values where they are not told, and makes each `as_strided` one of
// the tensor that is all of the memory, whose elements lie in their order. Returns the writes that
// may reach what is not known to be shared, and each `as_strided` without such a tensor. `groups`
// says which weights share their memory: they have the same text.
std::vector<Problem> settle_storages(Program& program,
                                     const std::map<std::string, std::string, std::less<>>& groups,
                                     const FactsOf& facts_of, MemoryTold told);

}  // namespace sardonyx::torch
