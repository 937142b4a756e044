#include "types/annotation_dims.h"

#include <algorithm>
#include <optional>
#include <string>

namespace sardonyx {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

Result<Dim> dim_of(std::string_view word) {
    if (word.find("...") != std::string_view::npos || word.front() == '*') {
        return Error{
            "`...` among other dimensions: ONNX has no type of unknown rank that knows one of its "
            "dimensions"};
    }
    if (word.find_first_not_of("<>=!") == std::string_view::npos) {
        return Error{"`" + std::string(word) +
                     "` is not a dimension: an annotation does not state bounds, write the name "
                     "alone"};
    }
    std::optional<Dim> dim = Dim::parse(word);
    if (!dim.has_value()) {
        return Dim::symbol(word);
    }
    if (dim->is_static() && dim->value() < 0) {
        return Error{"`" + std::string(word) + "` cannot be a dimension"};
    }
    return std::move(*dim);
}

}  // namespace

Result<Shape> annotation_dims(std::string_view text) {
    std::optional<Dim> whole = Dim::parse(text);
    if (whole.has_value() && !whole->is_static()) {
        return Shape{std::move(*whole)};
    }
    Shape shape;
    size_t at = text.find_first_not_of(kSpace);
    while (at != std::string_view::npos) {
        size_t end = std::min(text.find_first_of(kSpace, at), text.size());
        Result<Dim> dim = dim_of(text.substr(at, end - at));
        if (!dim.ok()) {
            return dim.error();
        }
        shape.push_back(std::move(*dim));
        at = text.find_first_not_of(kSpace, end);
    }
    if (shape.empty()) {
        return Error{"a string without a dimension in it"};
    }
    return shape;
}

}  // namespace sardonyx
