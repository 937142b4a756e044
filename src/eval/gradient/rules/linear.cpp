// Rules of differentiation: products of matrices, Einsum, and Det.
#include <algorithm>
#include <string>

#include "eval/gradient/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

// --- Einsum: "ij,jk->ik" as the labels of each operand and of the result.

struct EinsumTerms {
    std::vector<std::string> terms;
    std::string result;
};

// Letters for the axes that "..." stands for, which are the last ones of those in use.
std::string ellipsis_letters(const std::string& text) {
    std::string unused;
    for (char c : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")) {
        if (text.find(c) == std::string::npos) {
            unused.push_back(c);
        }
    }
    return unused;
}

size_t letters_of(const std::string& term) {
    return static_cast<size_t>(
        std::count_if(term.begin(), term.end(), [](char c) { return c != '.'; }));
}

// Replaces "..." by the last `rank` of the letters.
bool expand_ellipsis(std::string* term, const std::string& letters, size_t rank) {
    size_t at = term->find("...");
    if (at == std::string::npos) {
        return true;
    }
    if (rank > letters.size()) {
        return false;
    }
    term->replace(at, 3, letters.substr(letters.size() - rank));
    return true;
}

// The equation of a call that has run, so that its form is right.
bool read_equation(Backward& b, EinsumTerms* equation) {
    std::string text(b.context().string_attribute("equation"));
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    for (size_t start = 0; start <= left.size();) {
        size_t end = std::min(left.find(',', start), left.size());
        equation->terms.push_back(left.substr(start, end - start));
        start = end + 1;
    }
    if (equation->terms.size() != b.input_count()) {
        return false;
    }
    std::string letters = ellipsis_letters(text);
    size_t widest = 0;
    for (size_t i = 0; i < equation->terms.size(); ++i) {
        std::string& term = equation->terms[i];
        auto rank = static_cast<size_t>(b.x(i).rank());
        size_t named = letters_of(term);
        size_t covered = rank > named && term.find('.') != std::string::npos ? rank - named : 0;
        widest = std::max(widest, covered);
        if (!expand_ellipsis(&term, letters, covered) || term.size() != rank) {
            return false;
        }
    }
    if (arrow != std::string::npos) {
        equation->result = text.substr(arrow + 2);
        return expand_ellipsis(&equation->result, letters, widest);
    }
    // Implicit: the letters that stand once, after what "..." covers.
    equation->result = letters.substr(letters.size() - widest);
    for (char c = 'A'; c <= 'z'; ++c) {
        if (std::count(left.begin(), left.end(), c) == 1 &&
            std::isalpha(static_cast<unsigned char>(c)) != 0) {
            equation->result.push_back(c);
        }
    }
    return true;
}

// The letters of a term, each once.
std::string distinct(const std::string& term) {
    std::string letters;
    for (char label : term) {
        if (letters.find(label) == std::string::npos) {
            letters.push_back(label);
        }
    }
    return letters;
}

Expr einsum_of(const std::vector<Expr>& operands, const std::string& equation) {
    return operands[0].algebra().call("Einsum", operands,
                                      {ir::make_attribute("equation", equation)});
}

// Operands without letters that a term has twice: their diagonals. places[i] counts the elements of
// a diagonal in its operand, from 1; none where the operand is its own.
struct Diagonals {
    std::vector<Expr> operands;
    std::vector<Expr> places;
};

Diagonals take_diagonals(Backward& b, EinsumTerms* equation) {
    Diagonals result;
    for (size_t i = 0; i < equation->terms.size(); ++i) {
        std::string& term = equation->terms[i];
        std::string letters = distinct(term);
        Expr x = b.x(i);
        Expr places;
        if (letters != term) {
            std::string diagonal = term;
            diagonal.append("->").append(letters);
            places = einsum_of({reshape(b.algebra().range(1, x.count() + 1), x.dims())}, diagonal);
            x = einsum_of({x}, diagonal);
            term = letters;
        }
        result.operands.push_back(x);
        result.places.push_back(places);
    }
    return result;
}

// The size of each label; 1 where an axis is broadcast.
int64_t size_of(const std::vector<Expr>& operands, const EinsumTerms& equation, char label) {
    int64_t size = 1;
    for (size_t i = 0; i < equation.terms.size(); ++i) {
        size_t at = equation.terms[i].find(label);
        if (at != std::string::npos && size == 1) {
            size = operands[i].dim(static_cast<int>(at));
        }
    }
    return size;
}

Dims sizes_of(const std::vector<Expr>& operands, const EinsumTerms& equation,
              const std::string& term) {
    Dims dims;
    for (char label : term) {
        dims.push_back(size_of(operands, equation, label));
    }
    return dims;
}

}  // namespace

// With matrices in the last two axes. A vector is a row on the left and a column on the right.
void matmul_rule(Backward& b) {
    Expr x = b.x(0);
    Expr w = b.x(1);
    Dims g_dims = b.g().dims();
    if (x.rank() == 1) {
        g_dims.insert(g_dims.end() - (w.rank() == 1 ? 0 : 1), 1);
        x = reshape(x, {1, x.dim(0)});
    }
    if (w.rank() == 1) {
        g_dims.push_back(1);
        w = reshape(w, {w.dim(0), 1});
    }
    Expr g = reshape(b.g(), g_dims);
    if (b.needs(0)) {
        b.add(0, reshape(sum_to(matmul(g, swap_last_axes(w)), x.dims()), b.x(0).dims()));
    }
    if (b.needs(1)) {
        b.add(1, reshape(sum_to(matmul(swap_last_axes(x), g), w.dims()), b.x(1).dims()));
    }
}

void gemm(Backward& b) {
    const KernelContext& c = b.context();
    Expr g = b.g() * c.float_attribute("alpha");
    bool flips_x = c.int_attribute("transA") != 0;
    bool flips_w = c.int_attribute("transB") != 0;
    if (b.needs(0)) {
        Expr by_x = matmul(g, flips_w ? b.x(1) : swap_last_axes(b.x(1)));
        b.add(0, flips_x ? swap_last_axes(by_x) : by_x);
    }
    if (b.needs(1)) {
        Expr by_w = matmul(flips_x ? b.x(0) : swap_last_axes(b.x(0)), g);
        b.add(1, flips_w ? swap_last_axes(by_w) : by_w);
    }
    b.add(2, b.g() * c.float_attribute("beta"));
}

// The gradient by an operand is the product of the gradient and of the other operands, summed over
// what the operand has not. What only the operand has was summed over: there it is the same
// everywhere.
void einsum(Backward& b) {
    EinsumTerms equation;
    if (!read_equation(b, &equation)) {
        b.fail("the equation has too many axes: write it without `...`");
        return;
    }
    Diagonals all = take_diagonals(b, &equation);
    for (size_t i = 0; i < equation.terms.size(); ++i) {
        if (!b.needs(i)) {
            continue;
        }
        const std::string& term = equation.terms[i];
        std::string text = equation.result;
        std::vector<Expr> operands = {b.g()};
        for (size_t k = 0; k < equation.terms.size(); ++k) {
            if (k != i) {
                text.append(",").append(equation.terms[k]);
                operands.push_back(
                    expand(all.operands[k], sizes_of(all.operands, equation, equation.terms[k])));
            }
        }
        std::string alone;
        for (char label : term) {
            if (text.find(label) == std::string::npos) {
                alone.push_back(label);
            }
        }
        if (!alone.empty()) {
            text.append(",").append(alone);
            operands.push_back(
                b.algebra().full(b.g().type(), sizes_of(all.operands, equation, alone), 1));
        }
        Expr by_operand = einsum_of(operands, text.append("->").append(term));
        if (all.places[i].is_none()) {
            b.add(i, by_operand);
        } else {
            by_operand = sum_to(by_operand, all.places[i].dims());
            b.add(i, put_back(by_operand, all.places[i], b.x(i).dims()));
        }
    }
}

// The product of the pivots of an elimination down to 2 rows. A pivot is the greatest element that
// is left: so no factor is above 1, and one that is 0 means that nothing is left, also in the
// derivatives.
std::vector<Expr> det(Backward& b) {
    Algebra& a = b.algebra();
    Expr rest = wide(b.x());
    int64_t n = rest.dim(rest.rank() - 1);
    int64_t count = b.y().count();
    rest = reshape(rest, {count, n, n});
    Expr product = a.full(rest.type(), {count}, 1);
    for (; n > 2; --n) {
        Expr sizes = reshape(apply("Abs", rest), {count, n * n});
        Expr place = a.call("ArgMax", {sizes}, {ir::make_attribute("axis", int64_t{1})});
        Expr row = place / static_cast<double>(n);
        Expr column = place - row * static_cast<double>(n);
        Expr numbers = a.range(0, n - 1);
        auto others = [&](const Expr& one) {  // [count, n - 1]
            return numbers + cast(!(numbers < one), ElementType::kInt64);
        };
        auto rows = [&](const Expr& e, const Expr& places, int64_t height) {
            return take_elements(e, expand(reshape(places, {count, height, 1}), {count, height, n}),
                                 1);
        };
        auto columns = [&](const Expr& e, const Expr& places, int64_t width) {
            Dims dims = {count, e.dim(1), width};
            return take_elements(e, expand(reshape(places, {count, 1, width}), dims), 2);
        };
        Expr top = rows(rest, row, 1);
        Expr below = rows(rest, others(row), n - 1);
        Expr pivot = columns(top, column, 1);
        Expr parity = row + column;
        parity = parity - parity / 2 * 2;
        product =
            product * reshape(pivot, {count}) * reshape(1 - cast(parity, rest.type()) * 2, {count});
        rest = columns(below, others(column), n - 1) - columns(below, column, 1) /
                                                           where(equals(pivot, 0), 1, pivot) *
                                                           columns(top, others(column), n - 1);
    }
    auto element = [&](int64_t i, int64_t k) {
        return reshape(slice(slice(rest, 1, i, i + 1), 2, k, k + 1), {count});
    };
    if (n == 1) {
        product = element(0, 0);
    } else if (n == 2) {
        product = product * (element(0, 0) * element(1, 1) - element(0, 1) * element(1, 0));
    }
    return {reshape(cast(product, b.y().type()), b.y().dims())};
}

}  // namespace sardonyx::eval::derivatives
