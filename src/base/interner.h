// Interner: one copy of each string, and a dense 4-byte id for it, so that scopes can be vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
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
        if (2 * texts_.size() >= slots_.size()) {
            grow();
        }
        uint32_t hash = static_cast<uint32_t>(std::hash<std::string_view>()(text));
        size_t slot = find(text, hash);
        if (slots_[slot].index == kEmpty) {
            slots_[slot] = {hash, static_cast<uint32_t>(texts_.size())};
            texts_.push_back(arena_.copy_text(text));
        }
        return Symbol{slots_[slot].index};
    }

    // Valid as long as the interner lives. Empty for a name that could not be parsed.
    std::string_view text(Symbol symbol) const {
        return symbol.valid() ? texts_[symbol.index] : std::string_view();
    }
    size_t size() const { return texts_.size(); }

  private:
    static constexpr uint32_t kEmpty = UINT32_MAX;

    // An open hash table, at most half full, probed in sequence: a look-up touches one line of it,
    // where a std::unordered_map follows pointers through a node for each text.
    struct Slot {
        uint32_t hash = 0;
        uint32_t index = kEmpty;
    };

    // The slot that holds the text, or the empty one where it belongs.
    size_t find(std::string_view text, uint32_t hash) const {
        size_t mask = slots_.size() - 1;
        size_t slot = hash & mask;
        while (slots_[slot].index != kEmpty &&
               (slots_[slot].hash != hash || texts_[slots_[slot].index] != text)) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    void grow() {
        std::vector<Slot> old = std::move(slots_);
        slots_.assign(old.empty() ? 64 : 2 * old.size(), Slot());
        size_t mask = slots_.size() - 1;
        for (const Slot& entry : old) {
            if (entry.index == kEmpty) {
                continue;
            }
            size_t slot = entry.hash & mask;
            while (slots_[slot].index != kEmpty) {
                slot = (slot + 1) & mask;
            }
            slots_[slot] = entry;
        }
    }

    Arena arena_;
    std::vector<std::string_view> texts_;
    std::vector<Slot> slots_;
};

}  // namespace sardonyx
