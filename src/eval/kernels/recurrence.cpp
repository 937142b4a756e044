// RNN, GRU, LSTM: one driver over time steps and directions, and one cell for each.
//
// The products of all inputs with W are one matrix product before the loop; each step adds the
// product of the state with R, which is packed for that where it is used often. Numbers are kept in
// float (double for DOUBLE) from the first step to the last.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "eval/kernels/cast.h"
#include "eval/kernels/quantization.h"
#include "eval/kernels/recurrence_call.h"
#include "eval/loops/clones.h"
#include "eval/loops/convolution.h"
#include "eval/loops/matmul.h"
#include "eval/loops/scratch.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

// The weights of one direction.
template <typename S>
struct RowWeights {
    const S* floats;                              // [gates * hidden, in], or the other way round
    const CodeWeights::Product* codes = nullptr;  // of 8 bits
};

// out[rows, gates * hidden] += x[rows, in] * weights, for the gates [first, last).
template <typename S>
void add_rows(const Recurrence& r, const RowWeights<S>& weights, const S* x, int64_t rows,
              int64_t in, int64_t first, int64_t last, const Workers& threads, S* out) {
    int64_t from = first * r.hidden;
    MatrixProduct<S> product{
        rows,       in,       (last - first) * r.hidden, x, in, false, nullptr, in, true,
        out + from, r.width()};
    product.b = weights.floats + from * (r.weights_by_input ? 1 : in);
    if (r.weights_by_input) {
        product.transpose_b = false;
        product.step_b = r.width();
    }
    multiply_add(product, threads);
}

SDX_CLONES void add_scaled(const int32_t* sums, const float* scales, float scale, float* out,
                           int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] += static_cast<float>(sums[i]) * (scale * scales[i]);
    }
}

SDX_CLONES void widen_codes(const uint8_t* codes, ByteScale by, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<float>(int32_t{codes[i]} - int32_t{by.zero}) * by.scale;
    }
}

// The same for all gates, and x rounded as DynamicQuantizeLinear does.
void add_rounded_rows(const Recurrence& r, const RowWeights<float>& weights, const float* x,
                      int64_t rows, int64_t in, const Workers& threads, float* out) {
    int64_t count = rows * in, width = r.width();
    Tensor codes = Tensor::uninitialized(ElementType::kUint8, {count});
    uint8_t* code = codes.mutable_elements<uint8_t>().data();
    ByteScale by = quantize_to_bytes({x, static_cast<size_t>(count)}, threads, code);
    if (weights.codes->codes == nullptr) {
        Scratch<float> rounded(count);
        widen_codes(code, by, rounded.data(), count);
        add_rows(r, weights, rounded.data(), rows, in, 0, r.gates, threads, out);
        return;
    }
    Scratch<int32_t> sums(rows * width);
    weights.codes->codes->run(codes, by.zero, threads, sums.data());
    for (int64_t row = 0; row < rows; ++row) {
        add_scaled(sums.data() + row * width, weights.codes->scales.data(), by.scale,
                   out + row * width, width);
    }
}

template <typename S>
void add_all_gates(const Recurrence& r, const RowWeights<S>& weights, const S* x, int64_t rows,
                   int64_t in, const Workers& threads, S* out) {
    if constexpr (std::is_same_v<S, float>) {
        if (weights.codes != nullptr) {
            add_rounded_rows(r, weights, x, rows, in, threads, out);
            return;
        }
    }
    add_rows(r, weights, x, rows, in, 0, r.gates, threads, out);
}

// R of floats for the parts of each direction.
template <typename S>
using PackedRecurrent = std::vector<PackedMatrix<S>>;

// Made once for a plan where R is constant, and even for one step where it is not: the order of
// additions must not depend on that. Null: R is of codes.
template <typename S>
std::shared_ptr<const PackedRecurrent<S>> packed_recurrent(KernelContext& c, const Recurrence& r,
                                                           const S* recurrent) {
    bool is_constant = c.is_constant(2);
    if (r.recurrent_codes != nullptr) {
        return nullptr;
    }
    if (auto kept = is_constant ? c.kept<PackedRecurrent<S>>() : nullptr) {
        return kept;
    }
    auto made = std::make_shared<PackedRecurrent<S>>();
    for (int64_t d = 0; d < r.directions; ++d) {
        for (int64_t part = 0; part < r.parts; ++part) {
            int64_t first = d * r.gates + r.first_gate(part);
            int64_t count = r.end_gate(part) - r.first_gate(part);
            made->emplace_back(recurrent + first * r.hidden * r.hidden, r.hidden, true, r.hidden,
                               count * r.hidden);
        }
    }
    if (is_constant) {
        c.keep<PackedRecurrent<S>>(made);
    }
    return made;
}

// One direction while it runs. Rows of `h` are those of the batch.
template <typename S>
struct Direction {
    const Recurrence& r;
    const Activation* activations;
    Workers threads;
    RowWeights<S> recurrent;
    const PackedMatrix<S>* packed;  // the same for each part, or null
    std::vector<S> state_bias;      // GRU with linear_before_reset: [hidden] or empty
    std::vector<S> peepholes;       // LSTM: [3 * hidden] or empty
    std::vector<S> h, cell;         // [batch, hidden]; `cell` of LSTM only
    // [batch, gates * hidden] of the current step: the product of X and W, and the biases.
    std::vector<S> gates;

    S* gate(int64_t b, int64_t index) { return gates.data() + b * r.width() + index * r.hidden; }
    // The activation `i` of n clipped numbers, in place.
    void activate(size_t i, S* x, int64_t n) const {
        if (r.clip < INFINITY) {
            auto bound = static_cast<S>(r.clip);
            std::transform(x, x + n, x, [&](S value) { return std::clamp(value, -bound, bound); });
        }
        activations[i](x, n);
    }
    // gates += state * R, for all gates of every row of the batch, or for those of a part.
    void add_state() {
        if (packed != nullptr) {
            add_state(h, 0);
        } else {
            add_all_gates(r, recurrent, h.data(), r.batch, r.hidden, threads, gates.data());
        }
    }
    void add_state(const std::vector<S>& state, int64_t part) {
        int64_t first = r.first_gate(part);
        if (packed != nullptr) {
            multiply_add(r.batch, state.data(), r.hidden, packed[part],
                         gates.data() + first * r.hidden, r.width(), threads);
        } else {
            add_rows(r, recurrent, state.data(), r.batch, r.hidden, first, r.end_gate(part),
                     threads, gates.data());
        }
    }
};

template <typename S>
SDX_CLONES void add_to(S* x, const S* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        x[i] += y[i];
    }
}

template <typename S>
SDX_CLONES void add_product(S* x, const S* y, const S* z, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        x[i] += y[i] * z[i];
    }
}

template <typename S>
SDX_CLONES void multiply_by(S* x, const S* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        x[i] *= y[i];
    }
}

// x = x * y + z * w
template <typename S>
SDX_CLONES void update_cell(S* x, const S* y, const S* z, const S* w, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        x[i] = x[i] * y[i] + z[i] * w[i];
    }
}

// x = (1 - y) * z + y * x
template <typename S>
SDX_CLONES void update_hidden(S* x, const S* y, const S* z, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        x[i] = (1 - y[i]) * z[i] + y[i] * x[i];
    }
}

template <typename S>
SDX_CLONES void couple_gates(S* x, const S* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        x[i] = 1 - y[i];
    }
}

// Runs the cell over all steps and directions. `Cell`: void(Direction<S>&, active), which makes the
// new h (and cell) from `gates` for the rows of the batch that are active.
template <typename T, typename Cell>
Status run_recurrence(KernelContext& c, const Recurrence& r, bool has_cell, Cell&& cell) {
    using S = ProductSum<T>;
    Dims y_dims = r.batch_first ? Dims{r.batch, r.steps, r.directions, r.hidden}
                                : Dims{r.steps, r.directions, r.batch, r.hidden};
    Dims state_dims = r.batch_first ? Dims{r.batch, r.directions, r.hidden}
                                    : Dims{r.directions, r.batch, r.hidden};
    Tensor* y = nullptr;
    Tensor* y_h = nullptr;
    Tensor* y_c = nullptr;
    if (c.wants(0)) {
        SDX_ASSIGN(y, c.output(0, c.type(0), y_dims));
        fill_zero(*y);
    }
    if (c.wants(1)) {
        SDX_ASSIGN(y_h, c.output(1, c.type(0), state_dims));
    }
    if (c.wants(2) && has_cell) {
        SDX_ASSIGN(y_c, c.output(2, c.type(0), state_dims));
    }
    int64_t rows = r.steps * r.batch;
    ProductOperand<T> x(c.tensor(0));
    ProductOperand<T> w(r.input_codes != nullptr ? r.input_codes->floats : c.tensor(1));
    ProductOperand<T> recurrent(r.recurrent_codes != nullptr ? r.recurrent_codes->floats
                                                             : c.tensor(2));
    auto weights_of = [&r](const ProductOperand<T>& floats, const CodeWeights* codes, int64_t in,
                           int64_t d) {
        const S* all = floats.data();
        return RowWeights<S>{all != nullptr ? all + d * r.width() * in : nullptr,
                             codes != nullptr ? &codes->products[d] : nullptr};
    };
    auto part = [&c](size_t i, int64_t start, int64_t count) {
        std::vector<S> values(count, S(0));
        if (c.has_input(i)) {
            const T* from = c.tensor(i).elements<T>().data() + start;
            std::transform(from, from + count, values.begin(),
                           [](T x) { return static_cast<S>(static_cast<Compute<T>>(x)); });
        }
        return values;
    };
    auto states = [&](size_t i, int64_t d) {
        std::vector<S> values;
        for (int64_t b = 0; b < r.batch; ++b) {
            std::vector<S> row = part(i, r.state_row(d, b) * r.hidden, r.hidden);
            values.insert(values.end(), row.begin(), row.end());
        }
        return values;
    };
    int64_t n = r.width();
    auto packed = packed_recurrent<S>(c, r, recurrent.data());
    std::vector<S> products;
    std::vector<char> active(r.batch);
    for (int64_t d = 0; d < r.directions; ++d) {
        size_t functions = r.activations.size() / r.directions;
        Direction<S> direction{r,
                               r.activations.data() + d * functions,
                               c.threads(),
                               weights_of(recurrent, r.recurrent_codes, r.hidden, d),
                               packed == nullptr ? nullptr : packed->data() + d * r.parts,
                               {},
                               {},
                               states(5, d),
                               {},
                               std::vector<S>(r.batch * n)};
        if (has_cell) {
            direction.cell = states(6, d);
            if (c.has_input(7)) {
                direction.peepholes = part(7, d * 3 * r.hidden, 3 * r.hidden);
            }
        }
        std::vector<S> bias = part(3, d * 2 * n, n);
        std::vector<S> state_bias = part(3, d * 2 * n + n, n);
        int64_t together = n;
        if (r.resets_product) {
            together -= r.hidden;
            direction.state_bias.assign(state_bias.begin() + together, state_bias.end());
        }
        std::transform(bias.begin(), bias.begin() + together, state_bias.begin(), bias.begin(),
                       std::plus<S>());
        products.resize(rows * n);
        for (int64_t row = 0; row < rows; ++row) {
            std::copy_n(bias.data(), n, products.data() + row * n);
        }
        add_all_gates(r, weights_of(w, r.input_codes, r.input, d), x.data(), rows, r.input,
                      c.threads(), products.data());
        for (int64_t step = 0; step < r.steps; ++step) {
            if (direction.threads.poll()) {
                return {};
            }
            for (int64_t b = 0; b < r.batch; ++b) {
                active[b] = step < r.lengths[b];
                int64_t at = r.reverses(d) ? r.lengths[b] - 1 - step : step;
                std::copy_n(active[b] ? products.data() + r.x_row(at, b) * n : bias.data(), n,
                            direction.gates.data() + b * n);
            }
            cell(direction, active);
            for (int64_t b = 0; y != nullptr && b < r.batch; ++b) {
                if (active[b]) {
                    int64_t at = r.reverses(d) ? r.lengths[b] - 1 - step : step;
                    T* target =
                        y->template mutable_elements<T>().data() + r.y_row(at, d, b) * r.hidden;
                    std::transform(direction.h.data() + b * r.hidden,
                                   direction.h.data() + (b + 1) * r.hidden, target,
                                   [](S value) { return static_cast<T>(value); });
                }
            }
        }
        for (auto [target, source] : {std::pair{y_h, &direction.h}, {y_c, &direction.cell}}) {
            for (int64_t b = 0; target != nullptr && b < r.batch; ++b) {
                T* row =
                    target->template mutable_elements<T>().data() + r.state_row(d, b) * r.hidden;
                std::transform(source->data() + b * r.hidden, source->data() + (b + 1) * r.hidden,
                               row, [](S value) { return static_cast<T>(value); });
            }
        }
    }
    return {};
}

constexpr std::string_view kRnnNames[] = {"Tanh"};

constexpr std::string_view kGruNames[] = {"Sigmoid", "Tanh"};

constexpr std::string_view kLstmNames[] = {"Sigmoid", "Tanh", "Tanh"};

}  // namespace

Status rnn(KernelContext& c) {
    SDX_ASSIGN(Recurrence r, recurrence(c, 1, kRnnNames));
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        using S = ProductSum<T>;
        return run_recurrence<T>(
            c, r, false, [&r](Direction<S>& d, const std::vector<char>& active) {
                d.add_state();
                for (int64_t b = 0; b < r.batch; ++b) {
                    if (active[b]) {
                        d.activate(0, d.gate(b, 0), r.hidden);
                        std::copy_n(d.gate(b, 0), r.hidden, d.h.data() + b * r.hidden);
                    }
                }
            });
    });
}

// Gates in the order z (update), r (reset), h (hidden).
Status gru(KernelContext& c) {
    SDX_ASSIGN(Recurrence r, recurrence(c, 3, kGruNames));
    r.resets_product = c.int_attribute("linear_before_reset") != 0;
    r.parts = r.resets_product ? 1 : 2;
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        using S = ProductSum<T>;
        int64_t n = r.hidden;
        // What the reset gate is multiplied with is h, before its product with R, or that product;
        // this holds the former, or the hidden gate's part from X meanwhile.
        std::vector<S> kept(r.batch * n);
        return run_recurrence<T>(
            c, r, false, [&](Direction<S>& d, const std::vector<char>& active) {
                for (int64_t b = 0; b < r.batch && r.resets_product; ++b) {
                    std::copy_n(d.gate(b, 2), n, kept.data() + b * n);
                    std::copy_n(d.state_bias.data(), n, d.gate(b, 2));
                }
                d.add_state(d.h, 0);
                for (int64_t b = 0; b < r.batch; ++b) {
                    d.activate(0, d.gate(b, 0), 2 * n);
                    if (r.resets_product) {
                        multiply_by(d.gate(b, 2), d.gate(b, 1), n);
                        add_to(d.gate(b, 2), kept.data() + b * n, n);
                    } else {
                        std::copy_n(d.h.data() + b * n, n, kept.data() + b * n);
                        multiply_by(kept.data() + b * n, d.gate(b, 1), n);
                    }
                }
                if (!r.resets_product) {
                    d.add_state(kept, 1);
                }
                for (int64_t b = 0; b < r.batch; ++b) {
                    if (active[b]) {
                        d.activate(1, d.gate(b, 2), n);
                        update_hidden(d.h.data() + b * n, d.gate(b, 0), d.gate(b, 2), n);
                    }
                }
            });
    });
}

namespace {

// Gates in the order i (input), o (output), f (forget), c (cell); peepholes i, o, f.
Status run_lstm(KernelContext& c, const Recurrence& r) {
    Dims state{r.directions, r.batch, r.hidden};
    if (r.batch_first) {
        std::swap(state[0], state[1]);
    }
    SDX_TRY(check_dims(c, 6, "initial_c", state));
    SDX_TRY(check_dims(c, 7, "P", {r.directions, 3 * r.hidden}));
    bool couples = c.int_attribute("input_forget") != 0;
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        using S = ProductSum<T>;
        return run_recurrence<T>(
            c, r, true, [&r, couples](Direction<S>& d, const std::vector<char>& active) {
                int64_t n = r.hidden;
                d.add_state();
                for (int64_t b = 0; b < r.batch; ++b) {
                    if (!active[b]) {
                        continue;
                    }
                    S* in = d.gate(b, 0);
                    S* out = d.gate(b, 1);
                    S* forget = d.gate(b, 2);
                    S* candidate = d.gate(b, 3);
                    S* cell = d.cell.data() + b * n;
                    S* h = d.h.data() + b * n;
                    bool peeps = !d.peepholes.empty();
                    if (peeps) {
                        add_product(in, d.peepholes.data(), cell, n);
                        add_product(forget, d.peepholes.data() + 2 * n, cell, n);
                        d.activate(0, in, n);
                        d.activate(0, forget, n);
                    } else {
                        d.activate(0, in, 3 * n);  // `out` lies between the other two
                    }
                    if (couples) {
                        couple_gates(forget, in, n);
                    }
                    d.activate(1, candidate, n);
                    update_cell(cell, forget, in, candidate, n);
                    if (peeps) {
                        add_product(out, d.peepholes.data() + n, cell, n);
                        d.activate(0, out, n);
                    }
                    std::copy_n(cell, n, h);
                    d.activations[2](h, n);
                    multiply_by(h, out, n);
                }
            });
    });
}

// The scales and zero points of the weights, input `i`, by direction and column; there is one for
// each direction, or for each of its columns too.
struct CodeScales {
    std::vector<float> scales;
    std::vector<int64_t> zeros;
};

Result<CodeScales> code_scales(const KernelContext& c, size_t i, size_t scale_input) {
    const Dims& dims = c.dims(i);
    const Tensor& scale = c.tensor(scale_input);
    const Tensor& zero = c.tensor(scale_input + 1);
    int64_t columns = dims[0] * dims[2];
    if ((scale.count() != columns && scale.count() != dims[0]) || zero.count() != scale.count()) {
        return Error{fmt::format("scales {} and zero points {} do not fit weights {}",
                                 to_string(scale.dims()), to_string(zero.dims()), to_string(dims))};
    }
    std::vector<int64_t> zeros = *to_int64s(zero);
    CodeScales all;
    for (int64_t j = 0; j < columns; ++j) {
        int64_t from = scale.count() == columns ? j : j / dims[2];
        all.scales.push_back(scale.elements<float>()[from]);
        all.zeros.push_back(zeros[from]);
    }
    return all;
}

// The weights as floats.
Result<Tensor> widened_weights(const KernelContext& c, size_t i, const CodeScales& all) {
    SDX_ASSIGN(Tensor wide, cast_tensor(c, c.tensor(i), ElementType::kFloat));
    int64_t rows = wide.dims()[1], columns = wide.dims()[2];
    float* x = wide.mutable_elements<float>().data();
    for (int64_t row = 0; row < wide.dims()[0] * rows; ++row, x += columns) {
        int64_t first = row / rows * columns;
        for (int64_t j = 0; j < columns; ++j) {
            x[j] = (x[j] - static_cast<float>(all.zeros[first + j])) * all.scales[first + j];
        }
    }
    return wide;
}

// The weights, input `i`, for `rows` rows at a time.
Result<CodeWeights> code_weights(const KernelContext& c, size_t i, size_t scale_input, int64_t rows,
                                 bool are_constant) {
    constexpr int64_t kLittleWork = 1 << 16;
    SDX_ASSIGN(CodeScales all, code_scales(c, i, scale_input));
    const Dims& dims = c.dims(i);
    int64_t in = dims[1], columns = dims[2];
    CodeWeights weights;
    bool needs_floats = false;
    for (int64_t d = 0; d < dims[0]; ++d) {
        CodeWeights::Product& product = weights.products.emplace_back();
        auto first = all.scales.begin() + d * columns;
        product.scales.assign(first, first + columns);
        if (are_constant && rows * in * columns >= kLittleWork) {
            auto codes = std::make_shared<const ByteConvolution>(
                matrix_shape(rows, in, columns), c.tensor(i).part(d * in * columns, {in, columns}),
                std::span<const int64_t>(all.zeros).subspan(d * columns, columns),
                DirectLayout{true, true, 1, columns});
            product.codes = codes->is_usable() ? std::move(codes) : nullptr;
        }
        needs_floats = needs_floats || product.codes == nullptr;
    }
    weights.floats = Tensor::uninitialized(ElementType::kFloat, {0});
    if (needs_floats) {
        SDX_ASSIGN(weights.floats, widened_weights(c, i, all));
    }
    return weights;
}

// Those of DynamicQuantizeLSTM, which are made once for a plan where they are constant.
struct QuantizedWeights {
    int64_t steps = 0;  // the rows that they are for: of X, and of a state
    int64_t batch = 0;
    CodeWeights input, recurrent;
};

Result<std::shared_ptr<const QuantizedWeights>> quantized_weights(const KernelContext& c,
                                                                  const Recurrence& r) {
    constexpr size_t kSources[] = {1, 2, 8, 9, 10, 11};
    bool are_constant = std::all_of(std::begin(kSources), std::end(kSources),
                                    [&c](size_t i) { return c.is_constant(i); });
    auto kept = are_constant ? c.kept<QuantizedWeights>() : nullptr;
    if (kept != nullptr && kept->steps == r.steps && kept->batch == r.batch) {
        return kept;
    }
    auto made = std::make_shared<QuantizedWeights>();
    made->steps = r.steps;
    made->batch = r.batch;
    SDX_ASSIGN(made->input, code_weights(c, 1, 8, r.steps * r.batch, are_constant));
    if (kept != nullptr && kept->batch == r.batch) {
        made->recurrent = kept->recurrent;  // only the number of steps is another
    } else {
        SDX_ASSIGN(made->recurrent, code_weights(c, 2, 10, r.batch, are_constant));
    }
    if (are_constant) {
        c.keep<QuantizedWeights>(made);
    }
    return std::shared_ptr<const QuantizedWeights>(std::move(made));
}

}  // namespace

Status lstm(KernelContext& c) {
    SDX_ASSIGN(Recurrence r, recurrence(c, 4, kLstmNames));
    return run_lstm(c, r);
}

// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md: LSTM with weights of
// 8 bits, transposed; what they are multiplied with is rounded to 8 bits as DynamicQuantizeLinear
// does, the inputs of all steps at once and the state at each step.
Status dynamic_quantize_lstm(KernelContext& c) {
    SDX_ASSIGN(Recurrence r, recurrence(c, 4, kLstmNames, WeightLayout::kByInput));
    SDX_ASSIGN(std::shared_ptr<const QuantizedWeights> weights, quantized_weights(c, r));
    r.input_codes = &weights->input;
    r.recurrent_codes = &weights->recurrent;
    return run_lstm(c, r);
}

}  // namespace sardonyx::eval::kernels
