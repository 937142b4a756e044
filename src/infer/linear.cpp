// Operators of linear algebra.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infer/diagnostics.h"
#include "infer/matmul.h"
#include "infer/operators.h"

namespace sardonyx::infer {

void infer_matmul(NodeContext& c) {
    c.set_output_shape(0, matmul_shape(c, 0, 1));
}

// Operators, Gemm: C stretches to the shape of the product, never the other way (since opset 7; a
// `broadcast` attribute before).
void infer_gemm(NodeContext& c) {
    bool are_ranks_right = c.check_rank(0, 2) && c.check_rank(1, 2);
    const Shape* a = c.input_shape(0);
    const Shape* b = c.input_shape(1);
    std::optional<int64_t> transpose_a = c.attribute_int("transA");
    std::optional<int64_t> transpose_b = c.attribute_int("transB");
    if (!are_ranks_right) {
        c.set_output_shape(0, Shape(2));
        return;
    }
    Shape result(2);
    if (a != nullptr && transpose_a.has_value()) {
        result[0] = (*a)[*transpose_a != 0 ? 1 : 0];
    }
    if (b != nullptr && transpose_b.has_value()) {
        result[1] = (*b)[*transpose_b != 0 ? 0 : 1];
    }
    if (a != nullptr && b != nullptr && transpose_a.has_value() && transpose_b.has_value()) {
        c.match_dims(0, *transpose_a != 0 ? 0 : 1, 1, *transpose_b != 0 ? 1 : 0);
    }
    const Shape* bias = c.input_shape(2);
    if (bias != nullptr && c.check_rank(2, 0, 2)) {
        for (size_t i = 1; i <= bias->size(); ++i) {
            const Dim& dim = (*bias)[bias->size() - i];
            const Dim& whole = result[2 - i];
            bool is_one = dim.is_static() && dim.value() == 1;
            if (!is_one && (dim.differs(whole) || !broadcast_dims(dim, whole).has_value()) &&
                (dim.is_static() || dim.is_at_least(2))) {
                c.fail(kBroadcastMismatch,
                       fmt::format("{} has shape `{}`, which does not stretch to the product's "
                                   "`{}`",
                                   c.input_name(2), to_text(*bias), to_text(result)),
                       2, -1, "each size must be equal, or 1");
                break;
            }
        }
    }
    c.set_output_shape(0, std::move(result));
}

void infer_det(NodeContext& c) {
    const Shape* shape = c.input_shape(0);
    if (shape == nullptr || !c.check_rank(0, 2, kAnyRank)) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    int rank = static_cast<int>(shape->size());
    c.match_dims(0, rank - 2, 0, rank - 1);
    c.set_output_shape(0, Shape(shape->begin(), shape->end() - 2));
}

namespace {

// One operand of an Einsum equation: letters, with the place of "..." among them.
struct Term {
    std::string letters;
    int ellipsis = -1;  // index in `letters` before which it stands; -1: none
};

struct Equation {
    std::vector<Term> inputs;
    std::optional<Term> output;  // nothing: implied
};

std::optional<Term> parse_term(std::string_view text) {
    Term term;
    for (size_t i = 0; i < text.size(); ++i) {
        char letter = text[i];
        bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
        if (is_letter) {
            term.letters += letter;
        } else if (text.substr(i, 3) == "..." && term.ellipsis < 0) {
            term.ellipsis = static_cast<int>(term.letters.size());
            i += 2;
        } else if (letter != ' ') {
            return std::nullopt;
        }
    }
    return term;
}

std::optional<Equation> parse_equation(std::string_view text) {
    Equation equation;
    size_t arrow = text.find("->");
    std::string_view operands = text.substr(0, arrow);
    if (arrow != std::string_view::npos) {
        equation.output = parse_term(text.substr(arrow + 2));
        if (!equation.output.has_value()) {
            return std::nullopt;
        }
    }
    while (true) {
        size_t comma = operands.find(',');
        std::optional<Term> term = parse_term(operands.substr(0, comma));
        if (!term.has_value()) {
            return std::nullopt;
        }
        equation.inputs.push_back(std::move(*term));
        if (comma == std::string_view::npos) {
            return equation;
        }
        operands.remove_prefix(comma + 1);
    }
}

// Without "->", the letters that stand once, in the order of the alphabet, after the "...".
Term implied_output(const Equation& equation) {
    std::array<int, 128> counts{};
    Term output;
    for (const Term& term : equation.inputs) {
        for (char letter : term.letters) {
            ++counts[static_cast<size_t>(letter)];
        }
        output.ellipsis = term.ellipsis >= 0 ? 0 : output.ellipsis;
    }
    for (size_t letter = 0; letter < counts.size(); ++letter) {
        if (counts[letter] == 1) {
            output.letters += static_cast<char>(letter);
        }
    }
    return output;
}

// The sizes of the letters and of the axes under "...", as the operands are read one by one.
struct EinsumSizes {
    std::array<Dim, 128> letters;
    std::array<bool, 128> is_seen{};
    Shape ellipsis;
    bool is_ellipsis_known = true;
};

void see_dim(NodeContext& c, size_t input, Dim& known, const Dim& dim, std::string_view what) {
    std::optional<Dim> both = broadcast_dims(known, dim);
    if (!both.has_value()) {
        c.fail(kShapeMismatch,
               fmt::format("{} of the equation is {} in input {} of `Einsum` and {} before it",
                           what, dim.to_string(), input, known.to_string()),
               static_cast<int>(input));
        return;
    }
    known = std::move(*both);
}

void see_operand(NodeContext& c, size_t input, const Term& term, EinsumSizes& sizes) {
    const Shape* shape = c.input_shape(input);
    if (shape == nullptr) {
        sizes.is_ellipsis_known = sizes.is_ellipsis_known && term.ellipsis < 0;
        for (char letter : term.letters) {
            size_t index = static_cast<size_t>(letter);
            sizes.letters[index] = sizes.is_seen[index] ? sizes.letters[index] : Dim();
            sizes.is_seen[index] = true;
        }
        return;
    }
    size_t hidden = shape->size() - std::min(shape->size(), term.letters.size());
    if (shape->size() < term.letters.size() || (term.ellipsis < 0 && hidden != 0)) {
        c.fail(kRankMismatch,
               fmt::format("input {} of `Einsum` has shape `{}`, and its term `{}` names {} axes",
                           input, to_text(*shape), term.letters, term.letters.size()),
               static_cast<int>(input));
        sizes.is_ellipsis_known = false;
        return;
    }
    size_t before = term.ellipsis < 0 ? term.letters.size() : static_cast<size_t>(term.ellipsis);
    for (size_t i = 0; i < term.letters.size(); ++i) {
        size_t index = static_cast<size_t>(term.letters[i]);
        const Dim& dim = (*shape)[i < before ? i : i + hidden];
        if (!sizes.is_seen[index]) {
            sizes.letters[index] = dim;
            sizes.is_seen[index] = true;
        } else {
            see_dim(c, input, sizes.letters[index], dim,
                    fmt::format("`{}`", std::string_view(&term.letters[i], 1)));
        }
    }
    if (sizes.ellipsis.size() < hidden) {
        sizes.ellipsis.insert(sizes.ellipsis.begin(), hidden - sizes.ellipsis.size(), Dim(1));
    }
    for (size_t i = 0; i < hidden; ++i) {
        see_dim(c, input, sizes.ellipsis[sizes.ellipsis.size() - hidden + i], (*shape)[before + i],
                "an axis under `...`");
    }
}

}  // namespace

void infer_einsum(NodeContext& c) {
    std::optional<std::string_view> text = c.attribute_string("equation");
    if (!text.has_value()) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    std::optional<Equation> equation = parse_equation(*text);
    if (!equation.has_value() || equation->inputs.size() != c.node.input_count()) {
        c.fail_attribute(kInvalidValue, "equation",
                         !equation.has_value()
                             ? fmt::format("`{}` is not a valid equation for `Einsum`", *text)
                             : fmt::format("equation `{}` has {} terms, and `Einsum` has {} inputs",
                                           *text, equation->inputs.size(), c.node.input_count()),
                         "write one term of letters for each input, as in `ij,jk->ik`");
        c.set_output_shape(0, std::nullopt);
        return;
    }
    EinsumSizes sizes;
    for (size_t i = 0; i < equation->inputs.size(); ++i) {
        see_operand(c, i, equation->inputs[i], sizes);
    }
    Term output = equation->output.has_value() ? *equation->output : implied_output(*equation);
    if (output.ellipsis >= 0 && !sizes.is_ellipsis_known) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    Shape result;
    for (size_t i = 0; i <= output.letters.size(); ++i) {
        if (static_cast<int>(i) == output.ellipsis) {
            result.insert(result.end(), sizes.ellipsis.begin(), sizes.ellipsis.end());
        }
        if (i == output.letters.size()) {
            break;
        }
        size_t index = static_cast<size_t>(output.letters[i]);
        if (!sizes.is_seen[index]) {
            c.fail_attribute(kInvalidValue, "equation",
                             fmt::format("`{}` appears in the result of `{}` and in none of its "
                                         "terms",
                                         std::string_view(&output.letters[i], 1), *text));
        }
        result.push_back(sizes.letters[index]);
    }
    c.set_output_shape(0, std::move(result));
}

}  // namespace sardonyx::infer
