#include "eval/run/chain.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "eval/dispatch/invoke.h"
#include "ops/standard.h"

namespace sardonyx::eval {
namespace {

// Elements of a block: its values stay in the second cache, and the calls of kernels take little
// time beside their loops.
constexpr int64_t kChainBlock = 1 << 13;
// Blocks begin at multiples of so many elements, where the vectors of a loop over the whole tensor
// begin too: what is left at the end of a vector loop is rounded as before.
constexpr int64_t kVector = 64;

// How the tensors of a chain are cut: side by side, all broadcast to [rows, inner ...].
struct Cut {
    struct Input {
        RuntimeValue value;    // as blocks see it, unless it is cut
        int64_t row_size = 0;  // elements for each row; 0: it is the same for all of them
    };

    int64_t rows = 0;
    int64_t block = 0;     // rows of a block; the last one may have more
    int64_t count = 0;     // of blocks
    int64_t row_size = 1;  // elements of a result
    Dims dims;             // of a result
    Dims inner;
    std::vector<Input> inputs;

    int64_t begin(int64_t b) const { return b * block; }
    int64_t end(int64_t b) const { return b + 1 == count ? rows : (b + 1) * block; }
    // Of what is cut, with so many elements for each row.
    Dims block_dims(int64_t b, int64_t size) const {
        Dims result(inner.size() + 1, 1);
        if (size == row_size) {
            std::copy(inner.begin(), inner.end(), result.begin() + 1);
        }
        result[0] = end(b) - begin(b);
        return result;
    }
    Tensor part(const Tensor& tensor, int64_t b, int64_t size) const {
        return tensor.part(begin(b) * size, block_dims(b, size));
    }
};

std::span<const int64_t> without_leading_ones(std::span<const int64_t> dims) {
    while (!dims.empty() && dims[0] == 1) {
        dims = dims.subspan(1);
    }
    return dims;
}

// How many of the last axes must be inner ones, so that a tensor, which broadcasts to `dims`, is
// the same for all rows.
size_t axes_of_whole(std::span<const int64_t> tensor) {
    return without_leading_ones(tensor).size();
}

// The same, so that it has one number for each row; all, where it has not.
size_t axes_of_numbers(std::span<const int64_t> tensor, std::span<const int64_t> dims) {
    if (tensor.size() != dims.size()) {
        return dims.size();
    }
    size_t same = 0;
    while (same < dims.size() && tensor[same] == dims[same]) {
        ++same;
    }
    size_t ones = 0;
    while (ones < dims.size() && tensor[dims.size() - 1 - ones] == 1) {
        ++ones;
    }
    return same + ones >= dims.size() ? dims.size() - same : dims.size();
}

bool broadcasts(std::span<const int64_t> tensor, std::span<const int64_t> dims) {
    if (tensor.size() > dims.size()) {
        return false;
    }
    dims = dims.last(tensor.size());
    return std::equal(tensor.begin(), tensor.end(), dims.begin(),
                      [](int64_t own, int64_t whole) { return own == whole || own == 1; });
}

// The dims that all inputs of a chain broadcast to; nothing: they do not, or there is too little to
// do.
std::optional<Dims> dims_of_chain(const ChainPlan& chain, const Frame& frame) {
    const Tensor* largest = nullptr;
    for (Operand operand : chain.inputs) {
        const RuntimeValue& value = frame.get(operand);
        if (!value.is_tensor() || info(value.tensor().element_type()).bits < 8) {
            return std::nullopt;
        }
        if (largest == nullptr || value.tensor().count() > largest->count()) {
            largest = &value.tensor();
        }
    }
    if (largest == nullptr || largest->count() < 2 * kChainBlock) {
        return std::nullopt;
    }
    bool fit = std::all_of(chain.inputs.begin(), chain.inputs.end(), [&](Operand operand) {
        return broadcasts(frame.get(operand).tensor().dims(), largest->dims());
    });
    return fit ? std::optional(largest->dims()) : std::nullopt;
}

// Nothing: the chain is not worth it or cannot be cut.
std::optional<Cut> cut_of(const ChainPlan& chain, const Frame& frame) {
    std::optional<Dims> dims = dims_of_chain(chain, frame);
    if (!dims.has_value()) {
        return std::nullopt;
    }
    Cut cut;
    cut.dims = *std::move(dims);
    size_t inner = 0;
    for (Operand operand : chain.inputs) {
        const Dims& own = frame.get(operand).tensor().dims();
        if (own != cut.dims) {
            inner = std::max(inner, std::min(axes_of_whole(own), axes_of_numbers(own, cut.dims)));
        }
    }
    cut.inner.assign(cut.dims.end() - static_cast<std::ptrdiff_t>(inner), cut.dims.end());
    for (int64_t dim : cut.inner) {
        cut.row_size *= dim;
    }
    bool has_numbers = false;
    for (Operand operand : chain.inputs) {
        const Tensor& tensor = frame.get(operand).tensor();
        Cut::Input& input = cut.inputs.emplace_back(Cut::Input{tensor});
        if (tensor.dims() == cut.dims) {
            input.row_size = cut.row_size;
        } else if (axes_of_whole(tensor.dims()) <= inner) {
            std::span<const int64_t> own = without_leading_ones(tensor.dims());
            input.value = tensor.reshaped(Dims(own.begin(), own.end()));
        } else if (axes_of_numbers(tensor.dims(), cut.dims) <= inner) {
            input.row_size = 1;
            has_numbers = true;
        } else {
            return std::nullopt;
        }
    }
    int64_t count = *element_count(cut.dims);
    cut.rows = count / cut.row_size;
    int64_t step = kVector / std::gcd(kVector, cut.row_size);
    // What has one element is a number to kernels, which may do less for it: no part may look like
    // one that is none. So the last block has the rest of the rows beside its own.
    step = has_numbers ? std::max<int64_t>(step, 2) : step;
    cut.block = std::max(kChainBlock / cut.row_size / step * step, step);
    cut.count = cut.rows / cut.block;
    if (cut.count < 2 || cut.block * cut.row_size > 4 * kChainBlock) {
        return std::nullopt;
    }
    return cut;
}

// One run of a chain.
class ChainRun {
  public:
    ChainRun(const GraphPlan& graph, const ChainPlan& chain, const Frame& frame, const Cut& cut,
             const RunOptions& options)
        : graph_(graph), chain_(chain), frame_(frame), cut_(cut), options_(options) {}

    // The results by step, of those that are kept. Nothing: a kernel has failed, or a value has
    // another shape than the others.
    std::optional<std::vector<Tensor>> run() {
        std::vector<RuntimeValue> first = values_of(0);
        if (!run_steps(0, first) || !make_results(first)) {
            return std::nullopt;
        }
        std::atomic<bool> is_valid = true;
        Workers workers = workers_of(options_);
        parallel_for(workers, cut_.count - 1, 1, [&](int64_t begin, int64_t) {
            std::vector<RuntimeValue> values = values_of(begin + 1);
            if (is_valid && !run_steps(begin + 1, values)) {
                is_valid = false;
            }
        });
        // Stopped: the nodes are asked one by one, and say so.
        return is_valid && !workers.are_stopped() ? std::optional(std::move(results_))
                                                  : std::nullopt;
    }

  private:
    // The values of a block: the inputs that are cut, and room for the results of the steps.
    std::vector<RuntimeValue> values_of(int64_t block) const {
        std::vector<RuntimeValue> values(chain_.inputs.size() + chain_.steps.size());
        for (size_t i = 0; i < chain_.inputs.size(); ++i) {
            const Cut::Input& input = cut_.inputs[i];
            if (input.row_size != 0) {
                values[i] = cut_.part(input.value.tensor(), block, input.row_size);
            }
        }
        return values;
    }

    // Makes the results that are kept as the first block shows them, which they begin with.
    bool make_results(const std::vector<RuntimeValue>& first) {
        results_.resize(chain_.steps.size());
        for (size_t s = 0; s < chain_.steps.size(); ++s) {
            if (!chain_.steps[s].is_kept) {
                continue;
            }
            const Tensor& part = first[chain_.inputs.size() + s].tensor();
            if (info(part.element_type()).bits < 8 ||
                !check_size(part.element_type(), cut_.dims, options_).ok()) {
                return false;
            }
            results_[s] = Tensor::uninitialized(part.element_type(), cut_.dims);
            put(part, cut_.part(results_[s], 0, cut_.row_size));
        }
        return true;
    }

    // Copies a result to its place, if it is not there.
    static void put(const Tensor& result, Tensor place) {
        std::span<std::byte> to = place.mutable_bytes();
        if (to.data() != result.bytes().data()) {
            std::memcpy(to.data(), result.bytes().data(), to.size());
        }
    }

    bool run_steps(int64_t block, std::vector<RuntimeValue>& values) const {
        Dims dims = cut_.block_dims(block, cut_.row_size);
        std::vector<const RuntimeValue*> inputs;
        for (size_t s = 0; s < chain_.steps.size(); ++s) {
            const ChainPlan::Step& step = chain_.steps[s];
            inputs.clear();
            for (int value : step.inputs) {
                inputs.push_back(input(value, values));
            }
            RuntimeValue& result = values[chain_.inputs.size() + s];
            if (!run_step(s, block, inputs, &result) || !result.is_tensor() ||
                result.tensor().dims() != dims) {
                return false;
            }
            if (block > 0 && step.is_kept) {
                put(result.tensor(), cut_.part(results_[s], block, cut_.row_size));
            }
            for (size_t i = 0; i < step.inputs.size(); ++i) {
                if (step.dying.contains(i)) {
                    values[step.inputs[i]] = RuntimeValue();
                }
            }
        }
        return true;
    }

    const RuntimeValue* input(int value, const std::vector<RuntimeValue>& values) const {
        if (value == ChainPlan::kLeftOut) {
            return &left_out_;
        }
        auto i = static_cast<size_t>(value);
        bool is_whole = i < cut_.inputs.size() && cut_.inputs[i].row_size == 0;
        return is_whole ? &cut_.inputs[i].value : &values[i];
    }

    bool run_step(size_t s, int64_t block, std::span<const RuntimeValue* const> inputs,
                  RuntimeValue* result) const {
        const NodePlan& node = graph_.nodes[chain_.first + s];
        const ops::Schema& schema = *node.entry->schema;
        RandomState random;
        KernelContext context(schema, inputs, AttributeView(node.attributes, frame_.bindings),
                              {result, 1}, options_, random);
        context.set_dying(chain_.steps[s].dying);
        if (block > 0 && chain_.steps[s].is_kept) {
            context.set_place(cut_.part(results_[s], block, cut_.row_size));
        }
        // The types of all blocks are those of the first.
        return invoke(*node.entry, context, 1, block == 0 ? Unchecked::kCall : Unchecked::kNothing)
            .ok();
    }

    const GraphPlan& graph_;
    const ChainPlan& chain_;
    const Frame& frame_;
    const Cut& cut_;
    const RunOptions& options_;
    RuntimeValue left_out_;
    std::vector<Tensor> results_;
};

}  // namespace

bool run_chain(const GraphPlan& graph, const ChainPlan& chain, Frame& frame,
               const RunOptions& options) {
    std::optional<Cut> cut = cut_of(chain, frame);
    if (!cut.has_value()) {
        return false;
    }
    std::optional<std::vector<Tensor>> results = ChainRun(graph, chain, frame, *cut, options).run();
    if (!results.has_value()) {
        return false;
    }
    for (size_t s = 0; s < chain.steps.size(); ++s) {
        const NodePlan& node = graph.nodes[chain.first + s];
        if (chain.steps[s].is_kept) {
            frame.slot(node.outputs[0]) = std::move((*results)[s]);
        }
        for (Operand slot : node.releases) {
            frame.slot(slot) = RuntimeValue();
        }
    }
    return true;
}

}  // namespace sardonyx::eval
