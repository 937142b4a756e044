// Einsum: two operands at a time, as a product of stacks of matrices where it is one.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/functors.h"
#include "eval/loops/matmul.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// A label of Einsum: a letter, or one of the dims that `...` stands for.
struct Equation {
    std::vector<std::vector<int>> inputs;  // labels of each axis
    std::vector<int> output;
    int label_count = 0;
};

class EquationParser {
  public:
    explicit EquationParser(std::string_view text) {
        for (char ch : text) {
            if (ch != ' ') {
                text_ += ch;
            }
        }
    }

    Result<Equation> parse(std::span<const Tensor> operands) {
        size_t arrow = text_.find("->");
        std::string left = text_.substr(0, arrow);
        std::vector<std::string> terms(1);
        for (char ch : left) {
            if (ch == ',') {
                terms.emplace_back();
            } else {
                terms.back() += ch;
            }
        }
        if (terms.size() != operands.size()) {
            return Error{fmt::format("the equation has {} terms for {} inputs", terms.size(),
                                     operands.size())};
        }
        for (size_t i = 0; i < terms.size(); ++i) {
            ellipsis_ = std::max(ellipsis_, operands[i].rank() - letters(terms[i]));
        }
        for (size_t i = 0; i < terms.size(); ++i) {
            int own = operands[i].rank() - letters(terms[i]);
            bool has_ellipsis = terms[i].find("...") != std::string::npos;
            if (own < 0 || (own > 0 && !has_ellipsis)) {
                return Error{
                    fmt::format("term `{}` does not fit rank {}", terms[i], operands[i].rank())};
            }
            SDX_ASSIGN(std::vector<int> labels, read(terms[i], own));
            equation_.inputs.push_back(std::move(labels));
        }
        if (arrow != std::string::npos) {
            SDX_ASSIGN(equation_.output, read(text_.substr(arrow + 2), ellipsis_));
        } else {
            set_implicit_output(left);
        }
        equation_.label_count = ellipsis_ + 128;
        return equation_;
    }

  private:
    static int letters(const std::string& term) {
        return static_cast<int>(
            std::count_if(term.begin(), term.end(), [](char ch) { return ch != '.'; }));
    }
    int letter_label(char ch) const { return ellipsis_ + static_cast<unsigned char>(ch); }

    // `...` stands for the last `own` of the ellipsis labels.
    Result<std::vector<int>> read(const std::string& term, int own) const {
        std::vector<int> labels;
        for (size_t i = 0; i < term.size(); ++i) {
            char ch = term[i];
            bool is_letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
            if (is_letter) {
                labels.push_back(letter_label(ch));
            } else if (term.compare(i, 3, "...") == 0) {
                for (int k = ellipsis_ - own; k < ellipsis_; ++k) {
                    labels.push_back(k);
                }
                i += 2;
            } else {
                return Error{fmt::format("the equation has an unexpected `{}`", ch)};
            }
        }
        return labels;
    }

    // Without an arrow: the ellipsis, then the letters that occur once, in the alphabet's order.
    void set_implicit_output(const std::string& left) {
        for (int k = 0; k < ellipsis_; ++k) {
            equation_.output.push_back(k);
        }
        for (int ch = 'A'; ch <= 'z'; ++ch) {
            if (std::count(left.begin(), left.end(), static_cast<char>(ch)) == 1) {
                equation_.output.push_back(letter_label(static_cast<char>(ch)));
            }
        }
    }

    std::string text_;
    Equation equation_;
    int ellipsis_ = 0;
};

// The sizes of the labels, and each operand's stride along each label.
struct EinsumLoops {
    std::vector<int> labels;  // those of the output, then those summed over
    Dims sizes;               // of `labels`
    std::vector<Dims> strides;
};

Result<EinsumLoops> einsum_loops(const Equation& equation, std::span<const Tensor> operands) {
    Dims size_of(equation.label_count, -1);
    for (size_t i = 0; i < operands.size(); ++i) {
        for (size_t d = 0; d < equation.inputs[i].size(); ++d) {
            int64_t& size = size_of[equation.inputs[i][d]];
            int64_t dim = operands[i].dims()[d];
            if (size != -1 && size != dim && size != 1 && dim != 1) {
                return Error{fmt::format("an index has sizes {} and {}", size, dim)};
            }
            size = size == -1 || size == 1 ? dim : size;
        }
    }
    EinsumLoops loops;
    for (int label : equation.output) {
        bool again = std::count(loops.labels.begin(), loops.labels.end(), label) > 0;
        if (size_of[label] == -1 || again) {
            return Error{"an index of the result occurs in no term, or twice in the result"};
        }
        loops.labels.push_back(label);
    }
    for (int label = 0; label < equation.label_count; ++label) {
        bool is_output = std::count(loops.labels.begin(), loops.labels.end(), label) > 0;
        if (size_of[label] != -1 && !is_output) {
            loops.labels.push_back(label);
        }
    }
    for (int label : loops.labels) {
        loops.sizes.push_back(size_of[label]);
    }
    for (size_t i = 0; i < operands.size(); ++i) {
        Dims own = row_major_strides(operands[i].dims());
        Dims strides(loops.labels.size(), 0);
        for (size_t d = 0; d < own.size(); ++d) {
            size_t at = std::find(loops.labels.begin(), loops.labels.end(), equation.inputs[i][d]) -
                        loops.labels.begin();
            strides[at] += operands[i].dims()[d] == 1 ? 0 : own[d];  // a diagonal adds up
        }
        loops.strides.push_back(std::move(strides));
    }
    return loops;
}

// Two operands at a time: out[labels of the result] = sum of a * b.
template <typename T>
void einsum_pair(const EinsumLoops& loops, const T* a, const T* b, T* out, size_t output_rank) {
    using S = ProductSum<T>;
    std::span<const int64_t> sizes = loops.sizes;
    std::span<const int64_t> summed = sizes.subspan(output_rank);
    std::span<const int64_t> steps_a = loops.strides[0];
    std::span<const int64_t> steps_b = loops.strides[1];
    StridedWalk<2> inner(summed, {steps_a.subspan(output_rank), steps_b.subspan(output_rank)});
    Dims steps_out = row_major_strides(sizes.first(output_rank));
    StridedWalk<3> outer(sizes.first(output_rank),
                         {steps_a.first(output_rank), steps_b.first(output_rank), steps_out});
    outer.for_each_row([&](const auto& at, const auto& step, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
            const T* x = a + at[0] + i * step[0];
            const T* y = b + at[1] + i * step[1];
            S sum = 0;
            inner.for_each_row([&](const auto& place, const auto& stride, int64_t count) {
                for (int64_t j = 0; j < count; ++j) {
                    sum += static_cast<S>(static_cast<Compute<T>>(x[place[0] + j * stride[0]])) *
                           static_cast<S>(static_cast<Compute<T>>(y[place[1] + j * stride[1]]));
                }
            });
            out[at[2] + i * step[2]] = static_cast<T>(sum);
        }
    });
}

// For each label, the last operand that has it; the number of operands where the result has it.
std::vector<size_t> last_operands(const Equation& equation) {
    std::vector<size_t> last(equation.label_count, 0);
    for (size_t i = 0; i < equation.inputs.size(); ++i) {
        for (int label : equation.inputs[i]) {
            last[label] = i;
        }
    }
    for (int label : equation.output) {
        last[label] = equation.inputs.size();
    }
    return last;
}

// The labels that the product of the operands up to this one must keep: those that the result or a
// later operand has.
std::vector<int> kept_labels(const std::vector<std::vector<int>>& pair,
                             const std::vector<size_t>& last, size_t operand) {
    std::vector<int> kept;
    for (const std::vector<int>& labels : pair) {
        for (int label : labels) {
            if (last[label] > operand && std::count(kept.begin(), kept.end(), label) == 0) {
                kept.push_back(label);
            }
        }
    }
    return kept;
}

// The labels of two operands by what becomes of them in a product of stacks of matrices.
struct EinsumRoles {
    std::vector<int> stack;   // in both operands and the result
    std::vector<int> summed;  // in both operands
    std::vector<int> left;    // in the first operand and the result
    std::vector<int> right;   // in the second one and the result
};

// Nothing: a label stands twice in an operand, is summed in one operand alone, or broadcasts.
std::optional<EinsumRoles> einsum_roles(const Equation& equation,
                                        std::span<const Tensor> operands) {
    auto has = [](const std::vector<int>& labels, int label) {
        return std::count(labels.begin(), labels.end(), label);
    };
    const std::vector<int>&a = equation.inputs[0], &b = equation.inputs[1];
    EinsumRoles roles;
    for (int label = 0; label < equation.label_count; ++label) {
        auto in_a = has(a, label), in_b = has(b, label), in_result = has(equation.output, label);
        if (in_a > 1 || in_b > 1 || in_result > 1 || (in_a + in_b == 1 && in_result == 0)) {
            return std::nullopt;
        }
        if (in_a == 0 && in_b == 0) {
            continue;
        }
        if (in_a + in_b == 2) {
            int64_t size_a = operands[0].dims()[std::find(a.begin(), a.end(), label) - a.begin()];
            int64_t size_b = operands[1].dims()[std::find(b.begin(), b.end(), label) - b.begin()];
            if (size_a != size_b) {
                return std::nullopt;
            }
            (in_result > 0 ? roles.stack : roles.summed).push_back(label);
        } else {
            (in_a > 0 ? roles.left : roles.right).push_back(label);
        }
    }
    return roles;
}

// The operand with its axes in the order of three groups of labels, each taken as one axis.
Result<Tensor> grouped(const KernelContext& c, const Tensor& operand,
                       const std::vector<int>& labels,
                       std::initializer_list<const std::vector<int>*> groups) {
    std::vector<int> order;
    Dims dims;
    for (const std::vector<int>* group : groups) {
        Dims sizes;
        for (int label : *group) {
            order.push_back(
                static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin()));
            sizes.push_back(operand.dims()[order.back()]);
        }
        dims.push_back(product(sizes));
    }
    SDX_ASSIGN(Tensor moved, transposed(c, operand, order));
    return moved.reshaped(std::move(dims));
}

// As a product of stacks of matrices; nothing where it is none, or so small that this costs more.
Result<std::optional<Tensor>> einsum_as_matmul(KernelContext& c, const Equation& equation,
                                               std::span<const Tensor> operands,
                                               const EinsumLoops& loops) {
    constexpr int64_t kLittleWork = 1 << 12;
    std::optional<EinsumRoles> roles = einsum_roles(equation, operands);
    if (!roles.has_value() || operands[0].count() == 0 || operands[1].count() == 0 ||
        product(loops.sizes) < kLittleWork) {
        return std::optional<Tensor>();
    }
    SDX_ASSIGN(Tensor a, grouped(c, operands[0], equation.inputs[0],
                                 {&roles->stack, &roles->left, &roles->summed}));
    SDX_ASSIGN(Tensor b, grouped(c, operands[1], equation.inputs[1],
                                 {&roles->stack, &roles->summed, &roles->right}));
    SDX_ASSIGN(Tensor made, matmul(c, a, b));
    // From [stack, left, right] to the order of the result.
    std::vector<int> labels = roles->stack;
    labels.insert(labels.end(), roles->left.begin(), roles->left.end());
    labels.insert(labels.end(), roles->right.begin(), roles->right.end());
    Dims dims(labels.size());
    std::vector<int> order;
    for (size_t i = 0; i < equation.output.size(); ++i) {
        auto at = std::find(labels.begin(), labels.end(), equation.output[i]) - labels.begin();
        order.push_back(static_cast<int>(at));
        dims[at] = loops.sizes[i];
    }
    SDX_ASSIGN(Tensor out, transposed(c, made.reshaped(std::move(dims)), order));
    return std::optional<Tensor>(std::move(out));
}

Result<Tensor> einsum_two(KernelContext& c, const Equation& equation,
                          std::span<const Tensor> operands) {
    SDX_ASSIGN(EinsumLoops loops, einsum_loops(equation, operands));
    SDX_ASSIGN(std::optional<Tensor> matrices, einsum_as_matmul(c, equation, operands, loops));
    if (matrices.has_value()) {
        return *std::move(matrices);
    }
    size_t rank = equation.output.size();
    Dims dims(loops.sizes.begin(), loops.sizes.begin() + rank);
    SDX_ASSIGN(Tensor out, c.scratch(operands[0].element_type(), std::move(dims)));
    SDX_TRY(visit(Numbers{}, out.element_type(), [&]<typename T>() -> Status {
        einsum_pair(loops, operands[0].elements<T>().data(), operands[1].elements<T>().data(),
                    out.mutable_elements<T>().data(), rank);
        return {};
    }));
    return out;
}

}  // namespace

Status einsum(KernelContext& c) {
    std::vector<Tensor> operands;
    for (size_t i = 0; i < c.input_count(); ++i) {
        operands.push_back(c.tensor(i));
    }
    SDX_ASSIGN(Equation equation, EquationParser(c.string_attribute("equation")).parse(operands));
    if (operands.size() == 1) {
        // A second operand of one 1, which no index names.
        double one = 1;
        SDX_ASSIGN(Tensor scalar, tensor_from_doubles(c.type(0), {}, {&one, 1}));
        operands.push_back(std::move(scalar));
        equation.inputs.emplace_back();
    }
    // Each operand takes the place of its product with all before it.
    std::vector<size_t> last = last_operands(equation);
    for (size_t i = 1; i < operands.size(); ++i) {
        bool is_last = i + 1 == operands.size();
        Equation pair{{equation.inputs[i - 1], equation.inputs[i]}, {}, equation.label_count};
        pair.output = is_last ? equation.output : kept_labels(pair.inputs, last, i);
        SDX_ASSIGN(operands[i],
                   einsum_two(c, pair, std::span<const Tensor>(operands).subspan(i - 1, 2)));
        operands[i - 1] = Tensor();
        equation.inputs[i] = std::move(pair.output);
    }
    c.set_output(0, std::move(operands.back()));
    return {};
}

}  // namespace sardonyx::eval::kernels
