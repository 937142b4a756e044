// Dim::parse: recursive descent over the grammar that to_string() prints, and over what exporters
// write, which are the texts of a computer algebra.
//   sum     = product (('+' | '-') product)*
//   product = unary (('*' | '/' | '//' | '%') unary)*
//   unary   = '-' unary | power
//   power   = atom ('**' integer)?
//   atom    = integer | symbol | function '(' sum (',' sum)* ')' | '(' sum ')'
//   symbol  = identifier | "'" any text with \' and \\ "'"
// `/` is the division of rational numbers: `floor(N/2 - 1/2)` is (N-1)//2, and what is no integer
// in the end is no size.
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "types/dim_expression.h"

namespace sardonyx {
namespace {

constexpr int kMaxDimNesting = 4 * kMaxDimDepth;
constexpr int64_t kMaxPower = 8;
constexpr size_t kMaxArguments = 8;

// top / bottom, in lowest terms as far as numbers go.
struct Ratio {
    Dim top;
    Dim bottom = 1;

    bool is_integer() const { return bottom.is_static() && bottom.value() == 1; }
};

// The greatest number that divides all coefficients and `number`.
int64_t common_divisor(const Dim& dim, int64_t number) {
    if (dim.is_unknown()) {
        return 1;
    }
    for (const DimTerm& term : terms_of(dim)) {
        number = std::gcd(number, term.coefficient);
    }
    return number;
}

std::optional<Ratio> reduced(Dim top, Dim bottom) {
    if (bottom.is_static() && bottom.value() < 0) {
        top = -top;
        bottom = -bottom;
    }
    if (bottom.is_unknown() || (bottom.is_static() && bottom.value() <= 0)) {
        return std::nullopt;
    }
    if (!bottom.is_static()) {
        std::optional<Dim> whole = exact_quotient(top, bottom);
        return whole.has_value() ? Ratio{*whole, 1} : Ratio{std::move(top), std::move(bottom)};
    }
    int64_t divisor = common_divisor(top, bottom.value());
    if (divisor > 1) {
        top = floor_div(top, divisor);
        bottom = bottom.value() / divisor;
    }
    return Ratio{std::move(top), std::move(bottom)};
}

std::optional<Ratio> sum_of(const Ratio& a, const Ratio& b) {
    if (a.is_integer() && b.is_integer()) {
        return Ratio{a.top + b.top, 1};
    }
    return reduced(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
}

std::optional<Ratio> product_of(const Ratio& a, const Ratio& b) {
    if (a.is_integer() && b.is_integer()) {
        return Ratio{a.top * b.top, 1};
    }
    return reduced(a.top * b.top, a.bottom * b.bottom);
}

std::optional<Ratio> quotient_of(const Ratio& a, const Ratio& b) {
    return reduced(a.top * b.bottom, a.bottom * b.top);
}

Ratio floor_of(const Ratio& a) {
    return a.is_integer() ? a : Ratio{floor_div(a.top, a.bottom), 1};
}

Ratio ceiling_of(const Ratio& a) {
    return a.is_integer() ? a : Ratio{ceil_div(a.top, a.bottom), 1};
}

std::optional<Ratio> floor_quotient_of(const Ratio& a, const Ratio& b) {
    if (a.is_integer() && b.is_integer()) {
        return Ratio{floor_div(a.top, b.top), 1};
    }
    std::optional<Ratio> quotient = quotient_of(a, b);
    return quotient.has_value() ? std::optional(floor_of(*quotient)) : std::nullopt;
}

using Arguments = std::vector<Ratio>;

std::optional<Ratio> folded(const Arguments& arguments, Dim (*of)(const Dim&, const Dim&)) {
    Ratio result = arguments.front();
    for (const Ratio& argument : arguments) {
        if (!argument.is_integer()) {
            return std::nullopt;
        }
        result.top = &argument == arguments.data() ? argument.top : of(result.top, argument.top);
    }
    return result;
}

std::optional<Ratio> integers(const Arguments& arguments, Dim (*of)(const Dim&, const Dim&)) {
    bool are_integers = arguments[0].is_integer() && arguments[1].is_integer();
    return are_integers ? std::optional(Ratio{of(arguments[0].top, arguments[1].top), 1})
                        : std::nullopt;
}

// The functions that exporters print, by their number of arguments; 0: two and more.
struct Function {
    std::string_view name;
    size_t arguments;
    std::optional<Ratio> (*of)(const Arguments&);
};
constexpr Function kFunctions[] = {
    {"max", 0, [](const Arguments& a) { return folded(a, max); }},
    {"Max", 0, [](const Arguments& a) { return folded(a, max); }},
    {"min", 0, [](const Arguments& a) { return folded(a, min); }},
    {"Min", 0, [](const Arguments& a) { return folded(a, min); }},
    {"floor", 1, [](const Arguments& a) { return std::optional(floor_of(a[0])); }},
    {"FloorToInt", 1, [](const Arguments& a) { return std::optional(floor_of(a[0])); }},
    {"ceil", 1, [](const Arguments& a) { return std::optional(ceiling_of(a[0])); }},
    {"ceiling", 1, [](const Arguments& a) { return std::optional(ceiling_of(a[0])); }},
    {"CeilToInt", 1, [](const Arguments& a) { return std::optional(ceiling_of(a[0])); }},
    {"IntTrueDiv", 2, [](const Arguments& a) { return quotient_of(a[0], a[1]); }},
    {"FloorDiv", 2, [](const Arguments& a) { return floor_quotient_of(a[0], a[1]); }},
    {"CleanDiv", 2, [](const Arguments& a) { return floor_quotient_of(a[0], a[1]); }},
    {"CeilDiv", 2, [](const Arguments& a) { return integers(a, ceil_div); }},
    {"Mod", 2, [](const Arguments& a) { return integers(a, modulo); }},
    {"PythonMod", 2, [](const Arguments& a) { return integers(a, modulo); }},
};

class DimParser {
  public:
    explicit DimParser(std::string_view text) : text_(text) {}

    std::optional<Dim> parse() {
        std::optional<Ratio> result = sum();
        skip_space();
        bool is_whole = position_ == text_.size() && result.has_value() && result->is_integer();
        return is_whole ? std::optional(std::move(result->top)) : std::nullopt;
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

    std::optional<Ratio> sum() {
        if (++nesting_ > kMaxDimNesting) {
            return std::nullopt;
        }
        std::optional<Ratio> result = product();
        while (result.has_value()) {
            bool is_plus = accept("+");
            if (!is_plus && !accept("-")) {
                break;
            }
            std::optional<Ratio> right = product();
            if (!right.has_value()) {
                return std::nullopt;
            }
            right->top = is_plus ? right->top : -right->top;
            result = sum_of(*result, *right);
        }
        --nesting_;
        return result;
    }

    std::optional<Ratio> product() {
        std::optional<Ratio> result = unary();
        while (result.has_value()) {
            std::optional<Ratio> (*operation)(const Ratio&, const Ratio&) = nullptr;
            if (accept("//")) {
                operation = floor_quotient_of;
            } else if (accept("/")) {
                operation = quotient_of;
            } else if (accept("*")) {
                operation = product_of;
            } else if (accept("%")) {
                operation = [](const Ratio& a, const Ratio& b) { return integers({a, b}, modulo); };
            } else {
                break;
            }
            std::optional<Ratio> right = unary();
            if (!right.has_value()) {
                return std::nullopt;
            }
            result = operation(*result, *right);
        }
        return result;
    }

    std::optional<Ratio> unary() {
        bool is_negative = false;
        while (accept("-")) {
            is_negative = !is_negative;
        }
        skip_space();
        std::optional<Ratio> result = at_digit() ? integer(is_negative) : atom();
        bool is_number = result.has_value() && result->top.is_static();
        result = result.has_value() ? power(*result) : result;
        if (result.has_value() && is_negative && !is_number) {
            result->top = -result->top;
        }
        return result;
    }

    std::optional<Ratio> power(const Ratio& base) {
        if (!accept("**")) {
            return base;
        }
        skip_space();
        std::optional<Ratio> exponent = at_digit() ? integer(false) : std::nullopt;
        bool is_negative = base.top.is_static() && base.top.value() < 0;  // `-2**2` is -4
        if (!exponent.has_value() || is_negative || exponent->top.value() > kMaxPower) {
            return std::nullopt;
        }
        std::optional<Ratio> result = Ratio{1, 1};
        for (int64_t i = 0; i < exponent->top.value() && result.has_value(); ++i) {
            result = product_of(*result, base);
        }
        return result;
    }

    // With its sign, since -2**63 has no positive counterpart.
    std::optional<Ratio> integer(bool is_negative) {
        int64_t value = 0;
        for (; at_digit(); ++position_) {
            int64_t digit = text_[position_] - '0';
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, is_negative ? -digit : digit, &value)) {
                return std::nullopt;
            }
        }
        return Ratio{value, 1};
    }

    std::optional<Ratio> atom() {
        if (accept("(")) {
            std::optional<Ratio> result = sum();
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
        for (const Function& function : kFunctions) {
            if (function.name == name && accept("(")) {
                return call(function);
            }
        }
        return Ratio{Dim::symbol(name), 1};
    }

    std::optional<Ratio> call(const Function& function) {
        Arguments arguments;
        do {
            std::optional<Ratio> argument = sum();
            if (!argument.has_value() || arguments.size() == kMaxArguments) {
                return std::nullopt;
            }
            arguments.push_back(std::move(*argument));
        } while (accept(","));
        bool is_right =
            function.arguments == 0 ? arguments.size() > 1 : function.arguments == arguments.size();
        return is_right && accept(")") ? function.of(arguments) : std::nullopt;
    }

    std::optional<Ratio> quoted() {
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
        return Ratio{Dim::symbol(name), 1};
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
