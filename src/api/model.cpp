#include <sardonyx/model.h>

#include <cmath>
#include <cstring>

#include "api/convert.h"
#include "api/fail.h"
#include "api/handles.h"
#include "api/state.h"
#include "base/file.h"
#include "base/write_file.h"
#include "driver/model_files.h"
#include "eval/eval.h"
#include "eval/runtime/within.h"
#include "infer/model_check.h"
#include "proto/proto.h"

namespace sardonyx {
inline namespace v1 {

namespace {

// The value of a Result, or the public exception.
template <typename T>
T take(Result<T> result) {
    if (!result.ok()) {
        api::fail(result.error().message);
    }
    return std::move(*result);
}

ValueInfo describe(const ir::Value* value) {
    return value == nullptr ? ValueInfo()
                            : ValueInfo{std::string(value->name), value->type.to_string()};
}

template <typename Values>
std::vector<ValueInfo> describe_all(const Values& values) {
    std::vector<ValueInfo> all;
    for (const ir::Value* value : values) {
        all.push_back(describe(value));
    }
    return all;
}

std::unique_ptr<Model::State> make_state(std::unique_ptr<ir::Model> model) {
    if (model->graph == nullptr) {
        api::fail("the file holds no graph");
    }
    // What no run can mend is said at once.
    if (std::string problem = infer::first_hopeless_node(*model); !problem.empty()) {
        api::fail(problem);
    }
    auto state = std::make_unique<Model::State>();
    state->model = std::move(model);
    return state;
}

// Refuses what was read from files that are not what they were.
void check_files(const Model::State& state) {
    Result<void> unchanged = check_unchanged(state.files);
    if (!unchanged.ok()) {
        api::fail(unchanged.error().message);
    }
}

}  // namespace

CancelToken::CancelToken() : handle_(std::make_shared<sdx_token>()) {}

void CancelToken::cancel() noexcept {
    sdx_token_cancel(handle_.get());
}

bool CancelToken::is_cancelled() const noexcept {
    return sdx_token_is_cancelled(handle_.get()) != 0;
}

Model Model::load(const std::string& path) {
    FileStamps files;
    proto::Source source;
    std::unique_ptr<State> state =
        make_state(take(proto::read_model_file(path, {.stamps = &files, .source = &source})));
    state->source = std::move(source);
    state->files = std::move(files);
    return Model(std::move(state));
}

Model Model::from_bytes(std::string_view bytes) {
    auto owner = std::make_shared<std::vector<std::byte>>(bytes.size());
    if (!bytes.empty()) {
        std::memcpy(owner->data(), bytes.data(), bytes.size());
    }
    std::unique_ptr<State> state = make_state(take(proto::read_model(*owner, owner)));
    state->source = {owner, *owner};
    return Model(std::move(state));
}

Model Model::from_text(std::string_view text, TextForm form) {
    return from_bytes(take(proto::bytes_of_text(text, static_cast<proto::Form>(form))));
}

Model::Model(std::shared_ptr<State> state) : state_(std::move(state)) {}
Model::Model(Model&& other) noexcept = default;
Model& Model::operator=(Model&& other) noexcept = default;
Model::~Model() = default;

Model::State& Model::state() const {
    if (state_ == nullptr) {
        api::fail("the model has been moved to another one");
    }
    return *state_;
}

std::vector<ValueInfo> Model::inputs() const {
    return describe_all(state().graph().inputs);
}

std::vector<ValueInfo> Model::outputs() const {
    return describe_all(state().graph().outputs);
}

std::vector<NodeInfo> Model::nodes() const {
    std::vector<NodeInfo> all;
    for (const ir::Node& node : state().graph()) {
        NodeInfo& added = all.emplace_back();
        added.name = node.name;
        added.domain = node.domain;
        added.op_type = node.op_type;
        for (const ir::Use& use : node.inputs()) {
            added.inputs.push_back(describe(use.value));
        }
        added.outputs = describe_all(node.outputs());
    }
    return all;
}

std::vector<std::string> Model::functions() const {
    std::vector<std::string> names;
    for (const ir::Function* function : state().model->functions) {
        names.emplace_back(function->name);
    }
    return names;
}

std::string Model::to_text() const {
    return ir::dump(*state().model);
}

std::string Model::to_text(TextForm form) const {
    if (state().model->graph == nullptr) {
        api::fail("a function has no text form: compile it as a model");
    }
    return take(proto::text_of_model(serialize(), static_cast<proto::Form>(form)));
}

const std::vector<Diagnostic>& Model::diagnostics() const {
    return state().diagnostics;
}

std::string Model::serialize() const {
    MappedReading reading(state().files);
    check_files(state());
    const ir::Model& model = *state().model;
    std::string bytes =
        take(model.graph != nullptr ? proto::write_as_read(model, state().source)
                                    : proto::write_function(model, *model.functions[0]));
    check_files(state());
    return bytes;
}

void Model::save(const std::string& path, const SaveOptions& options) const {
    const ir::Model& model = *state().model;
    if (model.graph == nullptr && proto::form_of_path(path) == proto::Form::kBytes) {
        if (Result<void> written = write_file(path, serialize()); !written.ok()) {
            api::fail(written.error().message);
        }
        return;
    }
    driver::SaveOptions how;
    how.external_bytes = options.external_bytes;
    how.alignment = options.alignment;
    how.file_bytes = options.file_bytes;
    how.safetensors = options.safetensors;
    how.share_equal = options.share_equal;
    how.source = state().source;
    how.files = state().files;
    how.watch = options.progress;
    MappedReading reading(state().files);
    check_files(state());
    Result<size_t> written = driver::write_model_files(model, path, how);
    check_files(state());
    take(std::move(written));
}

std::vector<Value> Model::run(const std::vector<std::pair<std::string, Value>>& inputs,
                              const RunOptions& options) const {
    std::vector<std::pair<std::string_view, eval::RuntimeValue>> values;
    for (const auto& [name, value] : inputs) {
        values.emplace_back(name, api::to_engine(name, value));
    }
    eval::RunOptions chosen;
    chosen.seed = options.seed;
    chosen.max_steps = options.max_steps;
    chosen.threads = options.threads;
    eval::Interrupt interrupt;
    if (std::isnan(options.timeout)) {
        api::fail("the timeout is not a number");
    }
    interrupt.set_timeout(options.timeout);
    if (options.cancel.has_value()) {
        interrupt.set_token(&options.cancel->handle()->is_cancelled);
    }
    chosen.interrupt = &interrupt;
    MappedReading reading(state().files);
    check_files(state());
    auto run = eval::within(interrupt, [&]() -> Result<std::vector<eval::RuntimeValue>> {
        SDX_ASSIGN(std::shared_ptr<const eval::Plan> plan, state().prepared());
        return eval::run(*plan, values, chosen);
    });
    if (interrupt.is_stopped()) {
        std::string message = interrupt.error().message;
        if (interrupt.reason() == eval::Interrupt::Reason::kLate) {
            api::fail_late(message);
        }
        api::fail_cancelled(message);
    }
    if (!run.ok()) {
        check_files(state());
    }
    std::vector<eval::RuntimeValue> results = take(std::move(run));
    std::vector<Value> converted;
    for (size_t i = 0; i < results.size(); ++i) {
        std::string name(state().model->graph->outputs[i]->name);
        converted.push_back(api::from_engine(name, results[i]));
    }
    check_files(state());
    return converted;
}

}  // namespace v1
}  // namespace sardonyx
