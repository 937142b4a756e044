// Pool: objects with stable addresses that live as long as the pool. For objects with destructors;
// an Arena is for those without.
#pragma once

#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace sardonyx {

// Memory comes in blocks, each twice as large as the one before it, so that a small model takes
// little; a std::deque has a block for each large object.
template <typename T>
class Pool {
  public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() {
        for (size_t i = size_; i > 0; --i) {
            at(i - 1)->~T();
        }
    }

    template <typename... Args>
    T& make(Args&&... args) {
        if (size_ == begin_of(blocks_.size())) {
            size_t count = kFirstCount << blocks_.size();
            blocks_.emplace_back(new Place[count]);  // make_unique would clear the memory
        }
        T* object = new (address(size_)) T(std::forward<Args>(args)...);
        ++size_;
        return *object;
    }
    size_t size() const { return size_; }

  private:
    static constexpr size_t kFirstCount = 8;

    struct Place {
        alignas(T) std::byte memory[sizeof(T)];
    };

    // The number of objects in the blocks before this one.
    static size_t begin_of(size_t block) { return (kFirstCount << block) - kFirstCount; }
    void* address(size_t index) {
        size_t block = static_cast<size_t>(std::bit_width(index / kFirstCount + 1)) - 1;
        return blocks_[block][index - begin_of(block)].memory;
    }
    T* at(size_t index) { return std::launder(static_cast<T*>(address(index))); }

    std::vector<std::unique_ptr<Place[]>> blocks_;
    size_t size_ = 0;
};

}  // namespace sardonyx
