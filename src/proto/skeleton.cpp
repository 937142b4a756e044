#include "proto/skeleton.h"

#include <fmt/format.h>

#include <functional>
#include <unordered_map>

#include "base/content_hash.h"
#include "proto/document.h"
#include "proto/fields.h"

namespace sardonyx::proto {
namespace {

constexpr size_t kLarge = 64;  // bytes; the name of a content takes some, too

void for_each_tensor(Message& message, const std::function<void(Message&)>& visit) {
    if (message.info == &kTensorProto) {
        visit(message);
        return;
    }
    for (Field& field : message.fields) {
        if (field.info->kind == FieldKind::kMessage) {
            for (Item& item : field.items) {
                for_each_tensor(*item.message, visit);
            }
        }
    }
}

// The element type, the shape and the bytes; tensors with one name are one.
std::string name_of(const Message& tensor, std::string_view content) {
    std::string name = fmt::format("{}", tensor.integer(TensorField::kDataType));
    for (const Item& dim : tensor.items(TensorField::kDims)) {
        name += fmt::format(",{}", dim.integer());
    }
    return fmt::format("{}:{}", name, content);
}

std::string content_of(std::string_view bytes) {
    return fmt::format("{:016x}", content_hash(std::span(&bytes, 1)));
}

std::string_view raw_data(const Message& tensor) {
    return tensor.text(TensorField::kRawData);
}

// The bytes of the large tensors of a model, which the document keeps.
std::unordered_map<std::string, std::string_view> large_tensors(Document& document) {
    std::unordered_map<std::string, std::string_view> tensors;
    for_each_tensor(document.root(), [&](Message& tensor) {
        if (std::string_view raw = raw_data(tensor); raw.size() >= kLarge) {
            tensors.emplace(name_of(tensor, content_of(raw)), raw);
        }
    });
    return tensors;
}

void drop(Message& message, uint32_t number) {
    std::erase_if(message.fields, [&](const Field& field) { return field.info->number == number; });
}

Item& set(Message& message, uint32_t number) {
    Field& field = message.at(*message.info->find(number));
    field.items.assign(1, Item());
    return field.items[0];
}

}  // namespace

Result<std::string> skeleton_of(std::string_view model, std::string_view other) {
    Document document(kModelProto), beside(kModelProto);
    SDX_TRY(read_wire(model, document));
    SDX_TRY(read_wire(other, beside));
    std::unordered_map<std::string, std::string_view> there = large_tensors(beside);
    for_each_tensor(document.root(), [&](Message& tensor) {
        std::string_view raw = raw_data(tensor);
        if (raw.size() < kLarge) {
            return;
        }
        std::string content = content_of(raw);
        if (there.contains(name_of(tensor, content))) {
            drop(tensor, TensorField::kRawData);
            Message* entry = document.make(kStringStringEntryProto);
            set(*entry, EntryField::kKey).bytes = "content";
            set(*entry, EntryField::kValue).bytes = document.keep(std::move(content));
            set(tensor, TensorField::kExternalData).message = entry;
        }
    });
    return write_wire(document.root());
}

Result<std::string> model_of_skeleton(std::string_view skeleton, std::string_view other) {
    Document document(kModelProto), beside(kModelProto);
    SDX_TRY(read_wire(skeleton, document));
    SDX_TRY(read_wire(other, beside));
    std::unordered_map<std::string, std::string_view> there = large_tensors(beside);
    for_each_tensor(document.root(), [&](Message& tensor) {
        const Item* entry = tensor.item(TensorField::kExternalData);
        if (entry == nullptr || entry->message->text(EntryField::kKey) != "content") {
            return;
        }
        auto found = there.find(name_of(tensor, entry->message->text(EntryField::kValue)));
        drop(tensor, TensorField::kExternalData);
        if (found == there.end()) {
            set(tensor, TensorField::kDims).bits = 0;
        }
        set(tensor, TensorField::kRawData).bytes =
            found == there.end() ? std::string_view() : found->second;
    });
    return write_wire(document.root());
}

}  // namespace sardonyx::proto
