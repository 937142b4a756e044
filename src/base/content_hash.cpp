#include "base/content_hash.h"

#include <algorithm>
#include <cstring>

namespace sardonyx {
namespace {

uint64_t mixed(uint64_t hash, uint64_t value) {
    constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
    hash = (hash ^ value) * kFactor;
    return hash ^ (hash >> 29);
}

}  // namespace

void ContentHash::add_block(const char* block) {
    for (size_t i = 0; i < kLanes; ++i) {
        uint64_t word = 0;
        std::memcpy(&word, block + i * sizeof word, sizeof word);
        lanes_[i] = mixed(lanes_[i], word);
    }
}

void ContentHash::add(std::string_view bytes) {
    total_ += bytes.size();
    if (held_size_ != 0) {
        size_t taken = std::min(kBlock - held_size_, bytes.size());
        std::memcpy(held_.data() + held_size_, bytes.data(), taken);
        held_size_ += taken;
        bytes.remove_prefix(taken);
        if (held_size_ < kBlock) {
            return;
        }
        add_block(held_.data());
        held_size_ = 0;
    }
    while (bytes.size() >= kBlock) {
        add_block(bytes.data());
        bytes.remove_prefix(kBlock);
    }
    if (!bytes.empty()) {
        std::memcpy(held_.data(), bytes.data(), bytes.size());
    }
    held_size_ = bytes.size();
}

uint64_t ContentHash::value() const {
    uint64_t hash = total_;
    for (uint64_t lane : lanes_) {
        hash = mixed(hash, lane);
    }
    std::array<char, kBlock> rest = {};
    std::memcpy(rest.data(), held_.data(), held_size_);
    for (size_t i = 0; i < kLanes; ++i) {
        uint64_t word = 0;
        std::memcpy(&word, rest.data() + i * sizeof word, sizeof word);
        hash = mixed(hash, word);
    }
    return hash;
}

uint64_t content_hash(std::span<const std::string_view> parts) {
    ContentHash hash;
    for (std::string_view part : parts) {
        hash.add(part);
    }
    return hash.value();
}

}  // namespace sardonyx
