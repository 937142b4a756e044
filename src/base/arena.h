// Arena: bump allocation for immutable phases. Objects are never destroyed one by one, so they
// must be trivially destructible; the arena frees its blocks when it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sardonyx {

class Arena {
  public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    Arena(Arena&&) = default;
    Arena& operator=(Arena&&) = default;

    void* allocate(size_t size, size_t alignment) {
        uintptr_t start = (reinterpret_cast<uintptr_t>(next_) + alignment - 1) & ~(alignment - 1);
        if (start + size > reinterpret_cast<uintptr_t>(end_) || next_ == nullptr) {
            grow(size + alignment);
            start = (reinterpret_cast<uintptr_t>(next_) + alignment - 1) & ~(alignment - 1);
        }
        next_ = reinterpret_cast<std::byte*>(start + size);
        return reinterpret_cast<void*>(start);
    }

    template <typename T, typename... Args>
    T* make(Args&&... args) {
        static_assert(std::is_trivially_destructible_v<T>, "arena objects are never destroyed");
        return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
    }

    // Copies a list; an empty list takes no memory.
    template <typename T>
    std::span<T> copy(std::span<const T> items) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (items.empty()) {
            return {};
        }
        T* data = static_cast<T*>(allocate(items.size_bytes(), alignof(T)));
        std::memcpy(static_cast<void*>(data), items.data(), items.size_bytes());
        return {data, items.size()};
    }
    template <typename T>
    std::span<T> copy(const std::vector<T>& items) {
        return copy(std::span<const T>(items));
    }

    std::string_view copy_text(std::string_view text) {
        if (text.empty()) {
            return {};
        }
        char* data = static_cast<char*>(allocate(text.size(), 1));
        std::memcpy(data, text.data(), text.size());
        return {data, text.size()};
    }

  private:
    // Small things come in small blocks: to free a large one makes the C library give memory back
    // to the system, which it has to ask for again for the next script.
    static constexpr size_t kFirstBlock = 8 * 1024;
    static constexpr size_t kLargestBlock = 64 * 1024;

    void grow(size_t at_least) {
        size_t size = blocks_.size() < 3 ? kFirstBlock << blocks_.size() : kLargestBlock;
        size = at_least > size ? at_least : size;
        blocks_.push_back(std::unique_ptr<std::byte[]>(new std::byte[size]));
        next_ = blocks_.back().get();
        end_ = next_ + size;
    }

    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::byte* next_ = nullptr;
    std::byte* end_ = nullptr;
};

}  // namespace sardonyx
