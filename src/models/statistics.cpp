#include "models/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sardonyx::models {
namespace {

// Elements below 8 bits fill whole bytes in a piece of this length.
constexpr int64_t kPiece = 1 << 14;

// Elements [first, first + kPiece) as numbers; nothing for types that are not real.
std::optional<std::vector<double>> piece_of(const Tensor& tensor, int64_t first) {
    int64_t count = std::min(kPiece, tensor.count() - first);
    size_t start = byte_size(tensor.element_type(), first);
    Tensor piece = Tensor::view_of(
        tensor.element_type(), {count},
        tensor.bytes().subspan(start, byte_size(tensor.element_type(), count)), tensor.owner());
    return to_doubles(piece, kPiece);
}

bool agree(double a, double b, Tolerance tolerance) {
    return a == b || (std::isnan(a) && std::isnan(b)) ||
           std::fabs(a - b) <= tolerance.absolute + tolerance.relative * std::fabs(b);
}

void compare_strings(const Tensor& a, const Tensor& b, Difference* result) {
    for (int64_t i = 0; i < a.count(); ++i) {
        if (a.elements<std::string>()[i] != b.elements<std::string>()[i] && result->beyond++ == 0) {
            result->place = i;
        }
    }
}

}  // namespace

Statistics statistics(const Tensor& tensor) {
    Statistics result;
    double squares = 0;  // of the distances from the mean so far (Welford)
    int64_t count = 0;
    for (int64_t first = 0; first < tensor.count() && tensor.element_type() != ElementType::kString;
         first += kPiece) {
        std::optional<std::vector<double>> values = piece_of(tensor, first);
        if (!values.has_value()) {
            return result;
        }
        for (double x : *values) {
            if (std::isfinite(x)) {
                result.least = std::min(result.least, x);
                result.greatest = std::max(result.greatest, x);
                result.zero_count += x == 0 ? 1 : 0;
                double apart = x - result.mean;
                result.mean += apart / static_cast<double>(++count);
                squares += apart * (x - result.mean);
            } else {
                ++(std::isnan(x) ? result.nan_count : result.infinity_count);
            }
        }
    }
    result.deviation = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
    return result;
}

std::string statistics_text(const Tensor& tensor) {
    Statistics found = statistics(tensor);
    std::string text;
    if (found.has_numbers()) {
        text = found.least == found.greatest
                   ? fmt::format("all {:g}", found.least)
                   : fmt::format("{:g} to {:g}", found.least, found.greatest);
    }
    if (found.nan_count > 0) {
        text += fmt::format("{}{} NaN", text.empty() ? "" : ", ", found.nan_count);
    }
    if (found.infinity_count > 0) {
        text += fmt::format("{}{} infinite", text.empty() ? "" : ", ", found.infinity_count);
    }
    return text;
}

std::optional<Difference> difference(const Tensor& a, const Tensor& b, Tolerance tolerance) {
    if (a.element_type() != b.element_type() || a.dims() != b.dims()) {
        return std::nullopt;
    }
    Difference result;
    if (a.element_type() == ElementType::kString) {
        compare_strings(a, b, &result);
        return result;
    }
    for (int64_t first = 0; first < a.count(); first += kPiece) {
        std::optional<std::vector<double>> left = piece_of(a, first);
        std::optional<std::vector<double>> right = piece_of(b, first);
        if (!left.has_value() || !right.has_value()) {
            return result;
        }
        for (size_t i = 0; i < left->size(); ++i) {
            double x = (*left)[i], y = (*right)[i];
            bool is_beyond = !agree(x, y, tolerance);
            double apart = std::fabs(x - y);
            bool is_first = is_beyond && result.beyond == 0;
            result.beyond += is_beyond ? 1 : 0;
            if (is_first || (result.beyond == 0 && apart > result.greatest)) {
                result.place = first + static_cast<int64_t>(i);
                result.a = x;
                result.b = y;
            }
            result.greatest = std::max(result.greatest, apart);
        }
    }
    return result;
}

}  // namespace sardonyx::models
