// The command line. Only this file and usage.cpp see CLI11, which is slow to compile; it throws,
// and what it throws is caught here.

#include "cli/arguments.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cli/command_words.h"
#include "cli/completion.h"
#include "cli/help_texts.h"
#include "cli/model_words.h"
#include "cli/numbers.h"
#include "cli/terminal.h"
#include "cli/usage.h"

namespace sardonyx::cli {
namespace {

// Checks whose description is not repeated in the help.
CLI::Validator one_of(std::vector<std::string> words) {
    auto check = [words = std::move(words)](const std::string& word) {
        bool is_known = std::find(words.begin(), words.end(), word) != words.end();
        return is_known ? std::string()
                        : fmt::format("there is no `{}`; use {}", word, fmt::join(words, ", "));
    };
    return CLI::Validator(check, "");
}

template <typename T>
CLI::Validator between(T least, T most = std::numeric_limits<T>::max()) {
    return CLI::Validator(
        [=](const std::string& word) { return problem_of_number(word, least, most); }, "");
}

CLI::Validator version_from(int64_t least) {
    return between(least, int64_t{1000});
}

CLI::App* add_command(CLI::App& app, Words& words, const char* name, const char* about,
                      std::string_view example) {
    CLI::App* command = app.add_subcommand(name, about);
    command->footer(std::string(example));
    command->set_help_flag("-h,--help", "Show this help");
    command->add_option("--color", words.color, "auto, always or never")
        ->check(one_of({"auto", "always", "never"}))
        ->type_name("WHEN");
    command->add_flag("-q,--quiet", words.quiet, "Print only results and findings");
    return command;
}

void add_python(CLI::App* command, Words& words) {
    command->add_flag(
        "--python", words.python,
        "Import the file with Python (SARDONYX_PYTHON) and use the values it computes");
}

void add_config_options(CLI::App* command, Words& words) {
    command->add_option("--config", words.config, "Read [tool.sardonyx] from this pyproject.toml")
        ->type_name("FILE");
    command->add_flag("--isolated", words.isolated, "Ignore pyproject.toml");
}

// Those of commands that compile scripts.
void add_script_options(CLI::App* command, Words& words) {
    command
        ->add_option("--stdin-filename", words.stdin_name, "The name of standard input in messages")
        ->type_name("NAME");
    add_config_options(command, words);
}

// Each --input or --attribute takes one word.
void add_list(CLI::App* command, const char* name, std::vector<std::string>& words,
              const char* about, const char* type_name) {
    command->add_option(name, words, about)->allow_extra_args(false)->type_name(type_name);
}

// What scripts read beside their own file.
void add_sources(CLI::App* command, std::vector<std::string>& schemas,
                 std::vector<std::string>& library_path) {
    add_list(command, "--schemas", schemas,
             "A description of operators of other domains (docs/schemas.md)", "FILE.toml");
    add_list(command, "--library-path", library_path,
             "A folder of modules that scripts import, beside that of the file", "DIR");
}

void add_compile_options(CLI::App* command, Words& words, driver::OptionTexts& texts) {
    add_list(command, "--attribute", words.attributes, "Set the value of an attribute parameter",
             "NAME=VALUE");
    command
        ->add_option("--opset", texts.opset, "Use this version of ai.onnx instead of the script's")
        ->check(version_from(1))
        ->type_name("N");
}

void add_build(CLI::App& app, Words& words) {
    CLI::App* command =
        add_command(app, words, "build", "Compile a script to a .onnx file", kBuildExample);
    command->add_option("file", words.target, "A file, and optionally the name of a script in it")
        ->required()
        ->type_name("FILE.py[:NAME]");
    add_script_options(command, words);
    add_python(command, words);
    command
        ->add_option("-o,--output", words.build.output, "The file to write (- for standard output)")
        ->required()
        ->type_name("OUT.onnx");
    add_list(command, "--input", words.input_types, "Set the type of an input", "NAME=TYPE");
    add_compile_options(command, words, words.build.texts);
    add_sources(command, words.build.schemas, words.build.texts.library_path);
    command
        ->add_option("--ir-version", words.build.texts.ir_version,
                     "Use this IR version instead of the lowest possible one")
        ->check(version_from(3))
        ->type_name("N");
    command
        ->add_option(
            "--like", words.build.like,
            "Take names, documentation and metadata from a model that is otherwise the same")
        ->type_name("MODEL.onnx");
    command->add_flag("--function", words.build.as_function,
                      "Write a FunctionProto instead of a model");
    command->add_flag("--library", words.build.as_library,
                      "Write all scripts of the file as functions of a model without a graph");
    command
        ->add_option("--external-data", words.build.external_bytes,
                     "Store initializers of at least this size in a file beside the model")
        ->check(between(int64_t{1}))
        ->type_name("BYTES");
}

// What a run takes for the inputs that are not given.
void add_random(CLI::App* command, Words& words, InputOptions& options) {
    command->add_flag("--random", options.random,
                      "Use random numbers for inputs that are not given; unknown sizes become 4");
    command->add_option("--seed", options.seed, "The seed for random numbers")
        ->check(between(uint64_t{0}))
        ->type_name("N");
    add_list(command, "--dim", words.dims, "The size of a named dimension in random inputs",
             "NAME=SIZE");
}

void add_run(CLI::App& app, Words& words) {
    CLI::App* command = add_command(app, words, "run", "Run a script or a model", kRunExample);
    command
        ->add_option("file", words.target,
                     "A model, or a file and optionally the name of a script in it")
        ->required()
        ->type_name("FILE.py[:NAME]|MODEL.onnx");
    add_script_options(command, words);
    add_python(command, words);
    command->add_option("inputs", words.inputs, "Values of inputs")->type_name("NAME=VALUE");
    add_compile_options(command, words, words.run.texts);
    add_sources(command, words.run.schemas, words.run.texts.library_path);
    add_random(command, words, words.run);
    command
        ->add_option("-o,--output", words.run.output,
                     "Write the outputs as .npy files to a folder, or to one .npz file")
        ->type_name("DIR|FILE.npz");
    command->add_flag("--json", words.run.json, "Print the outputs as JSON, with every element");
    command
        ->add_option("--threads", words.run.threads,
                     "The number of threads, 1 to 256; by default one per core")
        ->check(between(1, 256))
        ->type_name("N");
    command
        ->add_option("--max-steps", words.run.max_steps,
                     "Stop with an error after this many nodes and iterations")
        ->check(between(int64_t{1}))
        ->type_name("N");
    command->add_flag("--trace", words.run.trace,
                      "Print every value: its type, range, NaN and infinities, and source line");
    command->add_flag("--plan", words.run.plan,
                      "Print the plan first: the order of the nodes, and where values are stored");
    command
        ->add_option(
            "--compare", words.run.compare,
            "Find the first value that differs from onnxruntime, reference (onnx's evaluator in "
            "Python) or another model")
        ->type_name("onnxruntime|reference|MODEL.onnx");
    command
        ->add_option("--atol", words.run.absolute,
                     "With --compare: the absolute tolerance; by default, for float32, 1e-4 of the "
                     "tensor's largest element, and at least 1e-4")
        ->check(between(0.0))
        ->type_name("X");
    command
        ->add_option("--rtol", words.run.relative,
                     "With --compare: the relative tolerance of each element")
        ->check(between(0.0))
        ->type_name("X");
}

void add_check(CLI::App& app, Words& words) {
    CLI::App* command = add_command(
        app, words, "check", "Report errors in scripts, notebooks and models", kCheckExample);
    command
        ->add_option("files", words.check.paths,
                     "Scripts, notebooks, models, and folders of scripts and notebooks")
        ->required()
        ->type_name("FILE");
    add_script_options(command, words);
    add_python(command, words);
    command
        ->add_option("--format,--output-format", words.format,
                     "The output format: text, json or sarif")
        ->check(one_of({"text", "json", "sarif"}))
        ->type_name("FORMAT");
    command->add_flag("--json", words.json, "Same as --format json");
    command->add_flag("--sarif", words.sarif, "Same as --format sarif");
    add_sources(command, words.check.schemas, words.check.library_path);
    command->add_flag("--fix", words.check.fix, "Apply the fixes that are safe");
    command->add_flag("--unsafe-fixes", words.check.unsafe_fixes,
                      "With --fix or --diff: also apply fixes that are guesses");
    command->add_flag("--diff", words.check.diff,
                      "Show the fixes as a diff instead of applying them");
    command->add_option("--select", words.check.select, "Show only these warnings")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->type_name("CODE");
    command->add_option("--ignore", words.check.ignore, "Do not show these warnings")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->type_name("CODE");
    command
        ->add_option("--exclude", words.check.exclude,
                     "Skip files and folders whose name or path matches")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->type_name("PATTERN");
    command
        ->add_option("--opset", words.check.opset,
                     "Use this version of ai.onnx instead of the scripts'")
        ->check(version_from(1))
        ->type_name("N");
    command->add_flag("--types", words.check.types,
                      "Print scripts with the type of each name; findings go to standard error");
    command->add_flag("--warnings-as-errors", words.check.warnings_as_errors,
                      "Fail if there are warnings, even without errors");
}

void add_dump(CLI::App& app, Words& words) {
    CLI::App* command =
        add_command(app, words, "dump", "Show intermediate results of the compiler", kDumpExample);
    command->add_option("file", words.target, "A script file, one script of it, or a model")
        ->required()
        ->type_name("FILE[:NAME]");
    add_python(command, words);
    command
        ->add_option("--stage", words.stage,
                     "What to show: tokens, tree, ir, or plan (how the evaluator runs it)")
        ->check(one_of({"tokens", "tree", "ir", "plan"}))
        ->type_name("STAGE");
    command->add_flag("--types", words.dump.types, "Infer types that a model does not declare");
}

void add_explain(CLI::App& app, Words& words) {
    CLI::App* command =
        add_command(app, words, "explain", "Explain a diagnostic code", kExplainExample);
    command->add_option("code", words.explain.code, "The code; lists all codes if omitted")
        ->type_name("CODE");
}

void add_doctor(CLI::App& app, Words& words) {
    CLI::App* command = add_command(app, words, "doctor",
                                    "Show which libraries and packages were found", kDoctorExample);
    command->add_flag("--json", words.doctor.json, "Print the result as JSON");
}

void add_completion(CLI::App& app, Words& words) {
    CLI::App* command =
        add_command(app, words, "completion", "Print a shell completion script, or the manual page",
                    kCompletionExample);
    command->add_option("shell", words.shell, "bash, zsh, fish, or man")
        ->required()
        ->check(one_of({"bash", "zsh", "fish", "man"}))
        ->type_name("SHELL");
}

void add_lsp(CLI::App& app, Words& words) {
    CLI::App* command = add_command(
        app, words, "lsp", "Run the language server on standard input and output", kLspExample);
    add_sources(command, words.lsp.settings.schemas, words.lsp.settings.library_path);
    add_config_options(command, words);
    command->add_flag("--stdio", words.stdio, "The default; accepted because some editors pass it");
}

void add_import(CLI::App& app, Words& words) {
    CLI::App* command = add_command(
        app, words, "import", "Convert a PyTorch file to a model or a script", kImportExample);
    command->add_option("file", words.imported.model, "A file of torch.export.save")
        ->required()
        ->type_name("MODEL.pt2");
    command
        ->add_option("-o,--output", words.imported.output,
                     "The file to write: a model, or a script with its weights beside it")
        ->required()
        ->type_name("MODEL.onnx|SCRIPT.py");
    command->add_option("--opset", words.imported.opset, "The opset of ai.onnx; by default 20")
        ->check(version_from(18))
        ->type_name("N");
    add_list(command, "--dim", words.imported.dims, "Name a dimension, for example s77=batch",
             "SYMBOL=NAME");
    command
        ->add_option("--state", words.imported.state,
                     "What to do with buffers that the model changes: outputs, drop or error")
        ->check(one_of({"outputs", "drop", "error"}))
        ->type_name("WORD");
    command->add_flag("--outline", words.imported.outline,
                      "Write modules that repeat as functions of the script");
    add_list(command, "--library", words.imported.libraries,
             "A file with your own operators, as functions below @operator(\"mylib::op\")",
             "FILE.py");
    command
        ->add_option("--target", words.imported.target,
                     "Make a model that this release of ONNX Runtime runs: onnxruntime-1.20")
        ->type_name("RUNTIME");
}

void add_view(CLI::App& app, Words& words) {
    CLI::App* command =
        add_command(app, words, "view", "Show the graph of a script or model", kViewExample);
    command
        ->add_option("file", words.target,
                     "A model, or a file and optionally the name of a script in it")
        ->required()
        ->type_name("FILE.py[:NAME]|MODEL.onnx");
    add_script_options(command, words);
    command->add_option("other", words.other, "A second one, shown beside the first")
        ->type_name("FILE.py[:NAME]|MODEL.onnx");
    command->add_option("--html", words.view.html, "Write the page (- for standard output)")
        ->type_name("OUT.html");
    command->add_option("--port", words.view.port, "The port to serve on; by default a free one")
        ->check(between(1, 65535))
        ->type_name("N");
    command->add_option("--svg", words.view.svg, "Write a picture (- for standard output)")
        ->type_name("OUT.svg");
    command
        ->add_option("--json", words.view.json, "Write the graph as JSON (- for standard output)")
        ->type_name("OUT.json");
    add_list(command, "--run", words.inputs, "Run the model with this input, and show the values",
             "NAME=VALUE|FILE.npz");
    add_random(command, words, words.view.given);
    command->add_flag("--outline", words.view.outline, "Show repeated equal layers as functions");
    command->add_flag("--netron", words.view.netron, "Show a model file in Netron");
    add_list(command, "--input", words.input_types, "Set the type of an input", "NAME=TYPE");
    add_compile_options(command, words, words.view.texts);
    add_sources(command, words.view.schemas, words.view.texts.library_path);
}

void add_row(CLI::App* command, const OptionRow& row) {
    auto add = [&](auto* target) -> CLI::Option* {
        if constexpr (std::is_same_v<decltype(target), bool*>) {
            return command->add_flag(row.names, *target, row.about);
        } else {
            return command->add_option(row.names, *target, row.about)->type_name(row.type_name);
        }
    };
    CLI::Option* option = std::visit(add, row.target);
    if (row.names[0] == '-' && std::holds_alternative<std::vector<std::string>*>(row.target)) {
        option->allow_extra_args(false);
    }
    if (std::holds_alternative<size_t*>(row.target)) {
        option->check(between(static_cast<int64_t>(row.least)));
    }
    option->required(row.is_required);
}

template <const ModelCommand& kCommand>
void add_model_command(CLI::App& app, Words& words) {
    CLI::App* command = add_command(app, words, kCommand.name, kCommand.about, kCommand.example);
    for (const OptionRow& row : kCommand.options(words.models)) {
        add_row(command, row);
    }
}

template <const ModelCommand& kCommand>
Result<Command> read_model_command(Words& words) {
    words.models.quiet = words.quiet;
    return kCommand.read(words.models);
}

struct CommandRow {
    std::string_view name;
    void (*add)(CLI::App& app, Words& words);
    Result<Command> (*read)(Words& words);
};

template <const ModelCommand& kCommand>
CommandRow row_of() {
    return {kCommand.name, add_model_command<kCommand>, read_model_command<kCommand>};
}

const CommandRow kCommands[] = {
    {"build", add_build, build_command},
    {"run", add_run, run_command},
    {"check", add_check, check_command},
    {"dump", add_dump, dump_command},
    row_of<kDecompile>(),
    {"import", add_import, import_command},
    {"view", add_view, view_command},
    row_of<kInfo>(),
    row_of<kDiff>(),
    row_of<kConvert>(),
    row_of<kCut>(),
    row_of<kRename>(),
    row_of<kSetShape>(),
    row_of<kMerge>(),
    row_of<kStrip>(),
    row_of<kWeights>(),
    row_of<kExtract>(),
    row_of<kTestcase>(),
    {"explain", add_explain, explain_command},
    {"doctor", add_doctor, doctor_command},
    {"completion", add_completion, completion_command},
    {"lsp", add_lsp, lsp_command},
};

// --- Mistakes ------------------------------------------------------------------------------------

// The command that the line names, whose help a mistake points to; empty: the program's.
std::string_view name_of(const CLI::App* command) {
    return command->get_parent() == nullptr ? std::string_view() : command->get_name();
}

std::vector<std::string_view> command_names() {
    std::vector<std::string_view> names;
    for (const CommandRow& row : kCommands) {
        names.push_back(row.name);
    }
    return names;
}

Answer unknown_words(const CLI::App* command) {
    std::vector<std::string> left = command->remaining();
    auto end = std::find(left.begin(), left.end(), "--");  // ends the options
    auto found = std::find_if(left.begin(), end, is_option);
    if (found == end && end != left.end() && end + 1 != left.end()) {
        return usage_error(name_of(command),
                           fmt::format("unexpected argument `{}`{}", end[1],
                                       is_option(end[1]) ? ": options stand before `--`" : ""));
    }
    std::string word = found != end ? *found : left.empty() ? std::string() : left[0];
    word = word.substr(0, word.rfind("--", 0) == 0 ? word.find('=') : std::string::npos);
    if (!is_option(word)) {
        return usage_error(name_of(command), fmt::format("unexpected argument `{}`", word));
    }
    if (word == "--input" && command->get_option_no_throw("inputs") != nullptr) {
        return usage_error(name_of(command),
                           "there is no option `--input`: write `NAME=VALUE` alone");
    }
    std::vector<std::string> names;
    for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return unknown_word(name_of(command), "option", word,
                        std::vector<std::string_view>(names.begin(), names.end()));
}

// The first argument or option that has to be given and is not.
std::string words_of_missing(const CLI::App* command) {
    for (const CLI::Option* option : command->get_options()) {
        if (option->get_required() && option->count() == 0) {
            return option->get_positional()
                       ? fmt::format("missing argument: {}", option->get_type_name())
                       : fmt::format("missing option: {} {}", option->get_name(),
                                     option->get_type_name());
        }
    }
    return "";
}

Answer parse_failure(const CLI::App& app, const CLI::ParseError& error) {
    std::vector<CLI::App*> chosen = app.get_subcommands();
    const CLI::App* command = chosen.empty() ? &app : chosen[0];
    std::vector<std::string> left = command->remaining();
    // A misspelt option comes before what is missing for that reason.
    bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                    std::any_of(left.begin(), left.end(), is_option);
    if (is_extra) {
        return unknown_words(command);
    }
    if (chosen.empty()) {
        return usage_error(
            "", fmt::format("a command is needed: {}", fmt::join(command_names(), ", ")));
    }
    bool lacks = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    std::string message = lacks ? words_of_missing(command) : "";
    if (message.empty()) {
        message = error.what();
    }
    if (message.rfind(command->get_name() + ": ", 0) == 0) {
        message = message.substr(command->get_name().size() + 2);
    }
    return usage_error(name_of(command), message);
}

const CommandRow* find_command(std::string_view name) {
    for (const CommandRow& row : kCommands) {
        if (row.name == name) {
            return &row;
        }
    }
    return nullptr;
}

// What the help says of each command.
std::vector<CommandWords> words_of(const CLI::App& app) {
    std::vector<CommandWords> commands;
    for (const CLI::App* command : app.get_subcommands({})) {
        CommandWords& one = commands.emplace_back();
        one.name = command->get_name();
        one.about = command->get_description();
        one.footer = command->get_footer();
        for (const CLI::Option* option : command->get_options()) {
            OptionWords& words = one.options.emplace_back();
            for (const std::string& name : option->get_snames()) {
                words.names.push_back("-" + name);
            }
            for (const std::string& name : option->get_lnames()) {
                words.names.push_back("--" + name);
            }
            words.about = option->get_description();
            words.value = option->get_expected_min() > 0 ? option->get_type_name() : "";
        }
        add_choices(one);
    }
    return commands;
}

Color color_of(std::string_view word) {
    return word == "always" ? Color::kAlways : word == "never" ? Color::kNever : Color::kAuto;
}

}  // namespace

Arguments parse_arguments(int count, const char* const* words_given) {
    Words words;
    CLI::App app{std::string(kAbout), "sardonyx"};
    app.set_version_flag("-V,--version", "sardonyx " SDX_VERSION, "Show the version");
    app.set_help_flag("-h,--help", "Show this help");
    app.footer(
        "Example:\n  sardonyx build gelu.py -o gelu.onnx\n\n`sardonyx COMMAND --help` shows "
        "its options.\n");
    app.require_subcommand(1);
    std::vector<std::string> line = reversed_words(count, words_given);
    const CommandRow* named = line.empty() ? nullptr : find_command(line.back());
    // The options of all commands take longer to make than a small file takes to check.
    bool is_alone = named != nullptr && named->name != "completion";
    for (const CommandRow& row : kCommands) {
        if (!is_alone || &row == named) {
            row.add(app, words);
        }
    }
    if (!line.empty() && line.back()[0] != '-' && named == nullptr) {
        return {unknown_word("", "command", line.back(), command_names())};
    }
    if (std::string_view option = empty_path({words_given, static_cast<size_t>(count)});
        !option.empty()) {
        return {usage_error(named != nullptr ? named->name : "",
                            fmt::format("`{}` needs a path, and is given an empty one", option))};
    }
    try {
        app.parse(std::move(line));
    } catch (const CLI::CallForHelp&) {
        std::vector<CLI::App*> chosen = app.get_subcommands();
        return {Answer{chosen.empty() ? app.help() : chosen[0]->help("sardonyx"), kSuccess}};
    } catch (const CLI::CallForVersion& version) {
        return {Answer{std::string(version.what()) + "\n", kSuccess}};
    } catch (const CLI::ParseError& error) {
        return {parse_failure(app, error)};
    }
    set_color(color_of(words.color));
    CLI::App* chosen = app.get_subcommands()[0];
    Result<Command> command = find_command(chosen->get_name())->read(words);
    if (!command.ok()) {
        return {usage_error(chosen->get_name(), command.error().message)};
    }
    if (!words.shell.empty()) {
        std::vector<CommandWords> commands = words_of(app);
        return {Answer{words.shell == "man" ? manual_page(kAbout, commands)
                                            : completion_script(words.shell, commands),
                       kSuccess}};
    }
    return {*command, words.python};
}

}  // namespace sardonyx::cli
