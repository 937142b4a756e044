#include "types/type.h"

#include <sardonyx/type.h>

#include "api/fail.h"
#include "types/type_meant.h"

namespace sardonyx {
inline namespace v1 {
namespace {

TypeInfo::Kind kind_of(TypeKind kind) {
    switch (kind) {
        case TypeKind::kUnknown:
            return TypeInfo::Kind::kUnknown;
        case TypeKind::kTensor:
            return TypeInfo::Kind::kTensor;
        case TypeKind::kSparseTensor:
            return TypeInfo::Kind::kSparseTensor;
        case TypeKind::kSequence:
            return TypeInfo::Kind::kSequence;
        case TypeKind::kOptional:
            return TypeInfo::Kind::kOptional;
        case TypeKind::kMap:
            return TypeInfo::Kind::kMap;
    }
    return TypeInfo::Kind::kUnknown;
}

TypeInfo info_of(const Type& type) {
    TypeInfo info;
    info.kind = kind_of(type.kind());
    if (type.element_type() != ElementType::kUndefined) {
        info.element_type = name(type.element_type());
    }
    if (type.has_shape()) {
        info.dims.emplace();
        for (const Dim& dim : type.shape()) {
            info.dims->push_back({dim.is_unknown() ? "" : dim.to_string(),
                                  dim.is_static() ? std::optional(dim.value()) : std::nullopt});
        }
    }
    bool has_element = type.kind() == TypeKind::kSequence || type.kind() == TypeKind::kOptional ||
                       type.kind() == TypeKind::kMap;
    if (has_element) {
        info.element.push_back(info_of(type.element()));
    }
    return info;
}

std::string element_text(const TypeInfo& info) {
    if (info.element.size() != 1) {
        api::fail("a type of this kind has one element");
    }
    return info.element[0].to_text();
}

std::string tensor_text(const TypeInfo& info) {
    std::string text = info.element_type.empty() ? "?" : info.element_type;
    if (!info.dims) {
        return text + "[...]";
    }
    std::string dims;
    for (const DimInfo& dim : *info.dims) {
        std::string one = dim.value ? std::to_string(*dim.value) : dim.text;
        one = one.empty() ? "?" : one;
        std::optional<Type> alone = parse_type("FLOAT[" + one + "]");
        if (!alone || !alone->has_shape() || alone->shape().size() != 1) {
            api::fail("`" + one + "` is not a dimension");
        }
        dims += (dims.empty() ? "" : ", ") + one;
    }
    return dims.empty() ? text : text + "[" + dims + "]";
}

std::string text_of(const TypeInfo& info) {
    switch (info.kind) {
        case TypeInfo::Kind::kUnknown:
            return "?";
        case TypeInfo::Kind::kTensor:
            return tensor_text(info);
        case TypeInfo::Kind::kSparseTensor:
            return "SparseTensor[" + tensor_text(info) + "]";
        case TypeInfo::Kind::kSequence:
            return "Sequence[" + element_text(info) + "]";
        case TypeInfo::Kind::kOptional:
            return "Optional[" + element_text(info) + "]";
        case TypeInfo::Kind::kMap:
            return "Map[" + info.element_type + ", " + element_text(info) + "]";
    }
    return "?";
}

}  // namespace

TypeInfo TypeInfo::parse(std::string_view text) {
    std::optional<Type> type = parse_type(text);
    if (!type) {
        api::fail("`" + std::string(text) + "` is not a type: write \"FLOAT[N,4]\"" +
                  type_help(text));
    }
    return info_of(*type);
}

std::string TypeInfo::to_text() const {
    std::string text = text_of(*this);
    std::optional<Type> type = parse_type(text);
    if (!type) {
        api::fail("`" + text + "` is not a type" + type_help(text));
    }
    return type->to_string();
}

}  // namespace v1
}  // namespace sardonyx
