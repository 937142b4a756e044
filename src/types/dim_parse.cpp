// Dim::parse: recursive descent over the grammar that to_string() prints.
//   sum     = product (('+' | '-') product)*
//   product = unary (('*' | '//' | '%') unary)*
//   unary   = '-' unary | atom
//   atom    = integer | symbol | ('max' | 'min') '(' sum ',' sum ')' | '(' sum ')'
//   symbol  = identifier | "'" any text with \' and \\ "'"
#include <optional>

#include "types/dim_expression.h"

namespace sardonyx {
namespace {

constexpr int kMaxDimNesting = 4 * kMaxDimDepth;

class DimParser {
  public:
    explicit DimParser(std::string_view text) : text_(text) {}

    std::optional<Dim> parse() {
        std::optional<Dim> result = sum();
        skip_space();
        return position_ == text_.size() ? result : std::nullopt;
    }

  private:
    void skip_space() {
        while (position_ < text_.size() && text_[position_] == ' ') {
            ++position_;
        }
    }

    bool accept(std::string_view token) {
        skip_space();
        if (text_.substr(position_, token.size()) != token) {
            return false;
        }
        position_ += token.size();
        return true;
    }

    bool at_digit() const {
        return position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9';
    }

    std::optional<Dim> sum() {
        if (++nesting_ > kMaxDimNesting) {
            return std::nullopt;
        }
        std::optional<Dim> result = product();
        while (result.has_value()) {
            bool is_plus = accept("+");
            if (!is_plus && !accept("-")) {
                break;
            }
            std::optional<Dim> right = product();
            if (!right.has_value()) {
                return std::nullopt;
            }
            result = is_plus ? *result + *right : *result - *right;
        }
        --nesting_;
        return result;
    }

    std::optional<Dim> product() {
        std::optional<Dim> result = unary();
        while (result.has_value()) {
            Dim (*operation)(const Dim&, const Dim&) = nullptr;
            if (accept("//")) {
                operation = floor_div;
            } else if (accept("*")) {
                operation = [](const Dim& a, const Dim& b) { return a * b; };
            } else if (accept("%")) {
                operation = modulo;
            } else {
                break;
            }
            std::optional<Dim> right = unary();
            if (!right.has_value()) {
                return std::nullopt;
            }
            result = operation(*result, *right);
        }
        return result;
    }

    std::optional<Dim> unary() {
        bool is_negative = false;
        while (accept("-")) {
            is_negative = !is_negative;
        }
        skip_space();
        if (at_digit()) {
            return integer(is_negative);
        }
        std::optional<Dim> result = atom();
        return result.has_value() && is_negative ? -*result : result;
    }

    // With its sign, since -2**63 has no positive counterpart.
    std::optional<Dim> integer(bool is_negative) {
        int64_t value = 0;
        for (; at_digit(); ++position_) {
            int64_t digit = text_[position_] - '0';
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, is_negative ? -digit : digit, &value)) {
                return std::nullopt;
            }
        }
        return Dim(value);
    }

    std::optional<Dim> atom() {
        if (accept("(")) {
            std::optional<Dim> result = sum();
            return result.has_value() && accept(")") ? result : std::nullopt;
        }
        if (accept("'")) {
            return quoted();
        }
        size_t begin = position_;
        while (position_ < text_.size() && is_identifier_byte(text_[position_])) {
            ++position_;
        }
        std::string_view name = text_.substr(begin, position_ - begin);
        if (name.empty()) {
            return std::nullopt;
        }
        if ((name == "max" || name == "min") && accept("(")) {
            return extreme(name == "max");
        }
        return Dim::symbol(name);
    }

    std::optional<Dim> extreme(bool is_max) {
        std::optional<Dim> left = sum();
        if (!left.has_value() || !accept(",")) {
            return std::nullopt;
        }
        std::optional<Dim> right = sum();
        if (!right.has_value() || !accept(")")) {
            return std::nullopt;
        }
        return is_max ? max(*left, *right) : min(*left, *right);
    }

    std::optional<Dim> quoted() {
        std::string name;
        for (; position_ < text_.size() && text_[position_] != '\''; ++position_) {
            if (text_[position_] == '\\' && position_ + 1 < text_.size()) {
                ++position_;
            }
            name += text_[position_];
        }
        if (!accept("'") || name.empty()) {
            return std::nullopt;
        }
        return Dim::symbol(name);
    }

    std::string_view text_;
    size_t position_ = 0;
    int nesting_ = 0;
};

}  // namespace

std::optional<Dim> Dim::parse(std::string_view text) {
    if (text == "?") {
        return Dim();
    }
    if (text.size() > kMaxDimText) {
        return std::nullopt;
    }
    return DimParser(text).parse();
}

}  // namespace sardonyx
