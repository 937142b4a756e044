// Rules of differentiation: products of matrices, and Einsum.
#include <algorithm>
#include <string>

#include "eval/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

// --- Einsum: "ij,jk->ik" as the labels of each operand and of the result.

struct Equation {
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

bool has_repeats(const std::string& term) {
    std::string sorted = term;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

// The equation of a call that has run, so that its form is right.
bool read_equation(Backward& b, Equation* equation) {
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

// The size of each label; 1 where an axis is broadcast.
int64_t size_of(Backward& b, const Equation& equation, char label) {
    int64_t size = 1;
    for (size_t i = 0; i < equation.terms.size(); ++i) {
        size_t at = equation.terms[i].find(label);
        if (at != std::string::npos && size == 1) {
            size = b.x(i).dim(static_cast<int>(at));
        }
    }
    return size;
}

Dims sizes_of(Backward& b, const Equation& equation, const std::string& term) {
    Dims dims;
    for (char label : term) {
        dims.push_back(size_of(b, equation, label));
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
    Equation equation;
    if (!read_equation(b, &equation) || has_repeats(equation.result) ||
        std::any_of(equation.terms.begin(), equation.terms.end(), has_repeats)) {
        b.fail(
            "there is no rule of differentiation for an equation in which a term has a letter "
            "twice: take the diagonal with GatherND first");
        return;
    }
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
                operands.push_back(expand(b.x(k), sizes_of(b, equation, equation.terms[k])));
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
            operands.push_back(b.algebra().full(b.g().type(), sizes_of(b, equation, alone), 1));
        }
        text.append("->").append(term);
        b.add(i, b.algebra().call("Einsum", operands, {ir::make_attribute("equation", text)}));
    }
}

}  // namespace sardonyx::eval::derivatives
