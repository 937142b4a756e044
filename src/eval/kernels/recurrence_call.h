// What a call of RNN, GRU or LSTM asks for.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "eval/loops/convolution.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

struct ActivationRow {
    std::string_view name;
    void (*floats)(float* x, int64_t n, float alpha, float beta);
    void (*doubles)(double* x, int64_t n, float alpha, float beta);
    float alpha;  // where the attribute gives none
    float beta;
};

struct Activation {
    const ActivationRow* row = nullptr;
    float alpha = 0;
    float beta = 0;

    void operator()(float* x, int64_t n) const { row->floats(x, n, alpha, beta); }
    void operator()(double* x, int64_t n) const { row->doubles(x, n, alpha, beta); }
};

// Those of the attributes for all directions, or `otherwise` for each.
Result<std::vector<Activation>> activations(const KernelContext& c, int64_t directions,
                                            std::span<const std::string_view> otherwise);

// Weights of 8 bits, [directions, in, gates * hidden]. What they are multiplied with is rounded to
// 8 bits too.
struct CodeWeights {
    struct Product {
        std::shared_ptr<const ByteConvolution> codes;  // null: there are no loops for it
        std::vector<float> scales;                     // one for each column
    };
    std::vector<Product> products;  // one for each direction
    Tensor floats;                  // where one of them has no loops
};

// What the three operators have in common. All sizes fit each other.
struct Recurrence {
    int64_t steps = 0;
    int64_t batch = 0;
    int64_t input = 0;
    int64_t hidden = 0;
    int64_t gates = 0;
    int64_t directions = 1;
    bool is_reverse = false;   // the first direction
    bool batch_first = false;  // layout 1
    std::vector<int64_t> lengths;
    std::vector<Activation> activations;
    double clip = INFINITY;
    bool resets_product = false;  // GRU's linear_before_reset
    int64_t parts = 1;            // 2: products of the last gate with R follow those of the others
    bool weights_by_input = false;  // [in, gates * hidden] rather than [gates * hidden, in]
    const CodeWeights* input_codes = nullptr;  // W and R, where they are of 8 bits
    const CodeWeights* recurrent_codes = nullptr;

    int64_t width() const { return gates * hidden; }
    // The gates of a part, whose products with R are added together.
    int64_t first_gate(int64_t part) const { return part == 0 ? 0 : gates - 1; }
    int64_t end_gate(int64_t part) const { return part + 1 == parts ? gates : gates - 1; }
    bool reverses(int64_t direction) const { return is_reverse || direction == 1; }
    // Where the row of a step lies in X, and that of a result in Y.
    int64_t x_row(int64_t step, int64_t b) const {
        return batch_first ? b * steps + step : step * batch + b;
    }
    int64_t y_row(int64_t step, int64_t d, int64_t b) const {
        return batch_first ? (b * steps + step) * directions + d
                           : (step * directions + d) * batch + b;
    }
    int64_t state_row(int64_t d, int64_t b) const {
        return batch_first ? b * directions + d : d * batch + b;
    }
};

Status check_dims(const KernelContext& c, size_t i, std::string_view name, const Dims& wanted);

// W and R: [directions, gates * hidden, in], or turned, [directions, in, gates * hidden].
enum class WeightLayout : uint8_t { kByOutput, kByInput };
Result<Recurrence> recurrence(const KernelContext& c, int64_t gates,
                              std::span<const std::string_view> names,
                              WeightLayout weights = WeightLayout::kByOutput);

}  // namespace sardonyx::eval::kernels
