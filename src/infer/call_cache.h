// What calls of model-local functions have given before.
//
// A function is called from many places with inputs of the same types, and calls others: without a
// memory a chain of functions that call the next one twice would be walked exponentially often.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "infer/subgraph.h"

namespace sardonyx::infer {

// What the call of a function depends on. Empty text: on something that is not compared (a graph).
struct CallKey {
    std::string text;
    std::vector<Tensor> kept;  // those that the text tells apart by where they are stored
};

CallKey call_key(const Context& context, const ir::Function& function,
                 std::span<ir::Value* const> inputs, std::span<const ir::Attribute> attributes);

class CallCache {
  public:
    // The results of an earlier call; sizes that were unknown there get names of their own.
    std::optional<std::vector<Knowledge>> find(const CallKey& key, int* fresh_dims) const;
    // `first_fresh`: the number of the first fresh dim that the call itself may have made.
    void add(CallKey key, const std::vector<Knowledge>& results, int first_fresh);

    // Counts the calls that could not be followed to their end: what depends on one is not kept.
    int unfinished = 0;

  private:
    struct Entry {
        std::vector<Knowledge> results;
        std::vector<Tensor> kept;
        int first_fresh = 0;
    };
    std::unordered_map<std::string, Entry> entries_;
};

}  // namespace sardonyx::infer
