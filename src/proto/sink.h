// Three sinks for one description of a message: SizeSink measures it, ByteSink writes it, and
// PartSink writes it but for what is large and has memory of its own.
//
// A protobuf message is preceded by its length, so each message is described twice, in the same
// order: SizeSink keeps the length of every message inside, ByteSink takes them one by one. The
// result is written straight into a buffer of exactly its size; nothing is moved or copied twice.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "proto/proto.h"
#include "proto/wire.h"

namespace sardonyx::proto {

// From so many bytes on, what outlives the writing is not copied into the parts.
inline constexpr size_t kLargeBytes = 4096;

class SizeSink {
  public:
    void varint(uint32_t field, int64_t value) {
        size_ += key_size(field) +
                 static_cast<size_t>(protozero::length_of_varint(static_cast<uint64_t>(value)));
    }
    void fixed32(uint32_t field, float) { size_ += key_size(field) + sizeof(float); }
    void bytes(uint32_t field, std::string_view bytes) {
        size_ += key_size(field) + bytes.size() +
                 static_cast<size_t>(protozero::length_of_varint(bytes.size()));
    }
    // Bytes that outlive the writing.
    void lasting(uint32_t field, std::string_view bytes) {
        this->bytes(field, bytes);
        large_ += bytes.size() < kLargeBytes ? 0 : bytes.size();
    }
    template <typename Body>
    void message(uint32_t field, Body body) {
        size_t slot = sizes_.size();
        sizes_.push_back(0);
        size_t before = size_;
        body();
        size_t size = size_ - before;
        sizes_[slot] = size;
        size_ += key_size(field) + static_cast<size_t>(protozero::length_of_varint(size));
    }
    // Fields that are serialised already, with their keys.
    void fields(std::string_view bytes) { size_ += bytes.size(); }

    size_t size() const { return size_; }
    size_t large() const { return large_; }
    std::vector<size_t> take_sizes() { return std::move(sizes_); }

  private:
    static size_t key_size(uint32_t field) { return field < 16 ? 1 : 2; }

    size_t size_ = 0;
    size_t large_ = 0;
    std::vector<size_t> sizes_;
};

class ByteSink {
  public:
    ByteSink(std::vector<size_t> sizes, std::string* target)
        : sizes_(std::move(sizes)), next_(target->data()), end_(next_ + target->size()) {}

    void varint(uint32_t field, int64_t value) {
        put_varint(varint_field(field));
        put_varint(static_cast<uint64_t>(value));
    }
    void fixed32(uint32_t field, float value) {
        put_varint(fixed32_field(field));
        put(&value, sizeof value);
    }
    void bytes(uint32_t field, std::string_view bytes) {
        put_varint(bytes_field(field));
        put_varint(bytes.size());
        put(bytes.data(), bytes.size());
    }
    void lasting(uint32_t field, std::string_view bytes) { this->bytes(field, bytes); }
    template <typename Body>
    void message(uint32_t field, Body body) {
        put_varint(bytes_field(field));
        put_varint(sizes_[message_++]);
        body();
    }
    void fields(std::string_view bytes) { put(bytes.data(), bytes.size()); }

    bool is_full() const { return next_ == end_; }

  protected:
    const char* next() const { return next_; }
    void put_varint(uint64_t value) {
        if (value < 0x80) {  // most keys and sizes
            *next_++ = static_cast<char>(value);
        } else {
            next_ += protozero::add_varint_to_buffer(next_, value);
        }
    }

  private:
    void put(const void* data, size_t size) {
        if (size != 0) {
            std::memcpy(next_, data, size);
            next_ += size;
        }
    }

    std::vector<size_t> sizes_;
    size_t message_ = 0;
    char* next_;
    const char* end_;
};

// Bytes in pieces: those of `own`, and between them what lies elsewhere.
class PartSink : public ByteSink {
  public:
    // `own`: of the size that was measured without what is large.
    PartSink(std::vector<size_t> sizes, std::string* own)
        : ByteSink(std::move(sizes), own), begin_(own->data()) {}

    void lasting(uint32_t field, std::string_view bytes) {
        if (bytes.size() < kLargeBytes) {
            this->bytes(field, bytes);
            return;
        }
        put_varint(bytes_field(field));
        put_varint(bytes.size());
        others_.push_back({static_cast<size_t>(next() - begin_), bytes});
    }

    std::vector<ModelParts::Other> take_others() { return std::move(others_); }

  private:
    const char* begin_;
    std::vector<ModelParts::Other> others_;
};

// The bytes of what `describe` tells a sink, which has told it to `measure` before.
template <typename Describe>
std::string write_measured(SizeSink measure, Describe describe) {
    std::string result(measure.size(), '\0');
    ByteSink sink(measure.take_sizes(), &result);
    describe(sink);
    SDX_CHECK(sink.is_full());
    return result;
}

}  // namespace sardonyx::proto
