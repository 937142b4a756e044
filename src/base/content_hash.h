// The hash of contents that are told apart by it alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sardonyx {

// Of the bytes in order, however they are cut. Two contents have one hash with a chance of 1 in
// 2^64.
uint64_t content_hash(std::span<const std::string_view> parts);

}  // namespace sardonyx
