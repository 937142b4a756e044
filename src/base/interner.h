// Interner: one copy of each string, and a dense 4-byte id for it, so that scopes can be vectors.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
            grow(texts_.size() + 1);
        }
        uint32_t hash = hash_of(text);
        size_t slot = find(text, hash);
        if (slots_[slot].index == kEmpty) {
            slots_[slot] = {hash, static_cast<uint32_t>(texts_.size())};
            texts_.push_back(arena_.copy_text(text));
        }
        return Symbol{slots_[slot].index};
    }

    // Makes room for so many more, so that the table need not be made anew as they come.
    void reserve(size_t more) {
        if (2 * (texts_.size() + more) > slots_.size()) {
            grow(texts_.size() + more);
            texts_.reserve(texts_.size() + more);
        }
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

    // Identifiers are short: their bytes are two words, overlapping where there are fewer than 16.
    static uint32_t hash_of(std::string_view text) {
        if (text.size() > 16) {
            return static_cast<uint32_t>(std::hash<std::string_view>()(text));
        }
        uint64_t first = 0, last = 0;
        if (text.size() >= 8) {
            std::memcpy(&first, text.data(), 8);
            std::memcpy(&last, text.data() + text.size() - 8, 8);
        } else if (text.size() >= 4) {
            std::memcpy(&first, text.data(), 4);
            std::memcpy(&last, text.data() + text.size() - 4, 4);
        } else if (!text.empty()) {
            first = static_cast<unsigned char>(text.front());
            last = static_cast<uint64_t>(static_cast<unsigned char>(text[text.size() / 2])) << 8 |
                   static_cast<unsigned char>(text.back());
        }
        uint64_t hash = (first + text.size()) * 0x9E3779B97F4A7C15U;
        hash = ((hash ^ hash >> 32) + last) * 0xC2B2AE3D27D4EB4FU;
        return static_cast<uint32_t>(hash >> 32);
    }

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

    void grow(size_t count) {
        std::vector<Slot> old = std::move(slots_);
        slots_.assign(std::max<size_t>(64, std::bit_ceil(2 * count + 1)), Slot());
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
