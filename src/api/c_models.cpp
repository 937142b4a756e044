// Models of the C interface: what they have, and how they run.
#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "api/kernels_handle.h"
#include "api/limits.h"
#include "api/model_handle.h"
#include "api/value_handle.h"
#include "eval/run/observer.h"
#include "eval/runtime/within.h"

sdx_model::sdx_model(std::shared_ptr<sardonyx::Model::State> shared, Kernels kernels)
    : state(std::move(shared)), custom(std::move(kernels)) {
    auto add = [](std::vector<Port>& ports, const auto& values) {
        for (const sardonyx::ir::Value* value : values) {
            ports.push_back(value == nullptr
                                ? Port()
                                : Port{std::string(value->name), value->type.to_string()});
        }
    };
    add(inputs, state->graph().inputs);
    add(outputs, state->graph().outputs);
}

sardonyx::Result<std::shared_ptr<const sardonyx::eval::Plan>> sdx_model::prepared() const {
    if (custom == nullptr) {
        return state->prepared();
    }
    std::lock_guard<std::mutex> lock(plan_lock);
    if (plan == nullptr) {
        auto made = sardonyx::eval::prepare(*state->model, custom);
        if (!made.ok()) {
            return made;
        }
        plan = std::move(*made);
    }
    return plan;
}

namespace sardonyx {
inline namespace v1 {

sdx_model* Model::share() const {
    (void)state();
    return new sdx_model(state_);
}

}  // namespace v1

namespace api {
namespace {

using eval::RuntimeValue;

sdx_error* describe_port(const std::vector<sdx_model::Port>& ports, size_t i, const char** name,
                         const char** type) {
    if (i >= ports.size()) {
        return make_error(fmt::format("value {} of {}", i, ports.size()));
    }
    if (name != nullptr) {
        *name = ports[i].name.c_str();
    }
    if (type != nullptr) {
        *type = ports[i].type.c_str();
    }
    return nullptr;
}

Result<std::vector<RuntimeValue>> run(const sdx_model* model, const sdx_value* const* inputs,
                                      size_t input_count, eval::RunOptions options,
                                      const sdx_limits* limits, eval::Interrupt* interrupt,
                                      size_t output_count, eval::RunObserver* observer = nullptr) {
    if (!is_valid(model)) {
        return Error{"the model is NULL, or not a model"};
    }
    if (model->state->model->graph == nullptr) {
        return Error{"a function has no graph to run"};
    }
    if (input_count > model->inputs.size() || (inputs == nullptr && input_count > 0)) {
        return Error{fmt::format("{} inputs{}, but the model has {}", input_count,
                                 inputs == nullptr ? " at NULL" : "", model->inputs.size())};
    }
    if (output_count > model->outputs.size()) {
        return Error{
            fmt::format("{} outputs, but the model has {}", output_count, model->outputs.size())};
    }
    std::vector<std::pair<std::string_view, RuntimeValue>> values;
    for (size_t i = 0; i < input_count; ++i) {
        if (inputs[i] == nullptr) {
            continue;
        }
        if (!is_valid(inputs[i])) {
            return Error{fmt::format("input {} (`{}`) is not a value", i, model->inputs[i].name)};
        }
        values.emplace_back(model->inputs[i].name, inputs[i]->value);
    }
    SDX_TRY(set_limits(limits, interrupt));
    options.interrupt = interrupt;
    MappedReading reading(model->state->files);
    SDX_TRY(check_unchanged(model->state->files));
    Result<std::shared_ptr<const eval::Plan>> plan =
        eval::within(*interrupt, [model] { return model->prepared(); });
    if (!plan.ok()) {
        return Error(plan.error());
    }
    auto results = eval::run(**plan, values, options, observer);
    if (!interrupt->is_stopped()) {
        SDX_TRY(check_unchanged(model->state->files));
    }
    return results;
}

// Shows nodes to the functions of the caller.
class Observer : public eval::RunObserver {
  public:
    explicit Observer(const sdx_observer& observer) : observer_(observer) {}

    void node_done(const ir::Node& node, std::span<const RuntimeValue* const> outputs,
                   int depth) override {
        std::string name(node.name), op_type(node.op_type), domain(node.domain);
        std::vector<std::string> names;
        std::vector<const char*> name_pointers;
        std::vector<std::unique_ptr<sdx_value>> values;
        std::vector<const sdx_value*> value_pointers;
        names.reserve(outputs.size());
        for (size_t i = 0; i < outputs.size(); ++i) {
            const ir::Value* value = i < node.output_count() ? node.output(i) : nullptr;
            names.emplace_back(value != nullptr ? value->name : std::string_view());
            name_pointers.push_back(names.back().c_str());
            values.push_back(outputs[i]->is_none() ? nullptr : std::make_unique<sdx_value>());
            if (values.back() != nullptr) {
                values.back()->value = *outputs[i];
            }
            value_pointers.push_back(values.back().get());
        }
        sdx_node shown{name.c_str(), op_type.c_str(), domain.c_str(),
                       depth,        outputs.size(),  name_pointers.data()};
        if (!has_ended_ && observer_.node_done(observer_.context, &shown, value_pointers.data())) {
            has_ended_ = true;
        }
    }
    bool has_ended() const { return has_ended_; }

  private:
    const sdx_observer& observer_;
    bool has_ended_ = false;
};

// Copies the result where it does not lie there already.
Result<void> put_result(const RuntimeValue& result, const sdx_view& view) {
    bool fits = result.is_tensor() &&
                static_cast<int32_t>(result.tensor().element_type()) == view.element_type &&
                result.tensor().dims() == Dims(view.dims, view.dims + view.rank);
    if (!fits) {
        return Error{fmt::format("the output is {}, which is not the type and shape of the view",
                                 result.describe())};
    }
    if (view.size > 0 && view.data != result.tensor().bytes().data()) {
        std::memmove(view.data, result.tensor().bytes().data(), view.size);
    }
    return {};
}

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
    std::less<> before;
    return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
           before(b.data(), a.data() + a.size());
}

std::span<const std::byte> memory_of(const sdx_view& view) {
    return {static_cast<const std::byte*>(view.data), view.size};
}

// Two views that share memory could not both hold their results.
Result<void> check_disjoint(std::span<const sdx_view> views) {
    std::vector<size_t> order(views.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::less<>()(memory_of(views[a]).data(), memory_of(views[b]).data());
    });
    std::erase_if(order, [&](size_t i) { return views[i].size == 0; });
    for (size_t k = 1; k < order.size(); ++k) {
        size_t a = std::min(order[k - 1], order[k]), b = std::max(order[k - 1], order[k]);
        if (overlap(memory_of(views[a]), memory_of(views[b]))) {
            return Error{fmt::format("outputs {} and {} share memory", a, b)};
        }
    }
    return {};
}

// A result may lie in the memory of an input, and this be the place of another result that is
// written before: then it is copied first.
void keep_from(std::span<const sdx_view> views, std::vector<RuntimeValue>& results) {
    for (size_t i = 1; i < views.size(); ++i) {
        bool is_plain =
            results[i].is_tensor() && results[i].tensor().element_type() != ElementType::kString;
        bool is_written = is_plain && std::any_of(views.begin(), views.begin() + i, [&](auto& one) {
                              return overlap(memory_of(one), results[i].tensor().bytes());
                          });
        if (is_written) {
            std::span<const std::byte> bytes = results[i].tensor().bytes();
            Tensor copy = Tensor::uninitialized(results[i].tensor().element_type(),
                                                results[i].tensor().dims());
            std::memcpy(copy.mutable_bytes().data(), bytes.data(), bytes.size());
            results[i] = std::move(copy);
        }
    }
}

}  // namespace
}  // namespace api
}  // namespace sardonyx

using sardonyx::api::engine_options;
using sardonyx::api::error_of;
using sardonyx::api::give_values;
using sardonyx::api::guarded;
using sardonyx::api::is_valid;
using sardonyx::api::make_error;

sdx_error* sdx_model_save(const sdx_model* model, const char* path) {
    return guarded([&]() -> sdx_error* {
        if (!is_valid(model) || path == nullptr) {
            return make_error("the model or the path is NULL");
        }
        sardonyx::Model(model->state).save(path);
        return nullptr;
    });
}

size_t sdx_model_input_count(const sdx_model* model) {
    return is_valid(model) ? model->inputs.size() : 0;
}

size_t sdx_model_output_count(const sdx_model* model) {
    return is_valid(model) ? model->outputs.size() : 0;
}

sdx_error* sdx_model_input(const sdx_model* model, size_t i, const char** name, const char** type) {
    return guarded([&] {
        return is_valid(model) ? sardonyx::api::describe_port(model->inputs, i, name, type)
                               : make_error("the model is NULL, or not a model");
    });
}

sdx_error* sdx_model_output(const sdx_model* model, size_t i, const char** name,
                            const char** type) {
    return guarded([&] {
        return is_valid(model) ? sardonyx::api::describe_port(model->outputs, i, name, type)
                               : make_error("the model is NULL, or not a model");
    });
}

sdx_error* sdx_model_prepare(const sdx_model* model) {
    return guarded([&]() -> sdx_error* {
        if (!is_valid(model)) {
            return make_error("the model is NULL, or not a model");
        }
        auto plan = model->prepared();
        return plan.ok() ? nullptr : make_error(plan.error().message);
    });
}

sdx_error* sdx_model_run(const sdx_model* model, const sdx_value* const* inputs, size_t input_count,
                         const sdx_run_options* options, sdx_value** outputs, size_t output_count) {
    return sdx_model_run_limited(model, inputs, input_count, options, nullptr, outputs,
                                 output_count);
}

sdx_error* sdx_model_run_limited(const sdx_model* model, const sdx_value* const* inputs,
                                 size_t input_count, const sdx_run_options* options,
                                 const sdx_limits* limits, sdx_value** outputs,
                                 size_t output_count) {
    return sdx_model_run_observed(model, inputs, input_count, options, limits, nullptr, outputs,
                                  output_count);
}

sdx_error* sdx_model_run_observed(const sdx_model* model, const sdx_value* const* inputs,
                                  size_t input_count, const sdx_run_options* options,
                                  const sdx_limits* limits, const sdx_observer* observer,
                                  sdx_value** outputs, size_t output_count) {
    if (outputs == nullptr && output_count > 0) {
        return make_error("`outputs` is NULL");
    }
    bool is_sane = is_valid(model) && output_count <= model->outputs.size();
    for (size_t i = 0; i < output_count && is_sane; ++i) {
        outputs[i] = nullptr;
    }
    return guarded([&]() -> sdx_error* {
        if (observer != nullptr && observer->node_done == nullptr) {
            return make_error("the observer has no `node_done`");
        }
        sardonyx::eval::Interrupt interrupt;
        std::optional<sardonyx::api::Observer> shown;
        if (observer != nullptr) {
            shown.emplace(*observer);
            interrupt.set_check(
                [](void* one) { return static_cast<sardonyx::api::Observer*>(one)->has_ended(); },
                &*shown);
        }
        auto results =
            sardonyx::api::run(model, inputs, input_count, engine_options(options), limits,
                               &interrupt, output_count, shown ? &*shown : nullptr);
        if (shown && shown->has_ended()) {
            return make_error("the observer has ended the run", SDX_CANCELLED);
        }
        return results.ok() ? give_values(std::move(*results), outputs, output_count)
                            : error_of(results.error(), interrupt);
    });
}

sdx_error* sdx_model_run_into(const sdx_model* model, const sdx_value* const* inputs,
                              size_t input_count, const sdx_run_options* options,
                              const sdx_view* outputs, size_t output_count) {
    return sdx_model_run_into_limited(model, inputs, input_count, options, nullptr, outputs,
                                      output_count);
}

sdx_error* sdx_model_run_into_limited(const sdx_model* model, const sdx_value* const* inputs,
                                      size_t input_count, const sdx_run_options* options,
                                      const sdx_limits* limits, const sdx_view* outputs,
                                      size_t output_count) {
    return guarded([&]() -> sdx_error* {
        if (outputs == nullptr && output_count > 0) {
            return make_error("`outputs` is NULL");
        }
        bool is_sane = is_valid(model) && output_count <= model->outputs.size();
        for (size_t i = 0; i < output_count && is_sane; ++i) {
            auto checked = sardonyx::api::check_view(
                &outputs[i], fmt::format("output {} (`{}`)", i, model->outputs[i].name));
            if (!checked.ok()) {
                return make_error(checked.error().message);
            }
        }
        std::span<const sdx_view> views(outputs, is_sane ? output_count : 0);
        if (auto disjoint = sardonyx::api::check_disjoint(views); !disjoint.ok()) {
            return make_error(disjoint.error().message);
        }
        sardonyx::eval::Interrupt interrupt;
        auto results = sardonyx::api::run(model, inputs, input_count, engine_options(options),
                                          limits, &interrupt, output_count);
        if (!results.ok()) {
            return error_of(results.error(), interrupt);
        }
        sardonyx::api::keep_from(views, *results);
        for (size_t i = 0; i < output_count; ++i) {
            auto put = sardonyx::api::put_result((*results)[i], outputs[i]);
            if (!put.ok()) {
                return make_error(fmt::format("output {} (`{}`): {}", i, model->outputs[i].name,
                                              put.error().message));
            }
        }
        return nullptr;
    });
}

sdx_error* sdx_model_with_kernels(const sdx_model* model, const sdx_kernels* kernels,
                                  sdx_model** out) {
    return guarded(out, [&]() -> sdx_error* {
        if (!is_valid(model) || !is_valid(kernels)) {
            return make_error(is_valid(model) ? "the kernels are NULL, or not kernels"
                                              : "the model is NULL, or not a model");
        }
        auto table = std::make_shared<const sardonyx::eval::CustomOperators>(kernels->table);
        *out = new sdx_model(model->state, std::move(table));
        return nullptr;
    });
}

sdx_error* sdx_token_new(sdx_token** out) {
    return guarded(out, [&]() -> sdx_error* {
        *out = new sdx_token;
        return nullptr;
    });
}

void sdx_token_cancel(sdx_token* token) {
    if (is_valid(token)) {
        token->is_cancelled.store(true, std::memory_order_relaxed);
    }
}

int32_t sdx_token_is_cancelled(const sdx_token* token) {
    return is_valid(token) && token->is_cancelled.load(std::memory_order_relaxed) ? 1 : 0;
}

void sdx_token_free(sdx_token* token) {
    if (is_valid(token)) {
        delete token;
    }
}

sdx_error* sdx_model_share(const sdx_model* model, sdx_model** out) {
    return guarded(out, [&]() -> sdx_error* {
        if (!is_valid(model)) {
            return make_error("the model is NULL, or not a model");
        }
        *out = const_cast<sdx_model*>(model);
        (*out)->owners.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    });
}

void sdx_model_free(sdx_model* model) {
    if (is_valid(model) && model->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete model;
    }
}
