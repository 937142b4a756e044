// Tables from keys to their places in a list, for the encoders of ai.onnx.ml.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sardonyx::eval {

// Open addressing: a slot has the place of a key. nan equals nan. T may be a string.
template <typename T>
class KeyTable {
  public:
    static constexpr int64_t kNone = -1;

    // Of equal keys the last counts.
    explicit KeyTable(std::span<const T> keys) : keys_(keys.begin(), keys.end()) {
        size_t size = std::bit_ceil(std::max<size_t>(4, 2 * keys.size()));
        shift_ = 64 - std::countr_zero(size);
        slots_.assign(size, kNone);
        for (size_t i = 0; i < keys_.size(); ++i) {
            int64_t& slot = slots_[slot_of(keys_[i])];
            distinct_ += slot == kNone ? 1 : 0;
            slot = static_cast<int64_t>(i);
        }
    }

    size_t distinct() const { return distinct_; }
    // kNone: it is no key.
    int64_t find(const T& key) const { return slots_[slot_of(key)]; }

  private:
    static bool is_equal(const T& a, const T& b) {
        if constexpr (std::is_floating_point_v<T>) {
            return a == b || (std::isnan(a) && std::isnan(b));
        } else {
            return a == b;
        }
    }
    static uint64_t hash(const T& key) {
        constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
        if constexpr (std::is_same_v<T, std::string>) {
            return std::hash<std::string_view>()(key) * kSpread;
        } else if constexpr (std::is_floating_point_v<T>) {
            double value = std::isnan(key) ? 0 : static_cast<double>(key) + 0.0;  // -0 is 0
            return std::bit_cast<uint64_t>(value) * kSpread;
        } else {
            return static_cast<uint64_t>(key) * kSpread;
        }
    }
    // The slot of the key, or the free one where it would go: at most half of them are taken.
    size_t slot_of(const T& key) const {
        size_t mask = slots_.size() - 1;
        size_t at = hash(key) >> shift_;
        while (slots_[at] != kNone && !is_equal(keys_[slots_[at]], key)) {
            at = (at + 1) & mask;
        }
        return at;
    }

    std::vector<T> keys_;
    std::vector<int64_t> slots_;
    int shift_ = 62;
    size_t distinct_ = 0;
};

}  // namespace sardonyx::eval
