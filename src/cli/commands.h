// The commands of the program and their options. Exit status: 0 success, 1 findings or a failed
// run, 2 wrong usage, 130 Ctrl-C.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "driver/options.h"
#include "ide/settings.h"
#include "models/cut.h"
#include "models/extract.h"
#include "models/info.h"
#include "models/merge.h"
#include "models/rename.h"
#include "models/set_shape.h"
#include "models/strip.h"

namespace sardonyx::cli {

// The path that means standard input or output.
inline constexpr std::string_view kStream = "-";

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;
inline constexpr int kInterrupted = 130;  // as shells say it: 128 and the number of SIGINT

// FILE or FILE:NAME, where NAME is a script of FILE; empty: not said.
struct Target {
    std::string path;
    std::string name;
    std::string stdin_name = {};  // what messages call the text of standard input

    bool holds_model = false;  // of standard input

    bool is_script() const;  // Python text, not a model
    bool is_stdin() const { return path == kStream; }
};

struct BuildOptions {
    Target target;
    std::string output;
    driver::OptionTexts texts;
    std::vector<std::string> schemas;  // files with operators of other domains
    bool as_function = false;
    bool as_library = false;  // all scripts of the file as functions
    bool quiet = false;
    size_t external_bytes = 0;  // initializers of as many go to a file beside; 0: none
    std::string like;           // a model that names and other words come from; empty: none
};
// What is wrong with the options together; empty: nothing.
std::string_view complaint(const BuildOptions& options);
int run_build(const BuildOptions& options);

// The values of the inputs of a run.
struct InputOptions {
    std::vector<driver::Assignment> inputs;
    std::vector<std::string> files;         // of named inputs
    bool random = false;                    // for inputs that are not given
    std::vector<driver::Assignment> sizes;  // of named dimensions, for random numbers
    uint64_t seed = 0;
    std::string_view option;  // before NAME=VALUE, for messages: "--run " or nothing
};

struct RunOptions : InputOptions {
    Target target;
    driver::OptionTexts texts;
    std::vector<std::string> schemas;
    std::string output;    // a folder, or an .npz file; empty: only print the results
    std::string testcase;  // a folder of the onnx backend tests to write; nothing is printed then
    bool quiet = false;
    bool json = false;  // print the results as JSON
    int threads = 0;    // 0: the cores
    int64_t max_steps = INT64_MAX;
    bool trace = false;                        // print every value
    bool plan = false;                         // print the plan before
    std::string compare;                       // the peer to compare every value with; empty: none
    std::optional<double> absolute, relative;  // what --compare lets pass
};
int run_run(const RunOptions& options);

enum class CheckFormat { kText, kJson, kSarif };

struct CheckOptions {
    std::vector<std::string> paths;    // "-": standard input
    std::string stdin_name;            // what messages call it; empty: "<stdin>"
    std::vector<std::string> exclude;  // patterns of files and folders in folders
    int64_t opset = 0;                 // 0: what the scripts import
    bool quiet = false;                // no summary
    CheckFormat format = CheckFormat::kText;
    bool warnings_as_errors = false;
    bool fix = false;                       // write the safe repairs that findings carry
    bool unsafe_fixes = false;              // and those that are guesses
    bool diff = false;                      // show them in place of writing
    std::vector<std::string> select;        // the only codes to show, errors aside; empty: all
    std::vector<std::string> ignore;        // codes not to show
    std::vector<std::string> schemas;       // files with operators of other domains
    std::vector<std::string> library_path;  // folders of modules
    bool types = false;  // show them instead of the findings, which go to standard error
};
int run_check(const CheckOptions& options);

enum class DumpStage { kTokens, kTree, kIr, kPlan };

struct DumpOptions {
    Target target;
    DumpStage stage = DumpStage::kIr;
    bool types = false;
};
int run_dump(const DumpOptions& options);

struct ExplainOptions {
    std::string code;  // empty: list all
};
int run_explain(const ExplainOptions& options);

struct DoctorOptions {
    bool json = false;
};
int run_doctor(const DoctorOptions& options);

struct LspOptions {
    ide::ServerSettings settings;
};
int run_lsp(const LspOptions& options);

struct DecompileOptions {
    std::string model;
    std::string output = std::string(kStream);
    bool outline = false;  // equal blocks as one function
    bool exact = false;    // with the names and all else that a script has no place for
    std::string to = "python";
};
int run_decompile(const DecompileOptions& options);

struct ImportOptions {
    std::string model, output;
    std::optional<int64_t> opset;
    std::vector<std::string> dims;
    std::string state;
    std::string target;                  // "onnxruntime-1.20"; empty: none in particular
    std::vector<std::string> libraries;  // files with the user's own operators
    bool outline = false;                // modules that repeat as functions
    bool quiet = false;
};
int run_import(const ImportOptions& options);

struct ViewOptions {
    Target target;
    std::optional<Target> other;  // what it is shown beside, with the differences
    driver::OptionTexts texts;
    std::vector<std::string> schemas;
    std::string html, svg, json;  // files to write; "-": standard output; none: serve the page
    uint16_t port = 0;            // 0: a free one
    bool outline = false;         // equal blocks as one function
    bool netron = false;          // Netron shows it
    InputOptions given;           // of a run whose values are shown
    bool has_script() const { return target.is_script() || (other && other->is_script()); }
    bool has_run() const { return given.random || !given.inputs.empty() || !given.files.empty(); }
};
// What is wrong with the options together; empty: nothing.
std::string_view complaint(const ViewOptions& options);
int run_view(const ViewOptions& options);

struct InfoOptions {
    Target target;
    models::Sizes sizes;
    bool nodes = false, json = false;
};
int run_info(const InfoOptions& options);

// Reads `model`, changes it, and writes `output`; "-" is standard input and output.
struct EditOptions {
    std::string model, second;  // `second`: of merge
    std::string output;
    size_t external_bytes = 0;  // initializers of as many go to a file beside; 0: as in the model
    bool json = false, quiet = false;
    std::string from_form, to_form;  // names of forms (proto/forms.h); empty: as files are called
    std::variant<std::monostate, models::CutRequest, models::Renaming, models::ShapeRequest,
                 models::MergeRequest, models::StripRequest, models::ExtractRequest>
        request;
};
int run_edit(const EditOptions& options);

struct WeightsOptions {
    std::string model;
    std::vector<std::string> names;  // empty: all
    bool statistics = false, json = false, quiet = false;
    std::string extract;          // a .safetensors file to write
    std::string replace, output;  // a file of tensors that take the places of others
    size_t external_bytes = 0;
};
int run_weights(const WeightsOptions& options);

struct DiffOptions {
    Target first, second;
    bool names = false, json = false, quiet = false;
    std::string html;  // a file to write; "-": standard output
};
// 0: the models are the same; 1: they differ; 2: one cannot be read.
int run_diff(const DiffOptions& options);

// Nothing more to do: `text` goes to standard output, or, for wrong usage, to standard error.
struct Answer {
    std::string text;
    int status = kSuccess;
};

using Command =
    std::variant<Answer, BuildOptions, RunOptions, CheckOptions, DumpOptions, ExplainOptions,
                 LspOptions, DecompileOptions, ImportOptions, ViewOptions, DoctorOptions,
                 InfoOptions, DiffOptions, EditOptions, WeightsOptions>;

}  // namespace sardonyx::cli
