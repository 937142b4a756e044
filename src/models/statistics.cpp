#include "models/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sardonyx::models {
namespace {

// Elements below 8 bits fill whole bytes in a piece of this length.
constexpr int64_t kPiece = 1 << 14;
// What a histogram reads and shows.
constexpr int64_t kMaxPieces = 16;
constexpr size_t kBars = 24;

// Elements [first, first + kPiece) as numbers; nothing for types that are not real.
std::optional<std::vector<double>> piece_of(const Tensor& tensor, int64_t first) {
    int64_t count = std::min(kPiece, tensor.count() - first);
    size_t start = byte_size(tensor.element_type(), first);
    Tensor piece = Tensor::view_of(
        tensor.element_type(), {count},
        tensor.stored_bytes().subspan(start, byte_size(tensor.element_type(), count)),
        tensor.owner());
    return to_doubles(piece, kPiece);
}

class Counter {
  public:
    void add(double x) {
        if (!std::isfinite(x)) {
            ++(std::isnan(x) ? result_.nan_count : result_.infinity_count);
            return;
        }
        result_.least = std::min(result_.least, x);
        result_.greatest = std::max(result_.greatest, x);
        result_.zero_count += x == 0 ? 1 : 0;
        double apart = x - result_.mean;
        result_.mean += apart / static_cast<double>(++count_);
        squares_ += apart * (x - result_.mean);
    }
    Statistics finish() {
        result_.deviation = count_ > 0 ? std::sqrt(squares_ / static_cast<double>(count_)) : 0;
        return result_;
    }

  private:
    Statistics result_;
    double squares_ = 0;  // of the distances from the mean so far (Welford)
    int64_t count_ = 0;
};

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
    Counter counter;
    for (int64_t first = 0; first < tensor.count() && tensor.element_type() != ElementType::kString;
         first += kPiece) {
        std::optional<std::vector<double>> values = piece_of(tensor, first);
        if (!values.has_value()) {
            break;
        }
        for (double x : *values) {
            counter.add(x);
        }
    }
    return counter.finish();
}

Histogram histogram(const Tensor& tensor) {
    Histogram result;
    if (tensor.element_type() == ElementType::kString) {
        return result;
    }
    Counter counter;
    std::vector<double> finite;
    int64_t pieces = (tensor.count() + kPiece - 1) / kPiece;
    int64_t read = std::min(pieces, kMaxPieces);
    for (int64_t i = 0; i < read; ++i) {
        std::optional<std::vector<double>> values = piece_of(tensor, i * pieces / read * kPiece);
        if (!values.has_value()) {
            break;
        }
        result.seen += static_cast<int64_t>(values->size());
        for (double x : *values) {
            counter.add(x);
            if (std::isfinite(x)) {
                finite.push_back(x);
            }
        }
    }
    result.statistics = counter.finish();
    double least = result.statistics.least, greatest = result.statistics.greatest;
    // Halves, because the range of two numbers may be more than a number holds.
    double half = greatest / 2 - least / 2;
    if (finite.size() > 1 && half > 0) {
        result.bars.resize(kBars);
        for (double x : finite) {
            double part = (x / 2 - least / 2) / half * static_cast<double>(kBars);
            ++result.bars[std::min(kBars - 1, static_cast<size_t>(part))];
        }
    }
    return result;
}

std::string statistics_text(const Tensor& tensor) {
    return statistics_text(statistics(tensor));
}

std::string statistics_text(const Statistics& found) {
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
