// ValueInfoProto and metadata_props.
#include <fmt/format.h>

#include "proto/fields.h"
#include "proto/read_context.h"
#include "proto/wire.h"

namespace sardonyx::proto {
namespace {

using protozero::pbf_reader;

bool read_value_info_type(ReadContext& context, std::string_view bytes, ValueInfo* result) {
    bool is_opaque = false;
    context.enter("type");
    context.keeps_types = true;
    context.says_more = false;
    if (!read_type(context, bytes, &result->type, &is_opaque)) {
        return false;
    }
    context.keeps_types = false;
    context.leave();
    if (is_opaque) {
        result->type = Type();
    }
    if (is_opaque || context.says_more) {
        result->kept_type = bytes;
    }
    return true;
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
                if (!context.keep(message.get_view(), &result->name)) {
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

void apply_value_info(ReadContext& context, ValueInfo info, ir::Value* value) {
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
