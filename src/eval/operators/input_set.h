// A set of the inputs of a node.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::eval {

// There is no room for the inputs from kCapacity on: none of them is ever in the set. Who cannot
// do without asks `has_room` first.
class InputSet {
  public:
    static constexpr size_t kCapacity = 64;
    static constexpr bool has_room(size_t count) { return count <= kCapacity; }

    constexpr bool contains(size_t i) const { return i < kCapacity && (bits_ >> i & 1) != 0; }
    constexpr bool is_empty() const { return bits_ == 0; }
    constexpr void add(size_t i) {
        if (i < kCapacity) {
            bits_ |= uint64_t{1} << i;
        }
    }
    constexpr bool operator==(const InputSet&) const = default;

  private:
    uint64_t bits_ = 0;
};

}  // namespace sardonyx::eval
