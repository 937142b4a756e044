#include "elaborate/objects/type_text.h"

#include <fmt/format.h>

#include "elaborate/objects/context.h"
#include "infer/subgraph.h"
#include "types/dim_expression.h"

namespace sardonyx::elaborate {

Dim as_written(const Dim& dim) {
    return dim.substitute([](std::string_view symbol) {
        return infer::fresh_number(symbol) ? Dim() : Dim::symbol(symbol);
    });
}

bool is_written(const Dim& dim) {
    bool all = !dim.is_unknown();
    each_symbol(dim, [&all](const std::string& name) { all = all && !infer::fresh_number(name); });
    return all;
}

namespace {

constexpr int kMostNesting = 4;
constexpr size_t kMostItems = 16;

Type type_as_written(const Type& type) {
    switch (type.kind()) {
        case TypeKind::kSequence:
            return Type::sequence(type_as_written(type.element()));
        case TypeKind::kOptional:
            return Type::optional(type_as_written(type.element()));
        case TypeKind::kMap:
            return Type::map(type.element_type(), type_as_written(type.element()));
        default:
            break;
    }
    if (!type.has_shape()) {
        return type;
    }
    Shape shape;
    for (const Dim& dim : type.shape()) {
        shape.push_back(as_written(dim));
    }
    Type result = type;
    result.set_shape(std::move(shape));
    return result;
}

// "int" of "an int".
std::string_view noun(const Object& object) {
    std::string_view words = kind_name(object);
    for (std::string_view article : {"a ", "an "}) {
        if (words.substr(0, article.size()) == article) {
            return words.substr(article.size());
        }
    }
    return words;
}

std::string text_at(const Object& object, int nesting);

std::string items_text(const std::vector<Object>& items, int nesting) {
    std::string text;
    for (size_t i = 0; i < items.size() && i < kMostItems; ++i) {
        text += (i == 0 ? "" : ", ") + text_at(items[i], nesting + 1);
    }
    return items.size() > kMostItems ? text + ", ..." : text;
}

std::string text_at(const Object& object, int nesting) {
    switch (object.kind()) {
        case ObjectKind::kTensor:
            return type_text(object.value()->type);
        case ObjectKind::kNumbers:
            return fmt::format("list of {}", name(object.value()->type.element_type()));
        case ObjectKind::kAttribute: {
            const AttributeObject& attribute = object.get<AttributeObject>();
            return fmt::format("attribute {}",
                               attribute.is_bool ? "BOOL" : sardonyx::name(attribute.type));
        }
        case ObjectKind::kConstant:
            return fmt::format("static {}", type_text(object.get<Tensor>().type()));
        case ObjectKind::kNone:
            return "static None";
        case ObjectKind::kTuple:
        case ObjectKind::kList:
            if (!object.is_static()) {
                return nesting > kMostNesting ? std::string(noun(object))
                                              : fmt::format("{} [{}]", noun(object),
                                                            items_text(object.items(), nesting));
            }
            break;
        default:
            break;
    }
    return fmt::format("static {} {}", noun(object), repr(object));
}

}  // namespace

std::string dim_text(const Dim& dim) {
    return as_written(dim).to_string();
}

std::string type_text(const Type& type) {
    return type_as_written(type).to_string();
}

std::string type_text(const Object& object) {
    return text_at(object, 0);
}

void note_type(Context& c, syntax::Range range, const Object& object) {
    if (c.program.wants_types && !object.is_error() && !object.is(ObjectKind::kUnbound)) {
        c.program.types.push_back({c.span(range), type_text(object)});
    }
}

}  // namespace sardonyx::elaborate
