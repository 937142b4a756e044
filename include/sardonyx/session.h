// Session: a model that is prepared, and runs by position on tensors that are not copied.
#pragma once

#include <sardonyx/model.h>
#include <sardonyx/tensor.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace sardonyx {
inline namespace v1 {

// Several threads may run one session at once.
class Session {
  public:
    // Shares the model, and prepares it. Error: the model is a function, or an operator is not
    // implemented.
    explicit Session(const Model& model) : handle_(model.share(), sdx_model_free) {
        check(sdx_model_prepare(handle_.get()));
    }

    // Inputs go by position; nothing, or behind the last, stands for the input's default. The
    // results share storage with an input where the graph passes it through. Error: as Model::run.
    std::vector<RunValue> run(std::span<const RunValue> inputs,
                              const RunOptions& options = {}) const {
        std::vector<const sdx_value*> handles = handles_of(inputs);
        sdx_run_options chosen = to_c(options);
        std::vector<sdx_value*> made(sdx_model_output_count(handle_.get()), nullptr);
        sdx_limits limits = limits_of(options);
        check(sdx_model_run_limited(handle_.get(), handles.data(), handles.size(), &chosen, &limits,
                                    made.data(), made.size()));
        std::vector<RunValue> results;
        results.reserve(made.size());
        for (sdx_value* value : made) {
            results.emplace_back(value);
        }
        return results;
    }
    std::vector<RunValue> run(std::initializer_list<RunValue> inputs,
                              const RunOptions& options = {}) const {
        return run(std::span<const RunValue>(inputs.begin(), inputs.size()), options);
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
    static std::vector<const sdx_value*> handles_of(std::span<const RunValue> inputs) {
        std::vector<const sdx_value*> handles;
        handles.reserve(inputs.size());
        for (const RunValue& input : inputs) {
            handles.push_back(input.handle());
        }
        return handles;
    }
    static sdx_run_options to_c(const RunOptions& options) {
        return {options.seed, options.max_steps > 0 ? options.max_steps : -1, options.threads};
    }
    static sdx_limits limits_of(const RunOptions& options) {
        return {options.timeout == 0 ? -1 : options.timeout,
                options.cancel.has_value() ? options.cancel->handle() : nullptr};
    }

    std::shared_ptr<sdx_model> handle_;
};

}  // namespace v1
}  // namespace sardonyx
