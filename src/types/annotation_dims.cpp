#include "types/annotation_dims.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "types/dim_expression.h"

namespace sardonyx {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kCompared = "<>=!";

// --- Bounds: `2<=s<=512` -------------------------------------------------------------------------

std::optional<int64_t> number_of(std::string_view text) {
    std::optional<Dim> dim = Dim::parse(text);
    return dim && dim->is_static() ? std::optional(dim->value()) : std::nullopt;
}

// The bounds that `name <operation> number` says; nothing for another operation.
std::optional<DimBounds> bounds_by(std::string_view operation, int64_t number) {
    constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    if (operation == "<=") {
        return DimBounds{std::nullopt, number};
    }
    if (operation == ">=") {
        return DimBounds{number, std::nullopt};
    }
    if (operation == "<" && number > kLeast) {
        return DimBounds{std::nullopt, number - 1};
    }
    if (operation == ">" && number < kMost) {
        return DimBounds{number + 1, std::nullopt};
    }
    return std::nullopt;
}

std::string_view turned(std::string_view operation) {
    return operation == "<"    ? ">"
           : operation == "<=" ? ">="
           : operation == ">"  ? "<"
           : operation == ">=" ? "<="
                               : operation;
}

Error no_bounds(std::string_view word, std::string_view why) {
    return Error{"`" + std::string(word) +
                 "` states no bounds of a dimension: " + std::string(why)};
}

// Operands and operations of a comparison in turn.
std::vector<std::string_view> comparison_parts(std::string_view word) {
    std::vector<std::string_view> parts;
    while (!word.empty()) {
        bool is_operation = kCompared.find(word.front()) != std::string_view::npos;
        size_t end = std::min(
            is_operation ? word.find_first_not_of(kCompared) : word.find_first_of(kCompared),
            word.size());
        parts.push_back(word.substr(0, end));
        word.remove_prefix(end);
    }
    return parts;
}

Result<Dim> bounded_dim(std::string_view word) {
    std::vector<std::string_view> parts = comparison_parts(word);
    bool is_one = parts.size() == 3;
    bool is_chain = parts.size() == 5 && parts[1].front() == parts[3].front();
    if (!is_one && !is_chain) {
        return no_bounds(word, "write `2 <= N`, `N <= 512` or `2 <= N <= 512`");
    }
    struct Side {
        std::string_view operation;
        std::string_view number;
    };
    std::string_view name = parts[2];
    std::vector<Side> sides;
    if (is_one && number_of(parts[2])) {
        name = parts[0];
        sides = {{parts[1], parts[2]}};
    } else {
        sides = {{turned(parts[1]), parts[0]}};
    }
    if (is_chain) {
        sides.push_back({parts[3], parts[4]});
    }
    DimBounds bounds{0, std::nullopt};
    for (const Side& side : sides) {
        std::optional<int64_t> number = number_of(side.number);
        std::optional<DimBounds> stated =
            number ? bounds_by(side.operation, *number) : std::nullopt;
        if (!stated || !is_identifier(name)) {
            return no_bounds(word, "they are those of one name, against numbers");
        }
        bounds = intersection(bounds, *stated);
    }
    if (bounds.is_empty()) {
        return no_bounds(word, "no size lies between them");
    }
    return bounded_symbol(name, bounds);
}

// Without spaces around comparisons, so that one of several words holds the whole of one.
std::string with_close_comparisons(std::string_view text) {
    std::string result;
    for (size_t at = 0; at < text.size(); ++at) {
        if (kSpace.find(text[at]) != std::string_view::npos) {
            size_t next = text.find_first_not_of(kSpace, at);
            bool is_before = next != std::string_view::npos &&
                             kCompared.find(text[next]) != std::string_view::npos;
            bool is_after =
                !result.empty() && kCompared.find(result.back()) != std::string_view::npos;
            if (is_before || is_after) {
                continue;
            }
        }
        result += text[at];
    }
    return result;
}

// --- Dimensions ----------------------------------------------------------------------------------

Result<Dim> dim_of(std::string_view word) {
    if (word.find("...") != std::string_view::npos || word.front() == '*') {
        return Error{
            "`...` among other dimensions: ONNX has no type of unknown rank that knows one of its "
            "dimensions"};
    }
    if (word.find_first_of(kCompared) != std::string_view::npos) {
        return bounded_dim(word);
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

Result<Shape> annotation_dims(std::string_view written) {
    std::optional<Dim> whole = Dim::parse(written);
    if (whole.has_value() && !whole->is_static()) {
        return Shape{std::move(*whole)};
    }
    std::string closed = with_close_comparisons(written);
    std::string_view text = closed;
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

std::string annotation_of_dim(const Dim& dim) {
    std::string text = dim.to_string();
    for_each_bounded(dim, [&](const std::string& name, const DimBounds& bounds) {
        if (dim.equals(Dim::symbol(name))) {
            text = (*bounds.lower > 0 ? std::to_string(*bounds.lower) + " <= " : std::string()) +
                   name + (bounds.upper ? " <= " + std::to_string(*bounds.upper) : std::string());
        }
    });
    return text;
}

}  // namespace sardonyx
