// Operators of single elements as operators of whole batches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch/program.h"

namespace sardonyx::torch {

// What is known of a value.
struct ValueFacts {
    std::string type;  // such as `FLOAT[2, "n"]`; empty: it is not a tensor, or not known
    int64_t storage = 0;
};

// The values of a program by their names, and names that no value has.
class Values {
  public:
    explicit Values(const Program& program);

    const ValueFacts& facts(std::string_view name) const;
    void set_type(const std::string& name, std::string type) {
        facts_[name].type = std::move(type);
    }
    std::string fresh_name(std::string name);

  private:
    std::map<std::string, ValueFacts, std::less<>> facts_;
    std::set<std::string, std::less<>> taken_;
};

using Renames = std::unordered_map<std::string, std::string>;

// The nodes of a region of torch.vmap, from its first mark to its last, without marks; nothing: an
// operator has no form for batches here. `renames` gets the results that have another name now.
std::optional<std::vector<Node>> batched(const std::vector<Node>& region, Values& values,
                                         Renames& renames);

}  // namespace sardonyx::torch
