// Memory for the elements of tensors: small blocks with their counter in one piece, large ones
// aligned and used again.

#include "types/allocation.h"

#include <array>
#include <atomic>
#include <utility>

#include "types/tensor.h"

namespace sardonyx {

namespace {

constexpr size_t kAlignment = 64;

// Room for kSize aligned bytes wherever the block itself lies.
template <size_t kSize>
struct SmallBlock {
    std::array<std::byte, kSize + kAlignment - 1> bytes;
};

template <size_t kSize>
std::shared_ptr<std::byte> allocate_small() {
    auto block = std::make_shared<SmallBlock<kSize>>();
    auto address = reinterpret_cast<uintptr_t>(block->bytes.data());
    std::byte* aligned = block->bytes.data() + (-address & (kAlignment - 1));
    return {std::move(block), aligned};
}

constexpr std::align_val_t kAlign{kAlignment};

// What stands before the bytes of a large storage.
struct alignas(kAlignment) LargeBlock {
    size_t capacity;

    std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }
};

// Large storage that has become free, kept for the tensors to come: the system clears each page
// that it hands out anew, which takes longer than adding two tensors. Never destroyed, since
// tensors may go after static objects have gone.
class FreeBlocks {
  public:
    static constexpr size_t kSmallest = size_t{64} << 10;  // bytes; below, malloc keeps them itself
    static constexpr size_t kLargest = size_t{64} << 20;
    static constexpr size_t kMost = size_t{128} << 20;  // of all together
    static constexpr size_t kSlots = 16;

    // A block of at least `size` bytes, and not many more; null: there is none.
    LargeBlock* take(size_t size) {
        for (std::atomic<LargeBlock*>& slot : slots_) {
            // Nothing of a block is read before it is taken out: another thread might free it.
            LargeBlock* block = slot.load() != nullptr ? slot.exchange(nullptr) : nullptr;
            if (block != nullptr && block->capacity >= size && block->capacity / 2 <= size) {
                bytes_ -= block->capacity;
                return block;
            }
            if (block != nullptr) {
                drop(slot.exchange(block));
            }
        }
        return nullptr;
    }
    // Takes the block in, in place of older ones if need be.
    void give(LargeBlock* block) {
        bytes_ += block->capacity;
        for (size_t i = 0; i < kSlots && bytes_ > kMost; ++i) {
            drop(oldest().exchange(nullptr));
        }
        for (std::atomic<LargeBlock*>& slot : slots_) {
            LargeBlock* empty = nullptr;
            if (slot.compare_exchange_strong(empty, block)) {
                return;
            }
        }
        drop(oldest().exchange(block));
    }

  private:
    std::atomic<LargeBlock*>& oldest() { return slots_[next_.fetch_add(1) % kSlots]; }
    void drop(LargeBlock* block) {
        if (block != nullptr) {
            bytes_ -= block->capacity;
            ::operator delete(block, kAlign);
        }
    }

    std::array<std::atomic<LargeBlock*>, kSlots> slots_{};
    std::atomic<size_t> next_{0};
    std::atomic<size_t> bytes_{0};
};

constinit FreeBlocks free_blocks;

std::shared_ptr<std::byte> allocate_large(size_t size) {
    LargeBlock* block = free_blocks.take(size);
    if (block == nullptr) {
        block = new (::operator new(sizeof(LargeBlock) + size, kAlign)) LargeBlock{size};
    }
    return {block->bytes(), [block](std::byte*) { free_blocks.give(block); }};
}

}  // namespace

std::shared_ptr<std::byte> allocate(size_t size) {
    if (size == 0) {
        return nullptr;
    }
    if (size <= 64) {
        return allocate_small<64>();
    }
    if (size <= 256) {
        return allocate_small<256>();
    }
    if (size >= FreeBlocks::kSmallest && size <= FreeBlocks::kLargest) {
        return allocate_large(size);
    }
    return {static_cast<std::byte*>(::operator new(size, kAlign)),
            [](std::byte* data) { ::operator delete(data, kAlign); }};
}

}  // namespace sardonyx
