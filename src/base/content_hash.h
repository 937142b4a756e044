// The hash of contents that are told apart by it alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sardonyx {

// Of the bytes in order, however they are cut. Two contents have one hash with a chance of 1 in
// 2^64.
class ContentHash {
  public:
    void add(std::string_view bytes);
    uint64_t value() const;

  private:
    static constexpr size_t kLanes = 4;  // independent of each other, so that they overlap
    static constexpr size_t kBlock = kLanes * sizeof(uint64_t);

    void add_block(const char* block);

    std::array<uint64_t, kLanes> lanes_ = {1, 2, 3, 4};
    std::array<char, kBlock> held_ = {};  // what is no block yet
    size_t held_size_ = 0;
    uint64_t total_ = 0;
};

uint64_t content_hash(std::span<const std::string_view> parts);

}  // namespace sardonyx
