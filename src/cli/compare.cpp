// The peer runs first and leaves the tensors of its main graph as files 0.npy, 1.npy, ... beside a
// list of their names; then the model runs here, and each value is compared as it is made. Outputs
// of another model that are called otherwise there, or that no node makes, are compared by their
// order in the end. Other runtimes are Python packages: `python -m sardonyx._peer` runs them.
#include "cli/compare.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "base/write_file.h"
#include "cli/observers.h"
#include "cli/python.h"
#include "cli/terminal.h"
#include "diagnostics/glyphs.h"
#include "models/statistics.h"
#include "proto/proto.h"
#include "weights/npy.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace sardonyx::cli {
namespace {

using eval::RuntimeValue;
using NamedValues = std::vector<std::pair<std::string_view, RuntimeValue>>;

// A folder that goes away with the object.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::error_code failed;
        std::string pattern =
            (std::filesystem::temp_directory_path(failed) / "sardonyx-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data()) != nullptr ? pattern : std::string();
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    bool is_there() const { return !path_.empty(); }
    std::string file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

  private:
    std::string path_;
};

// Tensors as FOLDER/PREFIX_0.npy, ... and their names, one a line, in FOLDER/PREFIX.txt. Names with
// line breaks are left out.
class ValueWriter {
  public:
    ValueWriter(const TemporaryFolder& folder, std::string prefix)
        : folder_(folder), prefix_(std::move(prefix)) {}

    Result<void> add(std::string_view name, const Tensor& tensor) {
        if (name.find('\n') != std::string_view::npos) {
            return {};
        }
        Result<std::string> bytes = weights::write_npy(tensor);
        SDX_TRY(bytes);
        SDX_TRY(files_.put(folder_.file(fmt::format("{}_{}.npy", prefix_, count_++)), *bytes));
        names_ += fmt::format("{}\n", name);
        return {};
    }
    Result<void> finish() const { return write_file(folder_.file(prefix_ + ".txt"), names_); }

  private:
    const TemporaryFolder& folder_;
    std::string prefix_;
    std::string names_;
    int64_t count_ = 0;
    NewFiles files_;
};

// --- The peers -----------------------------------------------------------------------------------

// Keeps the tensors that another model makes.
class Recorder final : public eval::RunObserver {
  public:
    explicit Recorder(ValueWriter* writer) : writer_(writer) {}
    void node_done(const ir::Node& node, std::span<const RuntimeValue* const> outputs,
                   int depth) override {
        for (size_t i = 0; i < outputs.size() && depth == 1 && status_.ok(); ++i) {
            if (outputs[i]->is_tensor()) {
                status_ = writer_->add(node.output(i)->name, outputs[i]->tensor());
            }
        }
    }
    const Result<void>& status() const { return status_; }

  private:
    ValueWriter* writer_;
    Result<void> status_;
};

Result<void> run_other_model(const std::string& path, const NamedValues& inputs,
                             const eval::RunOptions& options, ValueWriter* values,
                             ValueWriter* outputs) {
    FileStamps files;
    auto model = proto::read_model_file(path, &files);
    SDX_TRY(model);
    std::optional<MappedReading> reading(files);
    auto plan = eval::prepare(**model);
    SDX_TRY(plan);
    Recorder recorder(values);
    auto results = eval::run(**plan, inputs, options, &recorder);
    reading.reset();
    SDX_TRY(check_unchanged(files));
    if (!results.ok()) {
        return Error{fmt::format("`{}`: {}", path, results.error().message)};
    }
    SDX_TRY(recorder.status());
    for (size_t i = 0; i < results->size(); ++i) {
        if ((*results)[i].is_tensor()) {
            SDX_TRY(outputs->add(fmt::format("{}", i), (*results)[i].tensor()));
        }
    }
    return {};
}

constexpr size_t kMostWords = 1 << 16;  // of what a peer says

Result<void> run_python(const std::vector<std::string>& arguments, const std::string& messages) {
    std::vector<std::string> words{python_program(), "-m", "sardonyx._peer"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    pid_t child = 0;
    int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    std::string need = fmt::format(
        "`--compare {0}` needs Python with the packages sardonyx, onnx and {0}", arguments[0]);
    if (arguments[0] == "reference") {
        need = "`--compare reference` needs Python with the packages sardonyx and onnx";
    }
    if (failed != 0) {
        return Error{fmt::format("{}: there is no `{}`", need, words[0])};
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status == 0) {
        return {};
    }
    Result<std::string> said = read_file(messages, kMostWords);
    std::string last = said.ok() ? *said : std::string();
    while (!last.empty() && last.back() == '\n') {
        last.pop_back();
    }
    last = last.substr(last.rfind('\n') + 1);
    bool is_missing = last.find("No module named") != std::string::npos;
    return Error{is_missing ? fmt::format("{}: {}", need, last)
                            : fmt::format("{} could not run the model: {}", arguments[0], last)};
}

Result<void> run_peer(const ir::Model& model, const NamedValues& inputs,
                      const eval::RunOptions& options, const Comparison& comparison,
                      const TemporaryFolder& folder) {
    if (!comparison.is_runtime()) {
        ValueWriter values(folder, "value"), outputs(folder, "output");
        SDX_TRY(run_other_model(comparison.peer, inputs, options, &values, &outputs));
        SDX_TRY(values.finish());
        return outputs.finish();
    }
    ValueWriter given(folder, "input");
    for (const auto& [name, value] : inputs) {
        if (!value.is_tensor()) {
            return Error{fmt::format("`--compare {}` takes tensors only, and `{}` is {}",
                                     comparison.peer, name, value.describe())};
        }
        SDX_TRY(given.add(name, value.tensor()));
    }
    SDX_TRY(given.finish());
    std::string path = comparison.path;
    if (path.empty()) {
        path = folder.file("model.onnx");
        Result<std::string> bytes = proto::write_model(model);
        SDX_TRY(bytes);
        SDX_TRY(write_file(path, *bytes));
    }
    return run_python({comparison.peer, path, folder.file("")}, folder.file("messages.txt"));
}

// --- The comparison ------------------------------------------------------------------------------

// What rounding in another order makes of a type's numbers. Sums of large terms that cancel each
// other are as far off as the terms are large: so the largest element of the tensor counts.
models::Tolerance tolerance_of(const Tensor& tensor) {
    ElementType type = tensor.element_type();
    if (type == ElementType::kInt8 || type == ElementType::kUint8) {
        return {1, 0};  // codes of quantized numbers that lie between two
    }
    if (!is_floating(type)) {
        return {};
    }
    models::Statistics known = models::statistics(tensor);
    double range = std::max({1.0, std::fabs(known.least), std::fabs(known.greatest)});
    range = std::isfinite(range) ? range : 1.0;
    bool is_wide = type == ElementType::kFloat || type == ElementType::kDouble;
    return is_wide ? models::Tolerance{1e-4 * range, 1e-3} : models::Tolerance{1e-2 * range, 1e-2};
}

class Comparator final : public eval::RunObserver {
  public:
    Comparator(const TemporaryFolder& folder, const Comparison& comparison,
               const NamedValues& inputs)
        : folder_(folder), comparison_(comparison), inputs_(inputs) {}

    Result<void> read_names() {
        SDX_TRY(read_list("value", values_));
        return comparison_.is_runtime() ? Result<void>() : read_list("output", outputs_);
    }

    void node_done(const ir::Node& node, std::span<const RuntimeValue* const> outputs,
                   int depth) override {
        for (size_t i = 0; i < outputs.size() && depth == 1 && !is_found_; ++i) {
            types_[node.output(i)] = outputs[i]->describe();
            auto file = values_.find(std::string(node.output(i)->name));
            if (file != values_.end() && outputs[i]->is_tensor()) {
                done_.insert(node.output(i));
                compare_value(&node, node.output(i)->name, outputs[i]->tensor(), file->second);
            }
        }
    }

    // Those that were not compared by their names. Afterwards, `left()` are those without a peer.
    void compare_outputs(const ir::Graph& graph, std::span<const RuntimeValue> results) {
        for (size_t i = 0; i < results.size() && !is_found_; ++i) {
            const ir::Value* output = graph.outputs[i];
            if (done_.contains(output)) {
                continue;
            }
            auto file = outputs_.find(fmt::format("{}", i));
            if (file != outputs_.end() && results[i].is_tensor()) {
                compare_value(nullptr, output->name, results[i].tensor(), file->second);
            } else if (!is_of_model_itself(*output)) {
                left_.emplace_back(output->name);
            }
        }
    }

    const std::vector<std::string>& left() const { return left_; }
    int64_t compared() const { return compared_; }
    bool is_found() const { return is_found_; }

  private:
    // The files of what ValueWriter has written with this prefix, by the names.
    using Files = std::map<std::string, std::string>;
    Result<void> read_list(std::string_view prefix, Files& files) {
        Result<std::string> text = read_file(folder_.file(fmt::format("{}.txt", prefix)), SIZE_MAX);
        SDX_TRY(text);
        std::stringstream lines(*text);
        int64_t index = 0;
        for (std::string name; std::getline(lines, name); ++index) {
            files.emplace(std::move(name), folder_.file(fmt::format("{}_{}.npy", prefix, index)));
        }
        return {};
    }

    // Whether another runtime has it from the same file: a weight or an input.
    bool is_of_model_itself(const ir::Value& value) const {
        return comparison_.is_runtime() && value.producer() == nullptr;
    }

    // `node`: what has made it; null: an output that was not compared by its name.
    void compare_value(const ir::Node* node, std::string_view name, const Tensor& ours,
                       const std::string& file) {
        Result<Tensor> theirs = weights::read_npy_file(file, ours.element_type());
        if (!theirs.ok()) {
            return;
        }
        ++compared_;
        models::Tolerance tolerance = tolerance_of(*theirs);
        tolerance.absolute = comparison_.absolute.value_or(tolerance.absolute);
        tolerance.relative = comparison_.relative.value_or(tolerance.relative);
        std::optional<models::Difference> found = models::difference(ours, *theirs, tolerance);
        if (found.has_value() && found->beyond == 0) {
            return;
        }
        is_found_ = true;
        std::string text = fmt::format("the first difference is in `{}`, {}\n",
                                       diagnostics::visible(name), origin(node));
        text += fmt::format("  sardonyx: {}\n  {}: {}\n", summary(ours), comparison_.peer,
                            summary(*theirs));
        if (found.has_value()) {
            text += fmt::format(
                "  {} of {} elements differ, by {:g} at most; element {} is {:g} and {:g}\n",
                found->beyond, ours.count(), found->greatest, found->place, found->a, found->b);
        }
        print(text);
    }

    std::string origin(const ir::Node* node) const {
        if (node == nullptr) {
            return "an output";
        }
        std::string place = place_of(*node, comparison_.sources);
        std::string text = fmt::format("which {} makes{}{}", describe_node(*node),
                                       place.empty() ? "" : " at ", place);
        for (const ir::Use& input : node->inputs()) {
            if (input.value != nullptr && !input.value->name.empty()) {
                text += fmt::format("\n  input {}: {}", diagnostics::visible(input.value->name),
                                    type_of(*input.value));
            }
        }
        return text;
    }

    // What a value is in this run: models seldom state it.
    std::string type_of(const ir::Value& value) const {
        auto made = types_.find(&value);
        if (made != types_.end()) {
            return made->second;
        }
        for (const auto& [name, given] : inputs_) {
            if (name == value.name) {
                return given.describe();
            }
        }
        return value.constant ? value.constant->type().to_string() : value.type.to_string();
    }

    static std::string summary(const Tensor& tensor) {
        return fmt::format("{} {}", RuntimeValue(tensor).describe(),
                           models::statistics_text(tensor));
    }

    const TemporaryFolder& folder_;
    const Comparison& comparison_;
    const NamedValues& inputs_;
    std::unordered_map<const ir::Value*, std::string> types_;
    Files values_, outputs_;
    std::unordered_set<const ir::Value*> done_;
    std::vector<std::string> left_;
    int64_t compared_ = 0;
    bool is_found_ = false;
};

}  // namespace

Result<bool> compare(const ir::Model& model, const NamedValues& inputs,
                     const eval::RunOptions& options, const Comparison& comparison) {
    TemporaryFolder folder;
    if (!folder.is_there()) {
        return Error{"cannot make a temporary folder"};
    }
    SDX_TRY(run_peer(model, inputs, options, comparison, folder));
    Comparator comparator(folder, comparison, inputs);
    SDX_TRY(comparator.read_names());
    auto plan = eval::prepare(model);
    SDX_TRY(plan);
    auto results = eval::run(**plan, inputs, options, &comparator);
    SDX_TRY(results);
    comparator.compare_outputs(*model.graph, *results);
    if (comparator.compared() == 0) {
        return Error{fmt::format(
            "no value of the model has the name of one of `{}`, and no output its place",
            comparison.peer)};
    }
    if (!comparator.is_found()) {
        print(fmt::format("all {} values agree with {}\n", comparator.compared(), comparison.peer));
    }
    for (const std::string& name : comparator.left()) {
        print(fmt::format("not compared: the output `{}`\n", diagnostics::visible(name)));
    }
    return !comparator.is_found();
}

}  // namespace sardonyx::cli
