#include "cli/array_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "types/small_floats.h"

namespace sardonyx::cli {
namespace {

constexpr int64_t kWhole = 1000;  // elements up to which nothing is left out
constexpr int64_t kEdge = 3;      // elements at each end of an axis that is cut
constexpr size_t kMost = 5000;    // elements in all, for tensors of many axes

// The shortest text that reads back as the same number, always with a point or an exponent.
template <typename T>
std::string float_text(T value) {
    std::string text = fmt::format("{}", value);
    bool is_whole = text.find_first_not_of("-0123456789") == std::string::npos;
    return is_whole ? text + ".0" : text;
}

// For the types below 32 bits: five digits tell all their numbers apart.
std::string small_float_text(double value) {
    std::string text = fmt::format("{:.5g}", value);
    bool is_whole = text.find_first_not_of("-0123456789") == std::string::npos;
    return is_whole ? text + ".0" : text;
}

template <typename T>
std::string complex_text(std::span<const std::byte> bytes, size_t i) {
    const T* parts = reinterpret_cast<const T*>(bytes.data()) + 2 * i;
    std::string imaginary = float_text(parts[1]);
    return fmt::format("({}{}{}j)", float_text(parts[0]), imaginary[0] == '-' ? "" : "+",
                       imaginary);
}

class Printer {
  public:
    explicit Printer(const Tensor& tensor) : tensor_(tensor) {
        if (info(tensor.element_type()).bits <= 8 &&
            tensor.element_type() != ElementType::kString) {
            narrow_ = to_doubles(tensor, tensor.count()).value_or(std::vector<double>());
        }
        is_cut_ = tensor.count() > kWhole;
    }

    // All elements as JSON.
    std::string json() {
        size_t next = 0;
        write_json(0, next);
        return std::move(out_);
    }

    std::string print() {
        collect(0, 0);
        for (const std::string& text : texts_) {
            width_ = std::max(width_, text.size());
        }
        write(0);
        return std::move(out_);
    }

  private:
    std::string text(size_t i) const {
        switch (tensor_.element_type()) {
            case ElementType::kFloat:
                return float_text(tensor_.elements<float>()[i]);
            case ElementType::kDouble:
                return float_text(tensor_.elements<double>()[i]);
            case ElementType::kFloat16:
                return small_float_text(static_cast<double>(tensor_.elements<Float16>()[i]));
            case ElementType::kBfloat16:
                return small_float_text(static_cast<double>(tensor_.elements<BFloat16>()[i]));
            case ElementType::kInt16:
                return fmt::format("{}", tensor_.elements<int16_t>()[i]);
            case ElementType::kUint16:
                return fmt::format("{}", tensor_.elements<uint16_t>()[i]);
            case ElementType::kInt32:
                return fmt::format("{}", tensor_.elements<int32_t>()[i]);
            case ElementType::kUint32:
                return fmt::format("{}", tensor_.elements<uint32_t>()[i]);
            case ElementType::kInt64:
                return fmt::format("{}", tensor_.elements<int64_t>()[i]);
            case ElementType::kUint64:
                return fmt::format("{}", tensor_.elements<uint64_t>()[i]);
            case ElementType::kComplex64:
                return complex_text<float>(tensor_.bytes(), i);
            case ElementType::kComplex128:
                return complex_text<double>(tensor_.bytes(), i);
            case ElementType::kString:
                return sardonyx::quoted(tensor_.elements<std::string>()[i]);
            case ElementType::kBool:
                return narrow_[i] != 0 ? "True" : "False";
            default:
                return is_floating(tensor_.element_type())
                           ? small_float_text(narrow_[i])
                           : fmt::format("{}", static_cast<int64_t>(narrow_[i]));
        }
    }

    void write_json(size_t axis, size_t& next) {
        if (axis == tensor_.dims().size()) {
            out_ += json_element(next++);
            return;
        }
        out_ += '[';
        for (int64_t i = 0; i < tensor_.dims()[axis]; ++i) {
            out_ += i == 0 ? "" : ", ";
            write_json(axis + 1, next);
        }
        out_ += ']';
    }

    std::string json_element(size_t i) const {
        ElementType type = tensor_.element_type();
        if (type == ElementType::kString) {
            return json_string(tensor_.elements<std::string>()[i]);
        }
        if (type == ElementType::kBool) {
            return narrow_[i] != 0 ? "true" : "false";
        }
        if (type == ElementType::kComplex64 || type == ElementType::kComplex128) {
            return complex_json(i);
        }
        std::string number = text(i);
        size_t sign = number[0] == '-' ? 1 : 0;
        std::string_view word = std::string_view(number).substr(sign);
        return word.rfind("nan", 0) == 0   ? "NaN"
               : word.rfind("inf", 0) == 0 ? std::string(sign, '-') + "Infinity"
                                           : number;
    }

    std::string complex_json(size_t i) const {
        std::string result;
        for (size_t part = 2 * i; part < 2 * i + 2; ++part) {
            bool is_wide = tensor_.element_type() == ElementType::kComplex128;
            const std::byte* bytes = tensor_.bytes().data();
            std::string number = is_wide ? float_text(reinterpret_cast<const double*>(bytes)[part])
                                         : float_text(reinterpret_cast<const float*>(bytes)[part]);
            size_t sign = number[0] == '-' ? 1 : 0;
            number = number.substr(sign, 3) == "nan"   ? "NaN"
                     : number.substr(sign, 3) == "inf" ? std::string(sign, '-') + "Infinity"
                                                       : number;
            result += (result.empty() ? "[" : ", ") + number;
        }
        return result + "]";
    }

    // Calls what(index) for the indices of an axis that are shown, and gap() where some are not.
    template <typename What, typename Gap>
    void walk(size_t axis, What&& what, Gap&& gap) const {
        int64_t size = tensor_.dims()[axis];
        bool has_gap = is_cut_ && size > 2 * kEdge;
        for (int64_t i = 0; i < size; ++i) {
            if (has_gap && i == kEdge) {
                gap();
                i = size - kEdge;
            }
            what(i);
        }
    }

    // The texts of all elements that are shown, in order.
    void collect(size_t axis, int64_t offset) {
        if (texts_.size() >= kMost) {
            return;
        }
        if (axis == tensor_.dims().size()) {
            texts_.push_back(text(static_cast<size_t>(offset)));
            return;
        }
        int64_t size = tensor_.dims()[axis];
        walk(
            axis, [&](int64_t i) { collect(axis + 1, offset * size + i); }, [] {});
    }

    void write(size_t axis) {
        if (axis == tensor_.dims().size()) {
            if (next_ < texts_.size()) {
                out_.append(width_ - texts_[next_].size(), ' ');
                out_ += texts_[next_++];
            }
            return;
        }
        size_t rank = tensor_.dims().size();
        bool is_last = axis + 1 == rank;
        auto separate = [&] {
            if (out_.back() == '[') {
                return;
            }
            out_ += is_last ? " " : std::string(rank - axis - 1, '\n') + std::string(axis + 1, ' ');
        };
        out_ += '[';
        walk(
            axis,
            [&](int64_t) {
                if (next_ >= texts_.size()) {
                    return;
                }
                separate();
                write(axis + 1);
            },
            [&] {
                separate();
                out_ += "...";
            });
        out_ += ']';
    }

    const Tensor& tensor_;
    std::vector<double> narrow_;  // the elements of types up to 8 bits
    bool is_cut_ = false;
    std::vector<std::string> texts_;
    size_t width_ = 0;
    size_t next_ = 0;
    std::string out_;
};

}  // namespace

std::string json_text(const Tensor& tensor) {
    return Printer(tensor).json();
}

std::string array_text(const Tensor& tensor) {
    return tensor.count() == 0 ? "[]" : Printer(tensor).print();
}

}  // namespace sardonyx::cli
