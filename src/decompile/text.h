// Lines of Python: expressions with brackets, and where they are broken.
//
// A bracket stands on one line when that fits, else each of its items stands on a line of its own
// with a comma behind it, which formatters leave alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "types/tensor.h"

namespace sardonyx::decompile {

inline constexpr size_t kLineLength = 88;
inline constexpr size_t kIndent = 4;

struct Expression {
    std::string head;  // the whole, when there are no brackets
    char open = 0;     // '(' or '['; 0: none
    std::vector<Expression> items;

    static Expression atom(std::string text) { return {std::move(text), 0, {}}; }
    static Expression call(std::string head, std::vector<Expression> items = {}) {
        return {std::move(head), '(', std::move(items)};
    }
    static Expression list(std::vector<Expression> items) { return {{}, '[', std::move(items)}; }
    // The same as `name=...`.
    Expression keyword(std::string_view name) &&;
};

// The expression on one line.
std::string flat(const Expression& expression);

// Appends `before`, the expression and `after` at an indent, which is written too; no line end.
void append_broken(std::string& text, size_t indent, std::string_view before,
                   const Expression& expression, std::string_view after);
// Appends the line `targets = expression`; no targets: the expression alone.
void append_statement(std::string& text, size_t indent, const std::vector<std::string>& targets,
                      const Expression& expression);

// A string literal; the error of text that is not UTF-8 says so.
Result<std::string> string_literal(std::string_view text);
// A bytes literal.
std::string bytes_literal(std::string_view bytes);
// A string literal, or a bytes literal of text that is not UTF-8.
std::string text_literal(std::string_view text);
// The digits of a finite number, as a float also where they would be an int.
std::string with_point(std::string text);
// A float literal that gives exactly this number back when it is rounded to float; `float("nan")`
// and `float("inf")` are calls.
std::string float_literal(double value);
// Whether a NaN is the one that `float("nan")` is, with either sign.
bool is_plain_nan(double value);
// Text for a comment: on one line, without characters that a terminal or an editor obeys.
std::string comment_text(std::string_view text);

// The bytes of a tensor, from low to high, as a bytes literal; not for STRING. Error: too many.
Result<Expression> raw_tensor_literal(const Tensor& tensor);
// Number and text literals of a tensor, nested by its dims; NaN and infinity are calls. Error: no
// such literal gives the same bytes.
Result<Expression> tensor_literal(const Tensor& tensor);
// The same without calls. Error: also for NaN, infinity and text that is not UTF-8.
Result<Expression> plain_tensor_literal(const Tensor& tensor);

}  // namespace sardonyx::decompile
