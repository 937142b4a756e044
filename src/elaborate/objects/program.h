// What one elaboration is given and holds: scripts, options, limits, and the files and findings of
// a compilation.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "diagnostics/diagnostic.h"
#include "diagnostics/inlays.h"
#include "elaborate/objects/environment.h"
#include "ir/ir.h"
#include "syntax/tree.h"

namespace sardonyx::ops {
class SchemaSet;
}

namespace sardonyx::elaborate {

// Constants of as many bytes become initializers of a main graph, where runtimes share and
// memory-map them.
constexpr size_t kInitializerBytes = 1024;

// A function decorated with @script: its definition and what its free names mean. `tree` and
// `environment` must outlive it.
class ScriptFunction {
  public:
    std::string name;
    syntax::Tree* tree = nullptr;
    const syntax::FunctionDefStmt* definition = nullptr;
    Environment* environment = nullptr;
    // The domain and version that the function itself belongs to; "this" version 1 unless given.
    OpsetObject opset{"this", 1};
    // The opset of Python's operators in the body; version 0: the first opset that the body uses.
    OpsetObject default_opset{"", 0};
    // Default values of parameters that are evaluated already (Python's live defaults win over the
    // source).
    std::vector<std::pair<std::string, Object>> defaults;
    // Of a method: the object that it is called of, which is its first argument everywhere.
    std::optional<Object> self;
    // Keywords of script(...) for the model: ir_version, producer_name, producer_version,
    // doc_string.
    int64_t ir_version = 0;
    std::string producer_name;
    std::string producer_version;
    std::string doc_string;
    // Arrays of so many bytes are initializers of a model that is made of it.
    size_t initializer_bytes = kInitializerBytes;
    // What operators make of constants is computed for such a model up to so many bytes; 0: it is
    // left to the run.
    size_t fold_bytes = 0;
    bool is_inline = false;  // calls of it run its body in place
    bool is_plain = false;   // a function of Python that `script` has not been applied to
    // Opsets of ai.onnx in the body of a function that runs in place are the caller's.
    bool takes_opset_of_caller = false;
    bool is_of_file = false;  // its file holds it, as long as the program lives
    // The operators of PyTorch that `@sardonyx.torch.operator` says it means.
    std::vector<std::string> pytorch_overloads;

    diagnostics::Span name_span() const { return tree->span(definition->name_range); }
};

class FileModule;
class Scope;
struct Unknowns;

// Reads the tensors of a file by their names: the phase itself knows no file formats.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using WeightReader = std::function<Result<NamedTensors>(const std::string& path)>;

// Limits on hostile or mistaken scripts.
struct Limits {
    // Of static loops, in all, and some more for each statement of the script.
    int64_t static_iterations = 1'000'000;
    int64_t nodes = 4'000'000;
    int depth = 260;               // of expressions, blocks and calls
    int64_t steps = 4'000'000;     // the same of expressions and blocks that are evaluated
    int64_t text_bytes = 1 << 20;  // of one static string or list
};

struct Options {
    // Types of inputs by parameter name; they win over annotations.
    std::vector<std::pair<std::string, Type>> input_types;
    // Types of results in order; fewer than there are: the rest from annotations.
    std::vector<Type> output_types;
    // Values of attribute parameters of the main function.
    std::vector<std::pair<std::string, Object>> attributes;
    const ops::SchemaSet* schemas = nullptr;  // of operators of other domains; null: none
    int64_t opset = 0;  // of ai.onnx, in place of what the scripts import; 0: theirs
    int64_t ir_version = 0;
    // Folders of modules that do not lie beside the file that imports them, in order.
    std::vector<std::string> library_path;
    Limits limits;
};

// The files, modules and findings of one compilation or check. Not copied, not moved: trees and
// functions point into it. Two compilations that go on at once have a Program each; they may share
// the sources.
struct Program {
    explicit Program(WeightReader read_weights);
    Program(WeightReader read_weights, diagnostics::Sources& shared);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

  private:
    std::unique_ptr<diagnostics::Sources> own_sources_;  // null: they are shared

  public:
    diagnostics::Sources& sources;
    diagnostics::Diagnostics diagnostics;
    std::vector<std::unique_ptr<FileModule>> modules;  // one per file, in the order of loading
    // Scripts that others have called: what they need to know, their callers may have given.
    std::set<const ScriptFunction*> called;
    // Scripts that cannot be functions of a model, by what they were built for and the opsets of
    // their callers, with the mistakes: each is built once, whoever calls it.
    std::map<std::pair<const ScriptFunction*, std::string>, std::vector<diagnostics::Diagnostic>>
        failed;
    int64_t built = 0;  // functions of models, whole and failed
    const WeightReader read_weights;
    // Files of modules that do not lie beside the file that imports them, by the names of modules.
    std::map<std::string, std::string, std::less<>> module_files;
    // For what is evaluated outside of scripts: the schemas, limits and library path of the caller.
    Options file_options;
    bool wants_types = false;
    std::vector<diagnostics::Inlay> types;  // of names where they are bound, when wanted
    int depth = 0;  // of the evaluation that is going on, over files and their constants
    // Scopes that a function closes over and that hold it: taken apart at the end.
    std::vector<std::shared_ptr<Scope>> closed_over;
    const std::unique_ptr<Unknowns> unknowns;  // what statements of files that are not run may do
};

}  // namespace sardonyx::elaborate
