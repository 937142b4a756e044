// SymbolMap and SymbolSet: tables by Symbol in two flat arrays, where std::unordered_map follows
// pointers and allocates for each name.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/interner.h"

namespace sardonyx {

// A dense array of entries, which few are looked for in one by one, and more by an open hash table
// into it: most scopes have few names. Entries stand in the order of insertion as long
// as none is erased; erasing one moves the last into its place. Pointers to values hold until the
// next insertion.
template <typename T>
class SymbolMap {
  public:
    struct Entry {
        Symbol symbol;
        T value;
    };

    size_t size() const { return entries_.size(); }
    bool empty() const { return entries_.empty(); }
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }
    auto begin() { return entries_.begin(); }
    auto end() { return entries_.end(); }

    const T* find(Symbol symbol) const {
        if (!slots_.empty()) {
            uint32_t place = slots_[slot_of(symbol)].place;
            return place == kEmpty ? nullptr : &entries_[place].value;
        }
        for (const Entry& entry : entries_) {
            if (entry.symbol == symbol) {
                return &entry.value;
            }
        }
        return nullptr;
    }
    T* find(Symbol symbol) { return const_cast<T*>(std::as_const(*this).find(symbol)); }
    bool contains(Symbol symbol) const { return find(symbol) != nullptr; }

    // The value of the symbol, a new one where there is none; whether it is new.
    std::pair<T*, bool> try_emplace(Symbol symbol) {
        if (slots_.empty()) {
            if (T* found = find(symbol)) {
                return {found, false};
            }
            if (entries_.size() < kFew) {
                entries_.reserve(kFew);
                entries_.push_back({symbol, T()});
                return {&entries_.back().value, true};
            }
        }
        if (2 * (entries_.size() + 1) > slots_.size()) {
            grow();
        }
        Slot& slot = slots_[slot_of(symbol)];
        bool is_new = slot.place == kEmpty;
        if (is_new) {
            slot = {symbol.index, static_cast<uint32_t>(entries_.size())};
            entries_.push_back({symbol, T()});
        }
        return {&entries_[slot.place].value, is_new};
    }
    T& operator[](Symbol symbol) { return *try_emplace(symbol).first; }

    void erase(Symbol symbol) {
        if (slots_.empty()) {
            auto found = std::find_if(entries_.begin(), entries_.end(),
                                      [symbol](const Entry& one) { return one.symbol == symbol; });
            if (found != entries_.end()) {
                *found = std::move(entries_.back());
                entries_.pop_back();
            }
            return;
        }
        size_t hole = slot_of(symbol);
        uint32_t place = slots_[hole].place;
        if (place == kEmpty) {
            return;
        }
        if (place + 1 != entries_.size()) {
            entries_[place] = std::move(entries_.back());
            slots_[slot_of(entries_[place].symbol)].place = place;
        }
        entries_.pop_back();
        // What was pushed behind the hole by it goes back (Knuth, TAOCP 6.4, algorithm R).
        size_t mask = slots_.size() - 1;
        for (size_t slot = (hole + 1) & mask; slots_[slot].place != kEmpty;
             slot = (slot + 1) & mask) {
            size_t home = home_of(slots_[slot].symbol);
            if (((slot - home) & mask) >= ((slot - hole) & mask)) {
                slots_[hole] = slots_[slot];
                hole = slot;
            }
        }
        slots_[hole].place = kEmpty;
    }

    void clear() {
        entries_.clear();
        slots_.clear();
    }

  private:
    static constexpr uint32_t kEmpty = UINT32_MAX;
    static constexpr size_t kFew = 8;

    struct Slot {
        uint32_t symbol = 0;
        uint32_t place = kEmpty;
    };

    // Where a symbol stands if nothing stands there. Symbols are dense: as their own hash they
    // would fill one stretch of the table, all of which erase() looks at (Knuth, TAOCP 6.4).
    size_t home_of(uint32_t symbol) const { return symbol * 0x9E3779B9U >> shift_; }

    // The slot that holds the symbol, or the empty one where it belongs.
    size_t slot_of(Symbol symbol) const {
        size_t mask = slots_.size() - 1;
        size_t slot = home_of(symbol.index);
        while (slots_[slot].place != kEmpty && slots_[slot].symbol != symbol.index) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    void grow() {
        slots_.assign(slots_.empty() ? 4 * kFew : 2 * slots_.size(), Slot());
        shift_ = 32 - std::countr_zero(static_cast<uint32_t>(slots_.size()));
        for (size_t i = 0; i < entries_.size(); ++i) {
            slots_[slot_of(entries_[i].symbol)] = {entries_[i].symbol.index,
                                                   static_cast<uint32_t>(i)};
        }
    }

    std::vector<Entry> entries_;
    std::vector<Slot> slots_;  // a power of two, at most half full; none as long as there are few
    int shift_ = 28;           // so many bits of a hash are not used
};

class SymbolSet {
  public:
    // Whether it is new.
    bool insert(Symbol symbol) { return map_.try_emplace(symbol).second; }
    bool contains(Symbol symbol) const { return map_.contains(symbol); }

  private:
    struct Nothing {};
    SymbolMap<Nothing> map_;
};

}  // namespace sardonyx
