// The rules of differentiation: what one sees of its operator, and their table.
//
// derivatives.def has one row for each operator. A rule is `void name(Backward&)`, which adds the
// gradients by the inputs that need one, or `std::vector<Expr> name(Backward&)`, a definition: the
// outputs in terms of other operators, which are differentiated in its stead.
#pragma once

#include <string_view>
#include <vector>

#include "eval/gradient/algebra.h"

namespace sardonyx::eval {

// One record of the tape, on the way back.
class Backward {
  public:
    // `gradients`: by each output, none where nothing depends on it. `needs`: by input.
    Backward(Algebra& algebra, const TapeRecord& record, std::vector<RuntimeValue> inputs,
             std::vector<RuntimeValue> gradients, std::vector<bool> needs);
    Backward(const Backward&) = delete;
    Backward& operator=(const Backward&) = delete;

    Algebra& algebra() { return algebra_; }
    // Attributes, versions, and the integers among the inputs.
    const KernelContext& context() const { return context_; }
    int version() const { return context_.version(); }
    const TapeRecord& record() const { return record_; }

    size_t input_count() const { return inputs_.size(); }
    bool has_x(size_t i) const { return i < inputs_.size() && !inputs_[i].is_none(); }
    Expr x(size_t i = 0);
    size_t output_count() const { return record_.outputs.size(); }
    Expr y(size_t i = 0);
    // Whether anything depends on output `i`.
    bool has_g(size_t i) const { return i < gradients_.size() && !gradients_[i].is_none(); }
    // The gradient by output `i`; zeros where nothing depends on it.
    Expr g(size_t i = 0);
    // Whether the gradient by input `i` is wanted.
    bool needs(size_t i) const { return i < needs_.size() && needs_[i]; }
    // Adds to the gradient by input `i`, which has that input's shape and type: sum_to and cast.
    void add(size_t i, const Expr& gradient);
    // The gradients that were added, by input.
    std::vector<RuntimeValue> take_gradients() { return std::move(results_); }

    // The outputs of the operator for other first inputs; sequences as their items.
    std::vector<Expr> rerun(const std::vector<Expr>& first);
    // A list that older versions have as an attribute and newer ones as input `i`. Empty: left out.
    std::vector<int64_t> list(std::string_view name, size_t i);
    // An axis attribute as [0, rank).
    int axis(std::string_view name, int rank);
    void fail(std::string_view reason);

  private:
    Algebra& algebra_;
    const TapeRecord& record_;
    std::vector<RuntimeValue> inputs_;
    std::vector<RuntimeValue> gradients_;
    std::vector<bool> needs_;
    std::vector<RuntimeValue> results_;
    std::vector<const RuntimeValue*> pointers_;
    KernelContext context_;
};

// Without rule and definition: the derivative is 0 wherever there is one.
struct Derivative {
    std::string_view domain;
    std::string_view op_type;
    void (*rule)(Backward&) = nullptr;
    std::vector<Expr> (*definition)(Backward&) = nullptr;
    size_t output_count = 0;  // the outputs that the rule reads, wanted or not
};

// Null: there is no rule.
const Derivative* find_derivative(const ops::Schema& schema);
// "Abs, Acos, ..., ai.onnx.ml.Scaler, ...".
std::string derivative_names();

}  // namespace sardonyx::eval
