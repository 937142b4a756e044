#include "torch/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "torch/names.h"

namespace sardonyx::torch {
namespace {

constexpr size_t kMostTerms = 64;
constexpr size_t kMostSymbols = 16;  // of a product
constexpr int kMostCalls = 40;
constexpr size_t kMostBytes = 1 << 16;

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct SizeToken {
    enum class Kind : uint8_t { kEnd, kNumber, kName, kString, kSign, kWrong };
    Kind kind = Kind::kEnd;
    std::string_view text;
};

// One expression of `sympy.srepr`: calls, names, numbers, strings and `name=value`.
class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) { next(); }

    std::optional<Size> parse() {
        Size size = expression(0);
        return has_failed_ ? std::nullopt : std::optional<Size>(size);
    }

  private:
    struct Arguments {
        std::vector<Size> sizes;
        std::vector<std::string> strings;
    };

    // Reads the token after this one.
    void next() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
            ++at_;
        }
        size_t first = at_;
        if (at_ >= text_.size()) {
            token_ = {};
            return;
        }
        char c = text_[at_++];
        auto until = [&](auto is_part) {
            while (at_ < text_.size() && is_part(text_[at_])) {
                ++at_;
            }
        };
        auto is_digit = [](char one) { return one >= '0' && one <= '9'; };
        if (is_digit(c) || (c == '-' && at_ < text_.size() && is_digit(text_[at_]))) {
            until(is_digit);
            token_ = {SizeToken::Kind::kNumber, text_.substr(first, at_ - first)};
        } else if (is_word(c)) {
            until(is_word);
            token_ = {SizeToken::Kind::kName, text_.substr(first, at_ - first)};
        } else if (c == '\'') {
            until([](char one) { return one != '\''; });
            token_ = {at_ < text_.size() ? SizeToken::Kind::kString : SizeToken::Kind::kWrong,
                      text_.substr(first + 1, at_ - first - 1)};
            at_ += at_ < text_.size() ? 1 : 0;
        } else {
            bool is_sign = c == '(' || c == ')' || c == ',' || c == '=';
            token_ = {is_sign ? SizeToken::Kind::kSign : SizeToken::Kind::kWrong,
                      text_.substr(first, 1)};
        }
        if (token_.kind == SizeToken::Kind::kWrong) {
            has_failed_ = true;
        }
    }
    bool is_sign(char c) const {
        return token_.kind == SizeToken::Kind::kSign && token_.text[0] == c;
    }
    bool fail() {
        has_failed_ = true;
        return false;
    }

    Size number() {
        int64_t value = 0;
        const char* end = token_.text.data() + token_.text.size();
        auto [rest, error] = std::from_chars(token_.text.data(), end, value);
        if (error != std::errc() || rest != end) {
            fail();
        }
        next();
        return Size(value);
    }

    Arguments arguments(int depth) {
        Arguments found;
        while (!has_failed_ && !is_sign(')')) {
            if (token_.kind == SizeToken::Kind::kString) {
                found.strings.emplace_back(token_.text);
                next();
            } else if (token_.kind == SizeToken::Kind::kNumber) {
                found.sizes.push_back(number());
            } else if (token_.kind == SizeToken::Kind::kName) {
                std::string_view name = token_.text;
                next();
                if (is_sign('=')) {
                    next();  // means nothing, nor does its value
                    next();
                } else {
                    found.sizes.push_back(call(name, depth + 1));
                }
            } else {
                fail();
            }
            if (is_sign(',')) {
                next();
            } else if (!is_sign(')')) {
                fail();
            }
        }
        closed_ = at_;
        next();
        return found;
    }

    Size expression(int depth) {
        std::string_view name = token_.text;
        if (token_.kind != SizeToken::Kind::kName) {
            fail();
            return {};
        }
        next();
        return call(name, depth);
    }

    // After the name of what is called.
    Size call(std::string_view name, int depth) {
        if (has_failed_ || depth > kMostCalls || !is_sign('(')) {
            fail();
            return {};
        }
        size_t first = static_cast<size_t>(name.data() - text_.data());
        next();
        Arguments found = arguments(depth);
        if (has_failed_) {
            return {};
        }
        if ((name == "Symbol" || name == "Dummy") && !found.strings.empty()) {
            std::string symbol = found.strings[0];
            std::replace_if(
                symbol.begin(), symbol.end(), [](char c) { return !is_word(c); }, '_');
            return Size::symbol(std::move(symbol));
        }
        if (name == "Integer" && found.sizes.size() == 1) {
            return found.sizes[0];
        }
        if ((name == "Add" || name == "Mul") && !found.sizes.empty()) {
            Size total = found.sizes[0];
            for (size_t i = 1; i < found.sizes.size() && total.term_count() <= kMostTerms; ++i) {
                total = name == "Add" ? total + found.sizes[i] : total * found.sizes[i];
            }
            if (total.term_count() <= kMostTerms) {
                return total;
            }
        }
        return Size::symbol(std::string(text_.substr(first, closed_ - first)));
    }

    std::string_view text_;
    size_t at_ = 0;
    size_t closed_ = 0;  // where the last call that has been read ends
    SizeToken token_;
    bool has_failed_ = false;
};

// Whether sympy prints the product first: that with more of the first symbol in which they differ.
bool is_before(const Size::Product& a, const Size::Product& b) {
    auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return in_b == b.end() ? in_a != a.end() : in_a != a.end() && *in_a < *in_b;
}

}  // namespace

Size::Size(int64_t number) {
    add({}, number);
}

Size Size::symbol(std::string name) {
    Size size;
    size.add({std::move(name)}, 1);
    return size;
}

void Size::add(const Product& product, int64_t count) {
    int64_t& found = terms_[product];
    has_overflown_ = __builtin_add_overflow(found, count, &found) || has_overflown_;
    if (found == 0) {
        terms_.erase(product);
    }
}

Size operator+(const Size& a, const Size& b) {
    Size sum = a;
    sum.has_overflown_ = a.has_overflown_ || b.has_overflown_;
    for (const auto& [product, count] : b.terms_) {
        sum.add(product, count);
    }
    return sum;
}

Size operator*(const Size& a, const Size& b) {
    Size result;
    result.has_overflown_ = a.has_overflown_ || b.has_overflown_;
    for (const auto& [first, m] : a.terms_) {
        for (const auto& [second, n] : b.terms_) {
            Size::Product both = first;
            both.insert(both.end(), second.begin(), second.end());
            std::sort(both.begin(), both.end());
            int64_t count = 0;
            if (__builtin_mul_overflow(m, n, &count) || both.size() > kMostSymbols) {
                result.has_overflown_ = true;
                continue;
            }
            result.add(both, count);
        }
    }
    return result;
}

std::optional<int64_t> Size::number() const {
    bool is_number = terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
    if (has_overflown_ || !is_number) {
        return std::nullopt;
    }
    return terms_.empty() ? 0 : terms_.begin()->second;
}

bool Size::is_exact() const {
    return !has_overflown_ && std::none_of(terms_.begin(), terms_.end(), [](const auto& term) {
        return std::any_of(term.first.begin(), term.first.end(), [](const std::string& symbol) {
            return symbol.find('(') != std::string::npos;
        });
    });
}

std::string Size::annotation(const DimNames& names) const {
    if (!is_exact()) {
        return "None";
    }
    if (terms_.empty()) {
        return "0";
    }
    if (terms_.size() == 1 && terms_.begin()->first.empty()) {
        return std::to_string(terms_.begin()->second);
    }
    std::vector<std::pair<Product, int64_t>> ordered(terms_.begin(), terms_.end());
    std::sort(ordered.begin(), ordered.end(),
              [](const auto& a, const auto& b) { return is_before(a.first, b.first); });
    std::string text;
    for (const auto& [symbols, count] : ordered) {
        std::string product;
        for (const std::string& symbol : symbols) {
            auto found = names.find(symbol);
            product += product.empty() ? "" : "*";
            product += found != names.end() ? found->second : symbol;
        }
        std::string absolute = std::to_string(count);
        absolute.erase(0, count < 0 ? 1 : 0);
        if (product.empty()) {
            product = absolute;
        } else if (absolute != "1") {
            product = fmt::format("{}*{}", absolute, product);
        }
        text += count < 0 ? "-" : text.empty() ? "" : "+";
        text += product;
    }
    // A sign in front is no name of a dimension.
    return text[0] == '-' ? "None" : "\"" + text + "\"";
}

std::optional<Size> parse_size(std::string_view expression) {
    return expression.size() <= kMostBytes ? Parser(expression).parse() : std::nullopt;
}

Result<Size> read_size(JsonValue value) {
    if (JsonValue expression = value["as_expr"]) {
        std::string text = expression["expr_str"].text().value_or("");
        std::optional<Size> size = parse_size(text);
        if (!size) {
            return Error{fmt::format("a size that is not understood: {}",
                                     python_string(text.substr(0, 80), '\''))};
        }
        return *size;
    }
    std::optional<int64_t> number = (value.is_object() ? value["as_int"] : value).integer();
    if (!number) {
        return Error{fmt::format("{} where a size is expected",
                                 python_string(value.source().substr(0, 60), '\''))};
    }
    return Size(*number);
}

}  // namespace sardonyx::torch
