// Session: a model that is prepared, and runs by position on tensors that are not copied.
#pragma once

#include <sardonyx/kernels.h>
#include <sardonyx/model.h>
#include <sardonyx/tensor.h>

#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx {
inline namespace v1 {

// For the interfaces over C.
inline sdx_run_options to_c(const RunOptions& options) {
    return {options.seed, options.max_steps > 0 ? options.max_steps : -1, options.threads};
}
inline sdx_limits limits_of(const RunOptions& options) {
    return {options.timeout == 0 ? -1 : options.timeout,
            options.cancel.has_value() ? options.cancel->handle() : nullptr};
}

// A node that has run, and its results; it ends with the observer's call.
struct NodeDone {
    std::string_view name;  // may be empty
    std::string_view op_type;
    std::string_view domain;  // empty for ai.onnx
    int depth = 0;            // how many graphs and calls are around it; 1: of the main graph
    std::vector<std::string_view> output_names;  // "": the output is not used
    std::vector<const sdx_value*> outputs;       // null: nobody reads it

    // The elements of an output. Error: there is none of this number, nobody reads it, it is no
    // tensor, or of another type.
    TensorView view(size_t i) const { return view_of(output(i)); }
    template <typename T>
    std::span<const T> elements(size_t i) const {
        return elements_of<T>(output(i));
    }

  private:
    const sdx_value* output(size_t i) const {
        if (i >= outputs.size()) {
            throw Error("output " + std::to_string(i) + " of " + std::to_string(outputs.size()));
        }
        return outputs[i];
    }
};
// Sees each node as it is done, on the thread that runs. What it throws ends the run, which throws
// it again.
using Observer = std::function<void(const NodeDone& node)>;

// Several threads may run one session at once.
class Session {
  public:
    // Shares the model, and prepares it. Error: the model is a function, or an operator is not
    // implemented.
    explicit Session(const Model& model) : handle_(model.share(), sdx_model_free) {
        check(sdx_model_prepare(handle_.get()));
    }

    // The same with kernels of one's own: those that are in the table now.
    Session(const Model& model, const Kernels& kernels) {
        std::unique_ptr<sdx_model, void (*)(sdx_model*)> plain(model.share(), sdx_model_free);
        sdx_model* made = nullptr;
        check(sdx_model_with_kernels(plain.get(), kernels.handle(), &made));
        handle_.reset(made, sdx_model_free);
        check(sdx_model_prepare(handle_.get()));
    }

    // Inputs go by position; nothing, or behind the last, stands for the input's default. The
    // results share storage with an input where the graph passes it through. Error: as Model::run.
    std::vector<RunValue> run(std::span<const RunValue> inputs, const RunOptions& options = {},
                              const Observer& observer = nullptr) const {
        std::vector<const sdx_value*> handles = handles_of(inputs);
        sdx_run_options chosen = to_c(options);
        std::vector<sdx_value*> made(sdx_model_output_count(handle_.get()), nullptr);
        sdx_limits limits = limits_of(options);
        Watch watch{observer, nullptr};
        sdx_observer seen{Watch::node_done, &watch};
        sdx_error* error =
            sdx_model_run_observed(handle_.get(), handles.data(), handles.size(), &chosen, &limits,
                                   observer != nullptr ? &seen : nullptr, made.data(), made.size());
        if (watch.thrown != nullptr) {
            sdx_error_free(error);
            std::rethrow_exception(watch.thrown);
        }
        check(error);
        std::vector<RunValue> results;
        results.reserve(made.size());
        for (sdx_value* value : made) {
            results.emplace_back(value);
        }
        return results;
    }
    std::vector<RunValue> run(std::initializer_list<RunValue> inputs,
                              const RunOptions& options = {},
                              const Observer& observer = nullptr) const {
        return run(std::span<const RunValue>(inputs.begin(), inputs.size()), options, observer);
    }
    // Writes output i to outputs[i], which has its type and shape; those behind the last are not
    // kept. Error: also when a result is of another type or shape; then some may be written.
    void run(std::span<const RunValue> inputs, std::span<const MutableTensorView> outputs,
             const RunOptions& options = {}) const {
        std::vector<const sdx_value*> handles = handles_of(inputs);
        sdx_run_options chosen = to_c(options);
        std::vector<sdx_view> views;
        for (const MutableTensorView& output : outputs) {
            views.push_back(output.to_c());
        }
        sdx_limits limits = limits_of(options);
        check(sdx_model_run_into_limited(handle_.get(), handles.data(), handles.size(), &chosen,
                                         &limits, views.data(), views.size()));
    }

  private:
    // An observer, and what it has thrown.
    struct Watch {
        const Observer& observer;
        std::exception_ptr thrown;

        static int32_t node_done(void* context, const sdx_node* node,
                                 const sdx_value* const* outputs) {
            auto& watch = *static_cast<Watch*>(context);
            try {
                watch.observer({node->name,
                                node->op_type,
                                node->domain,
                                node->depth,
                                {node->output_names, node->output_names + node->output_count},
                                {outputs, outputs + node->output_count}});
                return 0;
            } catch (...) {
                watch.thrown = std::current_exception();
                return 1;
            }
        }
    };
    static std::vector<const sdx_value*> handles_of(std::span<const RunValue> inputs) {
        std::vector<const sdx_value*> handles;
        handles.reserve(inputs.size());
        for (const RunValue& input : inputs) {
            handles.push_back(input.handle());
        }
        return handles;
    }
    std::shared_ptr<sdx_model> handle_;
};

}  // namespace v1
}  // namespace sardonyx
