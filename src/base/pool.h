// Pool: objects with stable addresses that live as long as the pool. For objects with destructors;
// an Arena is for those without.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace sardonyx {

// Memory comes in blocks of kBlockCount objects; a std::deque has a block for each large object.
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
        if (size_ == blocks_.size() * kBlockCount) {
            blocks_.emplace_back(new Block);  // make_unique would clear the memory
        }
        T* object = new (address(size_)) T(std::forward<Args>(args)...);
        ++size_;
        return *object;
    }
    size_t size() const { return size_; }

  private:
    static constexpr size_t kBlockCount = 64;

    struct Block {
        alignas(T) std::byte memory[sizeof(T) * kBlockCount];
    };

    void* address(size_t index) {
        return blocks_[index / kBlockCount]->memory + index % kBlockCount * sizeof(T);
    }
    T* at(size_t index) { return std::launder(static_cast<T*>(address(index))); }

    std::vector<std::unique_ptr<Block>> blocks_;
    size_t size_ = 0;
};

}  // namespace sardonyx
