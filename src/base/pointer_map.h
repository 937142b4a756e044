// PointerMap: a table by the addresses of objects, where std::unordered_map divides, and follows
// pointers, to find one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace sardonyx {

// Nothing is erased; pointers to values hold as long as the map.
template <typename Key, typename T>
class PointerMap {
  public:
    // In the order of insertion.
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

    // The value of the key, a new one where there is none; whether it is new.
    std::pair<T*, bool> try_emplace(const Key* key) {
        if (2 * (values_.size() + 1) > slots_.size()) {
            grow();
        }
        Slot& slot = slots_[slot_of(key)];
        bool is_new = slot.value == nullptr;
        if (is_new) {
            slot = {key, &values_.emplace_back()};
        }
        return {slot.value, is_new};
    }

  private:
    struct Slot {
        const Key* key = nullptr;
        T* value = nullptr;  // null: empty
    };

    // The slot that holds the key, or the empty one where it belongs.
    size_t slot_of(const Key* key) const {
        size_t mask = slots_.size() - 1;
        // The product's upper bits are those that all bits of the address decide.
        size_t slot =
            (static_cast<uint64_t>(reinterpret_cast<uintptr_t>(key)) * 0x9E3779B97F4A7C15U >> 32) &
            mask;
        while (slots_[slot].value != nullptr && slots_[slot].key != key) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    void grow() {
        std::vector<Slot> old(std::max<size_t>(32, 2 * slots_.size()));
        old.swap(slots_);
        for (const Slot& one : old) {
            if (one.value != nullptr) {
                slots_[slot_of(one.key)] = one;
            }
        }
    }

    std::deque<T> values_;
    std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace sardonyx
