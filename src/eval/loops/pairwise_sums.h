// Sums of vectors that are added to their neighbours in pairs, so that the error grows with the
// logarithm of their number.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sardonyx::eval {

inline constexpr int kVectorBytes = 64;

// Sums of blocks, kCount beside each other, as they come; blocks are added to their neighbours, and
// these sums to theirs, as in a binary counter.
template <typename S, int kCount>
class PairwiseSums {
  public:
    typedef S Vector __attribute__((vector_size(kVectorBytes)));  // NOLINT(modernize-use-using)

    [[gnu::always_inline]] void add(const Vector* sums) {
        Vector carried[kCount];
        std::copy(sums, sums + kCount, carried);
        int level = 0;
        for (; ((blocks_ >> level) & 1) != 0; ++level) {
            for (int i = 0; i < kCount; ++i) {
                carried[i] = levels_[level][i] + carried[i];
            }
        }
        std::copy(carried, carried + kCount, levels_[level]);
        ++blocks_;
    }
    // The sums of all blocks and of `sums`, the last one, in `sums`.
    [[gnu::always_inline]] void finish(Vector* sums) const {
        for (int level = 0; (blocks_ >> level) != 0; ++level) {
            for (int i = 0; i < kCount && ((blocks_ >> level) & 1) != 0; ++i) {
                sums[i] = levels_[level][i] + sums[i];
            }
        }
    }

  private:
    int64_t blocks_ = 0;
    Vector levels_[44][kCount];  // a level for each bit of the number of blocks in memory
};

}  // namespace sardonyx::eval
