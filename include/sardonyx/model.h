// Model: an ONNX model or function in memory.
#pragma once

#include <sardonyx/array.h>
#include <sardonyx/diagnostic.h>
#include <sardonyx/export.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sdx_model;  // sardonyx/c.h
struct sdx_token;

namespace sardonyx {
inline namespace v1 {

// A named value. Types are text: "FLOAT[2,N]", "INT64" (rank 0), "FLOAT[...]" (rank unknown),
// "Sequence[FLOAT[N]]", "?" (nothing known).
struct ValueInfo {
    std::string name;
    std::string type;
};

struct NodeInfo {
    std::string name;    // may be empty
    std::string domain;  // empty for ai.onnx
    std::string op_type;
    std::vector<ValueInfo> inputs;  // an input that is left out has an empty name
    std::vector<ValueInfo> outputs;
};

// Ends runs from outside: an option of the run, and cancel() from another thread or from a handler
// of a signal. Copies are one token.
class SDX_API CancelToken {
  public:
    CancelToken();
    void cancel() noexcept;
    bool is_cancelled() const noexcept;
    const sdx_token* handle() const noexcept { return handle_.get(); }

  private:
    std::shared_ptr<sdx_token> handle_;
};

struct RunOptions {
    uint64_t seed = 0;              // of random operators without a `seed` of their own
    int64_t max_steps = INT64_MAX;  // nodes and iterations in all; beyond: an Error
    int threads = 0;                // 0: the cores; results do not depend on it
    double timeout = std::numeric_limits<double>::infinity();  // in seconds; beyond: TimeoutError
    std::optional<CancelToken> cancel = {};                    // once cancelled: CancelledError
};

// Forms of a model that are text: that of onnx.parser, protobuf's JSON, and protobuf's text format.
enum class TextForm { kOnnxText = 1, kJson = 2, kTextProto = 3 };

struct SaveOptions {
    // Initializers of so many bytes and more go to files beside the model; 0: none. Nothing: as it
    // was: a model that was loaded keeps its files of data.
    std::optional<size_t> external_bytes = {};
    size_t alignment = 4096;   // of each in its file, 1 to 65536
    size_t file_bytes = 0;     // after which another file begins; 0: all go to one
    bool safetensors = false;  // the files are .safetensors, without gaps
    bool share_equal = false;  // equal tensors are written once
    // Is told how many bytes of all are written.
    std::function<void(size_t done, size_t all)> progress = {};
};

class SDX_API Model {
  public:
    // Reads a .onnx file, or one in a form that is text, as its name ends (.onnxtxt, .json,
    // .textproto, .pbtxt). The file stays mapped as long as the model lives, and its
    // external data is read from the same folder. Replace a file that is loaded by a new one of its
    // name: one that is written over or truncated makes that call and later ones fail. Error: the
    // file cannot be read, or is no model.
    static Model load(const std::string& path);
    // The same for the bytes of a ModelProto, which are copied; external data is an Error.
    static Model from_bytes(std::string_view bytes);
    static Model from_text(std::string_view text, TextForm form = TextForm::kOnnxText);

    Model(Model&& other) noexcept;
    Model& operator=(Model&& other) noexcept;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    ~Model();

    // Of the main graph; of the function for a model that was compiled as one.
    std::vector<ValueInfo> inputs() const;
    std::vector<ValueInfo> outputs() const;
    std::vector<NodeInfo> nodes() const;  // in execution order, without those of subgraphs
    // Names of the model-local functions.
    std::vector<std::string> functions() const;
    // The whole model as text for people. The form may change from version to version.
    std::string to_text() const;
    // The whole model in a form that can be read back. Error: that form has no words for it, which
    // JSON always has; a function.
    std::string to_text(TextForm form) const;

    // Warnings of the compilation that made the model; empty for one that was loaded.
    const std::vector<Diagnostic>& diagnostics() const;

    // The ModelProto, or FunctionProto, as bytes: the same for the same model. Error: more than
    // 2 GiB.
    std::string serialize() const;
    // Writes these bytes, or the form that the name ends in. Readers of the file see the old bytes
    // or the new. What it takes is the size of the graph, not that of the weights. Error: as
    // serialize(), but for what goes to files beside it, and when a file cannot be written.
    void save(const std::string& path, const SaveOptions& options = {}) const;

    // Runs the main graph, which the first run prepares. Inputs go by name; those with a default
    // may be left out. The results are in the order of outputs(). Error: an input is missing,
    // unknown or of another type; a function, which has no graph; an operator that is not
    // implemented; whatever an operator refuses. CancelledError: the options have ended the run;
    // the model is as before, and can run again.
    std::vector<Value> run(const std::vector<std::pair<std::string, Value>>& inputs,
                           const RunOptions& options = {}) const;

    // The same model for the C interface (and for a Session); freed by sdx_model_free.
    sdx_model* share() const;

    struct State;  // of the implementation
    explicit Model(std::shared_ptr<State> state);

  private:
    State& state() const;  // Error: it has been moved from, and is none

    std::shared_ptr<State> state_;
};

}  // namespace v1
}  // namespace sardonyx
