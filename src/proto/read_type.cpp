// TypeProto and TensorShapeProto.
//
// A denotation ("IMAGE", "DATA_BATCH") has no place in the types, and an expression prints in one
// way, however it was spelt: where the bytes of a type are kept beside it, they have both. A
// negative dim_value, which old exporters wrote for "unknown", is an unknown Dim.
#include <fmt/format.h>

#include <algorithm>

#include "proto/fields.h"
#include "proto/read_context.h"
#include "proto/wire.h"
#include "types/dim_names.h"

namespace sardonyx::proto {
namespace {

using protozero::pbf_reader;

// `N+1` is an expression. `N + 1` and `floor(N/2)` are expressions where the text is kept; else
// they are symbols of that name, so that what is written later is what was read. So are names that
// stand for any size.
bool read_dim_parameter(ReadContext& context, std::string_view text, Dim* result) {
    if (context.keeps_types && is_placeholder(text)) {
        context.says_more = true;
        *result = Dim();
        return true;
    }
    auto found = context.dims.find(text);
    if (found == context.dims.end()) {
        std::string_view kept;
        if (!context.keep(text, &kept)) {
            return false;
        }
        std::optional<Dim> parsed = Dim::parse(kept);
        bool is_expression = parsed.has_value() && parsed->is_symbolic();
        Dim dim = is_expression ? *parsed : Dim::symbol(kept);
        bool is_respelled = is_expression && dim.to_string() != kept;
        found = context.dims.emplace(kept, ReadContext::NamedDim{dim, is_respelled}).first;
    }
    const auto& [dim, is_respelled] = found->second;
    *result = is_respelled && !context.keeps_types ? Dim::symbol(found->first) : dim;
    context.says_more = context.says_more || is_respelled;
    return true;
}

bool read_dim(ReadContext& context, std::string_view bytes, Dim* result) {
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case varint_field(DimField::kValue): {
                int64_t value = message.get_int64();
                *result = value < 0 ? Dim() : Dim(value);
                break;
            }
            case bytes_field(DimField::kParameter): {
                std::string_view text = message.get_view();
                *result = Dim();
                if (!text.empty() && !read_dim_parameter(context, text, result)) {
                    return false;
                }
                break;
            }
            default:
                context.says_more = true;
                message.skip();
        }
    }
    return true;
}

bool read_shape(ReadContext& context, std::string_view bytes, Shape* result) {
    // A dim takes two bytes and more; most shapes are short.
    result->reserve(std::min<size_t>(bytes.size() / 2, 8));
    pbf_reader message(bytes);
    while (message.next()) {
        if (message.tag_and_type() != bytes_field(ShapeField::kDim)) {
            message.skip();
            continue;
        }
        context.enter("dim", static_cast<int64_t>(result->size()));
        if (!context.take() || !read_dim(context, message.get_view(), &result->emplace_back())) {
            return false;
        }
        context.leave();
    }
    return true;
}

bool read_element_type(ReadContext& context, int64_t number, ElementType* result) {
    *result = element_type_from_number(number);
    if (*result == ElementType::kUndefined && number != 0) {
        return context.fail(fmt::format("there is no element type {}", number));
    }
    return true;
}

// The sizes that are numbers must be those of a tensor that there can be.
bool check_size(ReadContext& context, const Shape& shape) {
    constexpr int64_t kMost = INT64_MAX / 16;  // elements of any type
    int64_t count = 1;
    bool fits = true;
    for (const Dim& dim : shape) {
        if (dim.is_static()) {
            if (dim.value() == 0) {
                return true;
            }
            fits = fits && !__builtin_mul_overflow(count, dim.value(), &count) && count <= kMost;
        }
    }
    return fits || context.fail("a tensor cannot have so many elements");
}

bool read_tensor_type(ReadContext& context, std::string_view bytes, TypeKind kind, Type* result) {
    ElementType element_type = ElementType::kUndefined;
    std::optional<Shape> shape;
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case varint_field(TensorTypeField::kElementType):
                if (!read_element_type(context, message.get_int64(), &element_type)) {
                    return false;
                }
                break;
            case bytes_field(TensorTypeField::kShape):
                context.enter("shape");
                if (!read_shape(context, message.get_view(), &shape.emplace())) {
                    return false;
                }
                context.leave();
                break;
            default:
                message.skip();
        }
    }
    if (shape.has_value() && !check_size(context, *shape)) {
        return false;
    }
    *result = kind == TypeKind::kSparseTensor ? Type::sparse_tensor(element_type, std::move(shape))
                                              : Type::tensor(element_type, std::move(shape));
    return true;
}

bool read_map_type(ReadContext& context, std::string_view bytes, Type* result, bool* is_opaque) {
    ElementType key = ElementType::kUndefined;
    Type value;
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case varint_field(MapTypeField::kKey):
                if (!read_element_type(context, message.get_int64(), &key)) {
                    return false;
                }
                break;
            case bytes_field(MapTypeField::kValue):
                context.enter("value_type");
                if (!read_type(context, message.get_view(), &value, is_opaque)) {
                    return false;
                }
                context.leave();
                break;
            default:
                message.skip();
        }
    }
    *result = Type::map(key, std::move(value));
    return true;
}

// Of a sequence or an optional.
bool read_container_element(ReadContext& context, std::string_view bytes, Type* result,
                            bool* is_opaque) {
    pbf_reader message(bytes);
    while (message.next()) {
        if (message.tag_and_type() != bytes_field(ContainerTypeField::kElement)) {
            message.skip();
            continue;
        }
        context.enter("elem_type");
        if (!read_type(context, message.get_view(), result, is_opaque)) {
            return false;
        }
        context.leave();
    }
    return true;
}

bool read_kind(ReadContext& context, uint32_t field, std::string_view bytes, Type* result,
               bool* is_opaque) {
    switch (field) {
        case TypeField::kTensor:
            return read_tensor_type(context, bytes, TypeKind::kTensor, result);
        case TypeField::kSparseTensor:
            return read_tensor_type(context, bytes, TypeKind::kSparseTensor, result);
        case TypeField::kMap:
            return read_map_type(context, bytes, result, is_opaque);
        case TypeField::kOpaque:
            *is_opaque = true;
            *result = Type();
            return true;
        default: {
            Type element;
            if (!read_container_element(context, bytes, &element, is_opaque)) {
                return false;
            }
            *result = field == TypeField::kSequence ? Type::sequence(std::move(element))
                                                    : Type::optional(std::move(element));
            return true;
        }
    }
}

std::string_view field_name(uint32_t field) {
    switch (field) {
        case TypeField::kTensor:
            return "tensor_type";
        case TypeField::kSparseTensor:
            return "sparse_tensor_type";
        case TypeField::kMap:
            return "map_type";
        case TypeField::kOpaque:
            return "opaque_type";
        case TypeField::kSequence:
            return "sequence_type";
        default:
            return "optional_type";
    }
}

}  // namespace

bool read_type(ReadContext& context, std::string_view bytes, Type* result, bool* is_opaque) {
    if (!context.descend()) {
        return false;
    }
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case bytes_field(TypeField::kTensor):
            case bytes_field(TypeField::kSparseTensor):
            case bytes_field(TypeField::kMap):
            case bytes_field(TypeField::kOpaque):
            case bytes_field(TypeField::kSequence):
            case bytes_field(TypeField::kOptional): {
                uint32_t field = message.tag();
                context.enter(field_name(field));
                if (!context.take() ||
                    !read_kind(context, field, message.get_view(), result, is_opaque)) {
                    return false;
                }
                context.leave();
                break;
            }
            default:
                context.says_more = true;
                message.skip();
        }
    }
    context.ascend();
    return true;
}

}  // namespace sardonyx::proto
