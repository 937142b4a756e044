// ValueInfoProto and metadata_props.
#include <fmt/format.h>

#include <functional>

#include "proto/fields.h"
#include "proto/read_context.h"
#include "proto/wire.h"

namespace sardonyx::proto {
namespace {

using protozero::pbf_reader;

using KnownType = ReadContext::KnownType;

bool read_known_type(ReadContext& context, std::string_view bytes, KnownType* result) {
    int64_t items = context.items();
    *result = KnownType();
    context.enter("type");
    context.keeps_types = true;
    context.says_more = false;
    if (!read_type(context, bytes, &result->type, &result->is_opaque)) {
        return false;
    }
    context.keeps_types = false;
    context.leave();
    if (result->is_opaque) {
        result->type = Type();
    }
    result->says_more = context.says_more;
    result->items = context.items() - items;
    result->depth = context.depth();
    result->bytes = bytes;  // at last: after a failure the place holds nothing
    return true;
}

bool read_value_info_type(ReadContext& context, std::string_view bytes, ValueInfo* result) {
    context.types.resize(ReadContext::kKnownTypes);
    size_t place = std::hash<std::string_view>()(bytes) % ReadContext::kKnownTypes;
    KnownType& known = context.types[place];
    bool is_known = !bytes.empty() && known.bytes == bytes && known.depth >= context.depth();
    if (is_known ? !context.take(known.items) : !read_known_type(context, bytes, &known)) {
        return false;
    }
    result->type = known.type;
    if (known.is_opaque || known.says_more) {
        result->kept_type = bytes;
    }
    return true;
}

// A name that a value has is known to be UTF-8.
bool read_name(ReadContext& context, std::string_view text, ValueInfo* result) {
    if (text.empty()) {
        result->name = {};
        result->value = nullptr;
        return true;
    }
    Symbol symbol = context.model.symbol(text);
    result->name = context.model.text(symbol);
    result->value =
        symbol.index < context.bindings.size() ? context.bindings[symbol.index] : nullptr;
    return result->value != nullptr || context.check_text(text, &text);
}

}  // namespace

bool read_value_info(ReadContext& context, std::string_view bytes, ValueInfo* result) {
    if (!context.take()) {
        return false;
    }
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case bytes_field(ValueInfoField::kName):
                if (!read_name(context, message.get_view(), result)) {
                    return false;
                }
                break;
            case bytes_field(ValueInfoField::kType):
                if (!read_value_info_type(context, message.get_view(), result)) {
                    return false;
                }
                break;
            case bytes_field(ValueInfoField::kDoc):
                if (!context.keep(message.get_view(), &result->doc)) {
                    return false;
                }
                break;
            case bytes_field(ValueInfoField::kMetadata):
                if (!read_metadata(context, message.get_view(), &result->metadata)) {
                    return false;
                }
                break;
            default:
                message.skip();
        }
    }
    return true;
}

void apply_value_info(ReadContext& context, ValueInfo&& info, ir::Value* value) {
    if (!value->type.is_known()) {
        value->type = std::move(info.type);
        value->preserved = context.model.intern(info.kept_type);
    } else if (info.type.is_known()) {
        std::optional<Type> merged = merge(value->type, info.type);
        if (!merged.has_value()) {
            context.note(fmt::format("`{}` is declared as {} and as {}", value->name,
                                     value->type.to_string(), info.type.to_string()));
        } else if (value->producer() != nullptr) {
            value->type = std::move(*merged);
        }
    }
    if (value->doc.empty()) {
        value->doc = info.doc;
    }
    if (value->metadata.empty()) {
        value->metadata = std::move(info.metadata);
    }
}

bool read_metadata(ReadContext& context, std::string_view bytes, ir::Metadata* result) {
    std::string_view key, value;
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case bytes_field(EntryField::kKey):
                if (!context.keep(message.get_view(), &key)) {
                    return false;
                }
                break;
            case bytes_field(EntryField::kValue):
                if (!context.keep(message.get_view(), &value)) {
                    return false;
                }
                break;
            default:
                message.skip();
        }
    }
    result->emplace_back(key, value);
    return context.take();
}

}  // namespace sardonyx::proto
