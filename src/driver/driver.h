// The one way to a compilation: load a file, choose its script, compile, lint, and drop what
// `# sardonyx: ignore` comments silence. Every surface (the program, the C++ library, the Python
// package) comes through here, so that all of them say the same of the same script.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/find_files.h"
#include "driver/finish.h"
#include "elaborate/files/module.h"
#include "ops/schema_set.h"
#include "proto/as_read.h"

namespace sardonyx::driver {

// The name that the words of `decompile --exact` have in a file.
inline constexpr std::string_view kExactTable = "__exact__";

// The path of a text that came through standard input, which the command line calls `-`.
inline constexpr std::string_view kStandardInput = "<stdin>";

enum class Form : uint8_t {
    kModel,
    kFunction,
    kAsAnnotated,  // a model where annotations and defaults allow it, else a function
};

struct Request {
    std::string path;
    std::optional<std::string> text;   // of the file; nothing: what it holds
    std::vector<CheckedFile> at_hand;  // texts of other scripts, which may be imported
    // Files of modules that do not lie beside the file, by the names of modules.
    std::map<std::string, std::string, std::less<>> module_files;
    // What names stand for before the file runs, as by `globals` of Python's `exec`: plain objects.
    std::vector<std::pair<std::string, elaborate::Object>> globals;
    std::string script;  // its name; empty: the one that is obviously meant
    Form form = Form::kModel;
    elaborate::Options options;        // but for its schemas, which are made of:
    std::vector<std::string> schemas;  // files with operators of other domains
    bool wants_types = false;
    elaborate::WeightReader read_weights;  // empty: files are read (weights.h)
    Finish finish;                         // of a model
};

// The findings are those of `program`. `model` is null when nothing could be compiled; with errors
// among the findings it is not whole.
struct Compilation {
    std::unique_ptr<elaborate::Program> program;
    std::unique_ptr<ops::SchemaSet> schemas;
    elaborate::FileModule* module = nullptr;  // null: the file cannot be read
    std::shared_ptr<elaborate::ScriptFunction> script;
    std::unique_ptr<ir::Model> model;
    Finish finish;                                 // as requested
    proto::Source source;                          // of the model whose words `__exact__` has
    std::vector<diagnostics::Diagnostic> of_file;  // what has been said before the script
    std::string complaint;  // why the request cannot be met where no finding says it

    const diagnostics::Sources& sources() const { return program->sources; }
    const diagnostics::Diagnostics& findings() const { return program->diagnostics; }
    const std::vector<diagnostics::Inlay>& types() const { return program->types; }
    // The files that it has been made from: texts, schemas and weights.
    std::vector<std::string> files() const;
    bool has_failed() const { return model == nullptr || findings().has_errors(); }
};

Compilation compile(const Request& request);

// All scripts of the file, and what they call, as the functions of a model with an empty graph.
Compilation compile_library(const Request& request);

// The same script once more with other types of inputs, when the first model has told what its
// inputs are; the findings are those of this time alone. Returns the model of the time before.
std::unique_ptr<ir::Model> compile_again(Compilation& compilation, elaborate::Options options);

// A script that somebody else has found and whose file is not at hand as a whole, as in Python.
struct ScriptRequest {
    Form form = Form::kModel;
    elaborate::Options options;
    Finish finish;  // of a model
};
// The model; null: the findings of the program have errors. Error: what makes it unfit for the
// release that it is for.
Result<std::unique_ptr<ir::Model>> compile_script(elaborate::Program& program,
                                                  const elaborate::ScriptFunction& script,
                                                  const ScriptRequest& request);

// A file alone, for its tokens and tree: `script` and `model` stay null.
Compilation load(const Request& request);

// All scripts of a file, one after the other, in the order of their definitions; the findings are
// those of all.
struct CompiledScript {
    std::shared_ptr<elaborate::ScriptFunction> script;
    std::unique_ptr<ir::Model> model;
};
std::vector<CompiledScript> compile_all(Compilation& loaded, Form form);

}  // namespace sardonyx::driver
