// A message of onnx.proto and what it holds, field by field, as no ir: what the forms of a model
// read and write. Internal to proto/.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "proto/messages.h"

namespace sardonyx::proto {

struct Message;

// One value of a field.
struct Item {
    uint64_t bits = 0;  // of integers (signed ones as 64 bits), float and double
    std::string_view bytes =
        {};  // of texts and bytes; they live as long as the document, or longer
    Message* message = nullptr;

    int64_t integer() const { return static_cast<int64_t>(bits); }
    float float32() const;
    double float64() const;
};

struct Field {
    const FieldInfo* info;
    std::vector<Item> items;  // one, unless it is repeated
};

struct Message {
    const MessageInfo* info;
    std::vector<Field> fields = {};  // by number; those that are there

    // Null and empty: not there.
    const Field* find(uint32_t number) const;
    const Item* item(uint32_t number) const;
    std::string_view text(uint32_t number) const;
    int64_t integer(uint32_t number) const;
    std::span<const Item> items(uint32_t number) const;
    // The field, which is made if it is not there.
    Field& at(const FieldInfo& wanted);
    // Another alternative of its message that is there; null: none.
    const Field* alternative_to(const FieldInfo& info) const;
};

class Document {
  public:
    // Of messages in messages: a graph in a graph is three. Protobuf's own readers stop at 100.
    static constexpr int kMaxDepth = 300;

    explicit Document(const MessageInfo& root, int64_t max_items = 100'000'000)
        : left_(max_items), root_{&root} {}
    Document(const Document&) = delete;
    Document& operator=(const Document&) = delete;

    Message& root() { return root_; }
    const Message& root() const { return root_; }
    Message* make(const MessageInfo& info) { return &messages_.emplace_back(Message{&info}); }
    std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
    // Counts values against the limit; false: there are too many.
    bool take(int64_t items = 1) { return (left_ -= items) >= 0; }

  private:
    int64_t left_;
    Message root_;
    std::deque<Message> messages_;
    std::deque<std::string> texts_;
};

uint64_t bits_of(float value);
uint64_t bits_of(double value);

// The bytes of a message into the document, whose texts are views of them. A field that onnx.proto
// does not have is an error: no form has a name for it.
Result<void> read_wire(std::string_view bytes, Document& document);
// The bytes, with the fields in the order of their numbers.
std::string write_wire(const Message& message);

}  // namespace sardonyx::proto
