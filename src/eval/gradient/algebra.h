// Formulas over tensors, run at once: the language of the rules of differentiation.
//
// An Expr is a value; operators and functions on it run operators of the newest opset on a tape. A
// rule thus reads like the formula that it is. After the first error all results are nothing, whose
// rank is 0, and the error is in Algebra::status; rules need not look at it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eval/gradient/tape.h"

namespace sardonyx::eval {

class Expr;

class Algebra {
  public:
    explicit Algebra(Tape& tape) : tape_(tape) {}

    Tape& tape() { return tape_; }
    const Status& status() const { return status_; }
    void fail(Error error);
    void check(const Status& status);

    // An operator of ai.onnx in its newest version.
    std::vector<Expr> call(std::string_view op_type, const std::vector<Expr>& inputs,
                           std::vector<ir::Attribute> attributes, size_t output_count);
    Expr call(std::string_view op_type, const std::vector<Expr>& inputs,
              std::vector<ir::Attribute> attributes = {});

    Expr value(RuntimeValue value);
    Expr scalar(ElementType type, double number);
    Expr ints(const std::vector<int64_t>& numbers);  // INT64[n]
    // INT64[end - first]: first, first + 1, ...
    Expr range(int64_t first, int64_t end);
    Expr full(ElementType type, const Dims& dims, double number);

  private:
    Tape& tape_;
    Status status_;
};

class Expr {
  public:
    Expr() = default;
    Expr(Algebra* algebra, RuntimeValue value) : algebra_(algebra), value_(std::move(value)) {}

    bool is_none() const { return algebra_ == nullptr || value_.is_none(); }
    // Not of Expr().
    Algebra& algebra() const { return *algebra_; }
    const RuntimeValue& value() const { return value_; }

    const Dims& dims() const;
    int rank() const { return static_cast<int>(dims().size()); }
    // 1 past the end.
    int64_t dim(int axis) const;
    int64_t count() const { return value_.is_tensor() ? value_.tensor().count() : 0; }
    ElementType type() const;

  private:
    Algebra* algebra_ = nullptr;
    RuntimeValue value_;
};

// --- Elementwise; numbers have the type of the other operand.
Expr operator-(const Expr& a);
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator+(const Expr& a, double b);
Expr operator-(const Expr& a, double b);
Expr operator*(const Expr& a, double b);
Expr operator/(const Expr& a, double b);
Expr operator-(double a, const Expr& b);
Expr operator/(double a, const Expr& b);
Expr apply(std::string_view op_type, const Expr& x);  // an operator of one input
Expr power(const Expr& x, double exponent);
// Comparisons: BOOL.
Expr operator>(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, double b);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<(const Expr& a, double b);
Expr equals(const Expr& a, const Expr& b);
Expr equals(const Expr& a, double b);
Expr operator!(const Expr& a);
Expr operator&&(const Expr& a, const Expr& b);
Expr where(const Expr& condition, const Expr& a, const Expr& b);
Expr where(const Expr& condition, const Expr& a, double b);
Expr where(const Expr& condition, double a, const Expr& b);
Expr cast(const Expr& x, ElementType type);
Expr wide(const Expr& x);  // 16-bit floats as FLOAT

// --- Shapes.
Expr reshape(const Expr& x, const Dims& dims);
Expr expand(const Expr& x, const Dims& dims);
// Sums over the axes along which `dims` was broadcast to the shape of `x`; where `x` is the smaller
// one it is broadcast.
Expr sum_to(const Expr& x, const Dims& dims);
Expr transpose(const Expr& x, const std::vector<int64_t>& permutation);
Expr concat(const std::vector<Expr>& parts, int axis);
// The elements [start, end) along the axis.
Expr slice(const Expr& x, int axis, int64_t start, int64_t end);
// Zeros at the begin and end of each axis; negative: elements are cut off.
Expr pad(const Expr& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end);
Expr zeros_like(const Expr& x);
// The elements at these places of the axis: Gather and GatherElements.
Expr take(const Expr& x, const Expr& places, int axis);
Expr take_elements(const Expr& x, const Expr& places, int axis);
// Adds each element of `x` to a place of a tensor of these dims, counted from 1 in row-major order
// by the INT64 tensor `places`, whose shape is that of `x`; 0: to none.
Expr put_back(const Expr& x, const Expr& places, const Dims& dims);

// --- Sums and products.
Expr sum(const Expr& x, const std::vector<int64_t>& axes);  // keeps the axes
Expr squeezed_sum(const Expr& x, const std::vector<int64_t>& axes);
Expr mean(const Expr& x, const std::vector<int64_t>& axes);  // keeps the axes
Expr matmul(const Expr& a, const Expr& b);
Expr swap_last_axes(const Expr& x);
// Softmax over the last axis; a row of nothing but -inf attends nowhere: it becomes zeros.
Expr softmax_of_scores(const Expr& scores);

// All axes of [first, rank).
std::vector<int64_t> axes_from(int first, int rank);

}  // namespace sardonyx::eval
