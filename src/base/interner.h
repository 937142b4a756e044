// Interner: one copy of each string, and a dense 4-byte id for it, so that scopes can be vectors.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/arena.h"

namespace sardonyx {

// Ids are dense from 0 in the order of first sight: deterministic for the same input.
struct Symbol {
    uint32_t index = UINT32_MAX;

    bool valid() const { return index != UINT32_MAX; }
    friend bool operator==(Symbol, Symbol) = default;
};

class Interner {
  public:
    Symbol intern(std::string_view text) {
        auto found = ids_.find(text);
        if (found != ids_.end()) {
            return Symbol{found->second};
        }
        uint32_t index = static_cast<uint32_t>(texts_.size());
        std::string_view kept = arena_.copy_text(text);
        texts_.push_back(kept);
        ids_.emplace(kept, index);
        return Symbol{index};
    }

    // Valid as long as the interner lives.
    std::string_view text(Symbol symbol) const { return texts_[symbol.index]; }
    size_t size() const { return texts_.size(); }

  private:
    Arena arena_;
    std::vector<std::string_view> texts_;
    std::unordered_map<std::string_view, uint32_t> ids_;
};

}  // namespace sardonyx
