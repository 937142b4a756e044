#include "eval/gradient/algebra.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sardonyx::eval {

void Algebra::fail(Error error) {
    if (status_.ok()) {
        status_ = std::move(error);
    }
}

void Algebra::check(const Status& status) {
    if (!status.ok()) {
        fail(status.error());
    }
}

std::vector<Expr> Algebra::call(std::string_view op_type, const std::vector<Expr>& inputs,
                                std::vector<ir::Attribute> attributes, size_t output_count) {
    std::vector<Expr> results(output_count, Expr(this, {}));
    if (!status_.ok()) {
        return results;
    }
    const OperatorEntry* entry = find_operator("", op_type, INT16_MAX);
    SDX_CHECK(entry != nullptr && entry->kernel != nullptr);
    std::vector<RuntimeValue> values;
    for (const Expr& input : inputs) {
        values.push_back(input.value());
    }
    auto outputs = tape_.run(*entry, std::move(values), attributes, output_count);
    if (!outputs.ok()) {
        fail(outputs.error());
        return results;
    }
    for (size_t i = 0; i < output_count; ++i) {
        results[i] = Expr(this, std::move((*outputs)[i]));
    }
    return results;
}

Expr Algebra::call(std::string_view op_type, const std::vector<Expr>& inputs,
                   std::vector<ir::Attribute> attributes) {
    return call(op_type, inputs, std::move(attributes), 1)[0];
}

Expr Algebra::value(RuntimeValue value) {
    return {this, std::move(value)};
}

Expr Algebra::scalar(ElementType type, double number) {
    Result<Tensor> tensor = tensor_from_doubles(type, {}, {&number, 1});
    if (!tensor.ok()) {
        fail(tensor.error());
        return {this, {}};
    }
    return {this, std::move(tensor).value()};
}

Expr Algebra::ints(const std::vector<int64_t>& numbers) {
    return {this, Tensor::of<int64_t>({static_cast<int64_t>(numbers.size())}, numbers)};
}

Expr Algebra::range(int64_t first, int64_t end) {
    auto number = [this](int64_t n) { return value(Tensor::scalar<int64_t>(n)); };
    return call("Range", {number(first), number(end), number(1)});
}

Expr Algebra::full(ElementType type, const Dims& dims, double number) {
    return expand(scalar(type, number), dims);
}

const Dims& Expr::dims() const {
    static const Dims none;
    return value_.is_tensor() ? value_.tensor().dims() : none;
}

int64_t Expr::dim(int axis) const {
    return axis >= 0 && axis < rank() ? dims()[axis] : 1;
}

ElementType Expr::type() const {
    return value_.is_tensor() ? value_.tensor().element_type() : ElementType::kFloat;
}

// --- Elementwise

namespace {

Expr two(std::string_view op_type, const Expr& a, const Expr& b) {
    return a.algebra().call(op_type, {a, b});
}

Expr like(const Expr& x, double number) {
    return x.algebra().scalar(x.type(), number);
}

}  // namespace

Expr operator-(const Expr& a) {
    return apply("Neg", a);
}
Expr operator+(const Expr& a, const Expr& b) {
    return two("Add", a, b);
}
Expr operator-(const Expr& a, const Expr& b) {
    return two("Sub", a, b);
}
Expr operator*(const Expr& a, const Expr& b) {
    return two("Mul", a, b);
}
Expr operator/(const Expr& a, const Expr& b) {
    return two("Div", a, b);
}
Expr operator+(const Expr& a, double b) {
    return a + like(a, b);
}
Expr operator-(const Expr& a, double b) {
    return a - like(a, b);
}
Expr operator*(const Expr& a, double b) {
    return a * like(a, b);
}
Expr operator/(const Expr& a, double b) {
    return a / like(a, b);
}
Expr operator-(double a, const Expr& b) {
    return like(b, a) - b;
}
Expr operator/(double a, const Expr& b) {
    return like(b, a) / b;
}
Expr apply(std::string_view op_type, const Expr& x) {
    return x.algebra().call(op_type, {x});
}
Expr power(const Expr& x, double exponent) {
    return two("Pow", x, like(x, exponent));
}
Expr operator>(const Expr& a, const Expr& b) {
    return two("Greater", a, b);
}
Expr operator>(const Expr& a, double b) {
    return a > like(a, b);
}
Expr operator<(const Expr& a, const Expr& b) {
    return two("Less", a, b);
}
Expr operator<(const Expr& a, double b) {
    return a < like(a, b);
}
Expr equals(const Expr& a, const Expr& b) {
    return two("Equal", a, b);
}
Expr equals(const Expr& a, double b) {
    return equals(a, like(a, b));
}
Expr operator!(const Expr& a) {
    return apply("Not", a);
}
Expr operator&&(const Expr& a, const Expr& b) {
    return two("And", a, b);
}
Expr where(const Expr& condition, const Expr& a, const Expr& b) {
    return a.algebra().call("Where", {condition, a, b});
}
Expr where(const Expr& condition, const Expr& a, double b) {
    return where(condition, a, like(a, b));
}
Expr where(const Expr& condition, double a, const Expr& b) {
    return where(condition, like(b, a), b);
}
Expr cast(const Expr& x, ElementType type) {
    return x.type() == type
               ? x
               : x.algebra().call("Cast", {x},
                                  {ir::make_attribute("to", static_cast<int64_t>(type))});
}
Expr wide(const Expr& x) {
    return cast(x, x.type() == ElementType::kDouble ? x.type() : ElementType::kFloat);
}

// --- Shapes

Expr reshape(const Expr& x, const Dims& dims) {
    return x.dims() == dims ? x
                            : x.algebra().call("Reshape", {x, x.algebra().ints(dims)},
                                               {ir::make_attribute("allowzero", int64_t{1})});
}

Expr expand(const Expr& x, const Dims& dims) {
    return x.dims() == dims ? x : two("Expand", x, x.algebra().ints(dims));
}

Expr sum_to(const Expr& x, const Dims& dims) {
    int leading = std::max(0, x.rank() - static_cast<int>(dims.size()));
    int missing = std::max(0, static_cast<int>(dims.size()) - x.rank());
    std::vector<int64_t> axes = axes_from(0, leading);
    for (int axis = leading; axis < x.rank(); ++axis) {
        if (dims[missing + axis - leading] == 1 && x.dim(axis) != 1) {
            axes.push_back(axis);
        }
    }
    Expr total = axes.empty() ? x : sum(x, axes);
    if (leading > 0) {
        Dims kept(total.dims().begin() + std::min(leading, total.rank()), total.dims().end());
        total = reshape(total, kept);
    }
    return expand(total, dims);
}

Expr transpose(const Expr& x, const std::vector<int64_t>& permutation) {
    return x.algebra().call("Transpose", {x}, {ir::make_attribute("perm", permutation)});
}

Expr concat(const std::vector<Expr>& parts, int axis) {
    return parts.size() == 1 ? parts[0]
                             : parts[0].algebra().call("Concat", parts,
                                                       {ir::make_attribute("axis", int64_t{axis})});
}

Expr slice(const Expr& x, int axis, int64_t start, int64_t end) {
    Algebra& a = x.algebra();
    return a.call("Slice", {x, a.ints({start}), a.ints({end}), a.ints({axis})});
}

Expr pad(const Expr& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end) {
    std::vector<int64_t> pads = begin;
    pads.insert(pads.end(), end.begin(), end.end());
    bool is_same = std::all_of(pads.begin(), pads.end(), [](int64_t n) { return n == 0; });
    return is_same ? x : two("Pad", x, x.algebra().ints(pads));
}

Expr zeros_like(const Expr& x) {
    return x.algebra().full(x.type(), x.dims(), 0);
}

Expr take(const Expr& x, const Expr& places, int axis) {
    return x.algebra().call("Gather", {x, places}, {ir::make_attribute("axis", int64_t{axis})});
}

Expr take_elements(const Expr& x, const Expr& places, int axis) {
    return x.algebra().call("GatherElements", {x, places},
                            {ir::make_attribute("axis", int64_t{axis})});
}

Expr put_back(const Expr& x, const Expr& places, const Dims& dims) {
    int64_t count = element_count(dims).value_or(0);
    Algebra& a = x.algebra();
    Expr sums = a.call("ScatterElements",
                       {a.full(x.type(), {count + 1}, 0), reshape(places, {places.count()}),
                        reshape(x, {x.count()})},
                       {ir::make_attribute("reduction", std::string("add"))});
    return reshape(slice(sums, 0, 1, count + 1), dims);
}

// --- Sums and products

Expr sum(const Expr& x, const std::vector<int64_t>& axes) {
    return axes.empty() ? x : two("ReduceSum", x, x.algebra().ints(axes));
}

Expr squeezed_sum(const Expr& x, const std::vector<int64_t>& axes) {
    return axes.empty() ? x
                        : x.algebra().call("ReduceSum", {x, x.algebra().ints(axes)},
                                           {ir::make_attribute("keepdims", int64_t{0})});
}

Expr mean(const Expr& x, const std::vector<int64_t>& axes) {
    return axes.empty() ? x : two("ReduceMean", x, x.algebra().ints(axes));
}

Expr matmul(const Expr& a, const Expr& b) {
    return two("MatMul", a, b);
}

Expr swap_last_axes(const Expr& x) {
    std::vector<int64_t> permutation = axes_from(0, x.rank());
    if (x.rank() >= 2) {
        std::swap(permutation[x.rank() - 1], permutation[x.rank() - 2]);
    }
    return transpose(x, permutation);
}

Expr softmax_of_scores(const Expr& scores) {
    Algebra& a = scores.algebra();
    Expr greatest = a.call("ReduceMax", {scores, a.ints({-1})});
    Expr is_blind = equals(greatest, -std::numeric_limits<double>::infinity());
    return where(is_blind, 0, apply("Softmax", where(is_blind, 0, scores)));
}

std::vector<int64_t> axes_from(int first, int rank) {
    std::vector<int64_t> axes(std::max(0, rank - first));
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

}  // namespace sardonyx::eval
