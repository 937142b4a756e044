// AttributeProto.
//
// The message is walked twice: first for the name, the type and which value fields are there, then
// for the values of the one field that counts.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/stop.h"
#include "proto/fields.h"
#include "proto/read_context.h"
#include "proto/wire.h"

namespace sardonyx::proto {
namespace {

using ir::AttributeType;
using ir::AttributeValue;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

// The value field of each type, by AttributeType.
struct ValueField {
    uint32_t number;
    pbf_wire_type wire_type;
    std::string_view name;
    bool is_repeated;
};

constexpr pbf_wire_type kDelimited = pbf_wire_type::length_delimited;
constexpr ValueField kValueFields[] = {
    {0, pbf_wire_type::unknown, "", false},
    {AttributeField::kFloat, pbf_wire_type::fixed32, "f", false},
    {AttributeField::kInt, pbf_wire_type::varint, "i", false},
    {AttributeField::kString, kDelimited, "s", false},
    {AttributeField::kTensor, kDelimited, "t", false},
    {AttributeField::kGraph, kDelimited, "g", false},
    {AttributeField::kFloats, pbf_wire_type::fixed32, "floats", true},
    {AttributeField::kInts, pbf_wire_type::varint, "ints", true},
    {AttributeField::kStrings, kDelimited, "strings", true},
    {AttributeField::kTensors, kDelimited, "tensors", true},
    {AttributeField::kGraphs, kDelimited, "graphs", true},
    {AttributeField::kSparseTensor, kDelimited, "sparse_tensor", false},
    {AttributeField::kSparseTensors, kDelimited, "sparse_tensors", true},
    {AttributeField::kTypeProto, kDelimited, "tp", false},
    {AttributeField::kTypeProtos, kDelimited, "type_protos", true},
};
constexpr size_t kTypeCount = std::size(kValueFields);

// The AttributeType whose value the current field is; kUndefined: it is no value.
AttributeType type_of_field(const pbf_reader& message) {
    for (size_t i = 1; i < kTypeCount; ++i) {
        const ValueField& field = kValueFields[i];
        // Lists of numbers may also be packed into one field.
        bool is_packed = field.is_repeated && message.wire_type() == kDelimited;
        if (field.number == message.tag() &&
            (field.wire_type == message.wire_type() || is_packed)) {
            return static_cast<AttributeType>(i);
        }
    }
    return AttributeType::kUndefined;
}

// An empty value of the type, as writers that leave out zeros and empty lists mean it. Empty
// optional: the type cannot do without a value.
std::optional<AttributeValue> default_value(AttributeType type) {
    switch (type) {
        case AttributeType::kFloat:
            return AttributeValue(0.0F);
        case AttributeType::kInt:
            return AttributeValue(int64_t{0});
        case AttributeType::kString:
            return AttributeValue(std::string());
        case AttributeType::kFloats:
            return AttributeValue(std::vector<float>());
        case AttributeType::kInts:
            return AttributeValue(std::vector<int64_t>());
        case AttributeType::kStrings:
            return AttributeValue(std::vector<std::string>());
        case AttributeType::kTensors:
            return AttributeValue(std::vector<Tensor>());
        case AttributeType::kGraphs:
            return AttributeValue(std::vector<ir::Graph*>());
        case AttributeType::kSparseTensors:
            return AttributeValue(std::vector<ir::SparseTensor>());
        case AttributeType::kTypeProtos:
            return AttributeValue(std::vector<Type>());
        default:
            return std::nullopt;
    }
}

bool read_floats(ReadContext& context, pbf_reader* message, std::vector<float>* result) {
    if (message->wire_type() == pbf_wire_type::fixed32) {
        result->push_back(message->get_float());
        return context.take();
    }
    std::string_view packed = message->get_view();
    if (packed.size() % sizeof(float) != 0) {
        return context.fail("the list is cut off within an entry");
    }
    size_t old_size = result->size();
    size_t count = packed.size() / sizeof(float);
    if (!context.take(static_cast<int64_t>(count))) {
        return false;
    }
    result->resize(old_size + count);
    if (count != 0) {
        std::memcpy(result->data() + old_size, packed.data(), packed.size());
    }
    return true;
}

bool read_ints(ReadContext& context, pbf_reader* message, std::vector<int64_t>* result) {
    if (message->wire_type() == pbf_wire_type::varint) {
        result->push_back(message->get_int64());
        return context.take();
    }
    return read_varints(context, message->get_view(), result);
}

bool read_one_tensor(ReadContext& context, std::string_view bytes, Tensor* result) {
    NamedTensor tensor;
    if (!read_tensor(context, bytes, &tensor)) {
        return false;
    }
    *result = std::move(tensor.tensor);
    return true;
}

bool read_one_graph(ReadContext& context, std::string_view bytes, ir::Graph* parent,
                    ir::Graph** result) {
    *result = context.model.make_graph(parent);
    return read_graph(context, bytes, *result);
}

bool read_one_sparse_tensor(ReadContext& context, std::string_view bytes,
                            ir::SparseTensor* result) {
    std::string_view name;
    return read_sparse_tensor(context, bytes, result, &name);
}

bool read_one_type(ReadContext& context, std::string_view bytes, Type* result) {
    bool is_opaque = false;
    return read_type(context, bytes, result, &is_opaque);
}

// Reads the value in the current field into `value`, which holds the alternative of `type`.
bool read_value(ReadContext& context, pbf_reader* message, AttributeType type, ir::Graph* graph,
                AttributeValue* value) {
    switch (type) {
        case AttributeType::kFloat:
            *value = message->get_float();
            return true;
        case AttributeType::kInt:
            *value = message->get_int64();
            return true;
        case AttributeType::kString:
            *value = std::string(message->get_view());
            return true;
        case AttributeType::kTensor:
            return read_one_tensor(context, message->get_view(), &value->emplace<Tensor>());
        case AttributeType::kGraph:
            return read_one_graph(context, message->get_view(), graph,
                                  &value->emplace<ir::Graph*>());
        case AttributeType::kSparseTensor:
            return read_one_sparse_tensor(context, message->get_view(),
                                          &value->emplace<ir::SparseTensor>());
        case AttributeType::kTypeProto:
            return read_one_type(context, message->get_view(), &value->emplace<Type>());
        case AttributeType::kFloats:
            return read_floats(context, message, std::get_if<std::vector<float>>(value));
        case AttributeType::kInts:
            return read_ints(context, message, std::get_if<std::vector<int64_t>>(value));
        case AttributeType::kStrings:
            std::get_if<std::vector<std::string>>(value)->emplace_back(message->get_view());
            return context.take();
        case AttributeType::kTensors:
            return read_one_tensor(context, message->get_view(),
                                   &std::get_if<std::vector<Tensor>>(value)->emplace_back());
        case AttributeType::kGraphs:
            return read_one_graph(context, message->get_view(), graph,
                                  &std::get_if<std::vector<ir::Graph*>>(value)->emplace_back());
        case AttributeType::kSparseTensors:
            return read_one_sparse_tensor(
                context, message->get_view(),
                &std::get_if<std::vector<ir::SparseTensor>>(value)->emplace_back());
        case AttributeType::kTypeProtos:
            return context.take() &&
                   read_one_type(context, message->get_view(),
                                 &std::get_if<std::vector<Type>>(value)->emplace_back());
        default:
            message->skip();
            return true;
    }
}

// Everything but the value. `present`: bit n is set when a value of AttributeType n is there;
// `count`: how many value fields.
bool read_head(ReadContext& context, std::string_view bytes, ir::Attribute* result,
               uint32_t* present, int64_t* count) {
    int64_t type_number = 0;
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case bytes_field(AttributeField::kName):
                if (!context.keep(message.get_view(), &result->name)) {
                    return false;
                }
                break;
            case bytes_field(AttributeField::kReference):
                if (!context.keep(message.get_view(), &result->reference)) {
                    return false;
                }
                break;
            case bytes_field(AttributeField::kDoc):
                if (!context.keep(message.get_view(), &result->doc)) {
                    return false;
                }
                break;
            case varint_field(AttributeField::kType):
                type_number = message.get_int64();
                break;
            default: {
                AttributeType type = type_of_field(message);
                *present |= type == AttributeType::kUndefined ? 0 : 1U << static_cast<int>(type);
                *count += type == AttributeType::kUndefined ? 0 : 1;
                message.skip();
            }
        }
    }
    if (type_number < 0 || type_number >= static_cast<int64_t>(kTypeCount)) {
        return context.fail(fmt::format("attribute `{}`: there is no attribute type {}",
                                        result->name, type_number));
    }
    result->type = static_cast<AttributeType>(type_number);
    return true;
}

bool check_head(ReadContext& context, ir::Attribute* attribute, uint32_t present, int64_t count) {
    auto fail = [&](std::string_view message) {
        return context.fail(fmt::format("attribute `{}` {}", attribute->name, message));
    };
    if (attribute->name.empty()) {
        return context.fail("an attribute has no name");
    }
    if ((present & (present - 1)) != 0) {
        return fail("has values of several types");
    }
    if (attribute->type == AttributeType::kUndefined) {
        context.note(fmt::format("attribute `{}` has no type", attribute->name));
    }
    if (attribute->is_reference()) {
        return present == 0 || fail("refers to another attribute and has a value too");
    }
    AttributeType found = present == 0 ? AttributeType::kUndefined
                                       : static_cast<AttributeType>(std::countr_zero(present));
    if (attribute->type ==
        AttributeType::kUndefined) {  // as writers of the first IR version left it
        attribute->type = found;
    }
    if (attribute->type == AttributeType::kUndefined) {
        return fail("has no value");
    }
    if (found != AttributeType::kUndefined && found != attribute->type) {
        return fail(fmt::format("is of type {} and has a value of type {}",
                                sardonyx::name(attribute->type), sardonyx::name(found)));
    }
    if (count > 1 && !kValueFields[static_cast<size_t>(found)].is_repeated) {
        return fail("has several values");
    }
    std::optional<AttributeValue> value = default_value(attribute->type);
    if (!value.has_value() && present == 0) {
        return fail(fmt::format("is of type {} and has no value", sardonyx::name(attribute->type)));
    }
    attribute->value = value.has_value() ? std::move(*value) : AttributeValue();
    return true;
}

}  // namespace

bool read_attribute(ReadContext& context, std::string_view bytes, ir::Graph* graph,
                    ir::Attribute* result) {
    uint32_t present = 0;
    int64_t count = 0;
    if (!context.take() || !read_head(context, bytes, result, &present, &count) ||
        !check_head(context, result, present, count)) {
        return false;
    }
    if (present == 0) {
        return true;
    }
    const ValueField& field = kValueFields[static_cast<size_t>(result->type)];
    int64_t index = 0;
    pbf_reader message(bytes);
    while (message.next()) {
        if (message.tag() != field.number || type_of_field(message) != result->type) {
            message.skip();
            continue;
        }
        context.enter(field.name, field.is_repeated ? index++ : -1);
        if (!read_value(context, &message, result->type, graph, &result->value)) {
            return false;
        }
        context.leave();
    }
    return true;
}

bool read_attributes(ReadContext& context, std::string_view field,
                     const std::vector<std::string_view>& messages, ir::Graph* graph,
                     std::vector<ir::Attribute>* result) {
    result->reserve(std::min<size_t>(messages.size(), 64));
    for (size_t i = 0; i < messages.size(); ++i) {
        stop_point_at(static_cast<int64_t>(i) + 1);
        context.enter(field, static_cast<int64_t>(i));
        if (!read_attribute(context, messages[i], graph, &result->emplace_back())) {
            return false;
        }
        context.leave();
    }
    std::vector<std::string_view> names;
    names.reserve(result->size());
    for (const ir::Attribute& attribute : *result) {
        names.push_back(attribute.name);
    }
    std::sort(names.begin(), names.end());
    auto twice = std::adjacent_find(names.begin(), names.end());
    return twice == names.end() ||
           context.fail(fmt::format("the attribute `{}` is given twice", *twice));
}

}  // namespace sardonyx::proto
