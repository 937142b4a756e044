// parse_type: the grammar that Type::to_string() prints.
//   type   = '?' | tensor | ('Sequence' | 'Optional' | 'SparseTensor') '[' type ']'
//          | 'Map' '[' element ',' type ']'
//   tensor = element ['[' ('...' | [dim (',' dim)*]) ']']
#include <optional>
#include <utility>

#include "types/type.h"

namespace sardonyx {
namespace {

constexpr int kMaxTypeNesting = 64;

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') {
        text.remove_prefix(1);
    }
    while (!text.empty() && text.back() == ' ') {
        text.remove_suffix(1);
    }
    return text;
}

// The text up to the first comma outside of parentheses, brackets and quotes; `text` becomes what
// follows it, or nothing.
std::string_view take_item(std::optional<std::string_view>& text) {
    int open = 0;
    bool is_quoted = false;
    for (size_t i = 0; i < text->size(); ++i) {
        char c = (*text)[i];
        if (is_quoted && c == '\\') {
            ++i;
        } else if (c == '\'') {
            is_quoted = !is_quoted;
        } else if (is_quoted) {
            continue;
        } else if (c == ',' && open == 0) {
            std::string_view item = text->substr(0, i);
            text = text->substr(i + 1);
            return trimmed(item);
        }
        open += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    }
    std::string_view item = *text;
    text.reset();
    return trimmed(item);
}

std::optional<ElementType> parse_element(std::string_view text) {
    ElementType type = element_type_from_name(text);
    if (type == ElementType::kUndefined && text != "?") {
        return std::nullopt;
    }
    return type;
}

std::optional<Shape> parse_dims(std::string_view text) {
    Shape shape;
    std::optional<std::string_view> rest = text;
    while (rest.has_value()) {
        std::optional<Dim> dim = Dim::parse(take_item(rest));
        if (!dim.has_value() || (dim->is_static() && dim->value() < 0)) {
            return std::nullopt;
        }
        shape.push_back(std::move(*dim));
    }
    return shape;
}

std::optional<Type> parse_nested(std::string_view text, int depth);

std::optional<Type> parse_container(std::string_view head, std::string_view inside, int depth) {
    std::optional<std::string_view> rest = inside;
    std::optional<ElementType> key;
    if (head == "Map") {
        key = parse_element(take_item(rest));
        if (!key.has_value() || !rest.has_value()) {
            return std::nullopt;
        }
    }
    std::optional<Type> element = parse_nested(*rest, depth + 1);
    if (!element.has_value()) {
        return std::nullopt;
    }
    if (head == "Sequence") {
        return Type::sequence(std::move(*element));
    }
    if (head == "Optional") {
        return Type::optional(std::move(*element));
    }
    if (head == "Map") {
        return Type::map(*key, std::move(*element));
    }
    if (!element->is_tensor()) {
        return std::nullopt;
    }
    return Type::sparse_tensor(element->element_type(), element->maybe_shape());
}

std::optional<Type> parse_nested(std::string_view text, int depth) {
    text = trimmed(text);
    if (depth > kMaxTypeNesting) {
        return std::nullopt;
    }
    if (text == "?") {
        return Type();
    }
    size_t bracket = text.find('[');
    std::string_view head = trimmed(text.substr(0, bracket));
    if (bracket == std::string_view::npos) {
        std::optional<ElementType> element = parse_element(head);
        return element.has_value() ? std::optional(Type::tensor(*element, Shape())) : std::nullopt;
    }
    if (text.back() != ']') {
        return std::nullopt;
    }
    std::string_view inside = trimmed(text.substr(bracket + 1, text.size() - bracket - 2));
    if (head == "Sequence" || head == "Optional" || head == "Map" || head == "SparseTensor") {
        return parse_container(head, inside, depth);
    }
    std::optional<ElementType> element = parse_element(head);
    if (!element.has_value()) {
        return std::nullopt;
    }
    if (inside == "...") {
        return Type::tensor(*element);
    }
    std::optional<Shape> shape = inside.empty() ? Shape() : parse_dims(inside);
    return shape.has_value() ? std::optional(Type::tensor(*element, std::move(shape)))
                             : std::nullopt;
}

}  // namespace

std::optional<Type> parse_type(std::string_view text) {
    return parse_nested(text, 0);
}

}  // namespace sardonyx
