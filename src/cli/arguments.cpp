// The command line. The only file that sees CLI11, which is slow to compile; it throws, and what it
// throws is caught here.

#include "cli/arguments.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "cli/command_words.h"
#include "cli/completion.h"
#include "cli/terminal.h"
#include "diagnostics/pages.h"

namespace sardonyx::cli {

namespace {

constexpr std::string_view kAbout =
    "ONNX Script as a native toolchain: compiles, checks and runs ONNX functions and models\n"
    "written in Python syntax. No Python interpreter is involved.";

constexpr std::string_view kBuildExample =
    "Example:\n"
    "  sardonyx build gelu.py:gelu -o gelu.onnx --input x='FLOAT[2,N]'\n"
    "\n"
    "`-` reads the script from standard input. Without a name after the colon, the script that no "
    "other script of the file uses is built.\n"
    "Nothing is written when there are errors.\n";

constexpr std::string_view kRunExample =
    "Examples:\n"
    "  sardonyx run gelu.onnx x='rand:FLOAT[2,4]'\n"
    "  sardonyx run gelu.py:gelu x=x.npy y=3.5 z='[[1, 2], [3, 4]]' -o results\n"
    "\n"
    "An input is a .npy, .npz or .json file, a Python literal (nan and inf are numbers), "
    "`rand:TYPE`, or\n"
    "`rand` for the type that the model declares; a .npz or .json file without a name gives "
    "several. The same --seed gives the same random numbers.\n";

constexpr std::string_view kCheckExample =
    "Example:\n"
    "  sardonyx check models/ gelu.onnx --warnings-as-errors\n"
    "  sardonyx check gelu.py --fix\n"
    "\n"
    "Folders are searched for .py files; `-` is a script from standard input. A comment `# "
    "sardonyx: ignore[CODE]` silences warnings "
    "on\n"
    "its line. Exit status: 0 clean, 1 findings, 2 wrong usage.\n";

constexpr std::string_view kDumpExample =
    "Example:\n"
    "  sardonyx dump gelu.py:gelu --stage ir\n";

constexpr std::string_view kExplainExample =
    "Example:\n"
    "  sardonyx explain unknown-operator\n";

constexpr std::string_view kCompletionExample =
    "Examples:\n"
    "  eval \"$(sardonyx completion bash)\"\n"
    "  sardonyx completion fish | source\n"
    "  sardonyx completion man | man -l -\n";

constexpr std::string_view kLspExample =
    "Editors start it: docs/editor.md says how each is told to.\n";

constexpr std::string_view kImportExample =
    "Example:\n"
    "  sardonyx import model.pt2 -o model.onnx --dim s77=batch\n"
    "\n"
    "The Python package of sardonyx does it, without PyTorch; nothing in the file is executed.\n";

constexpr std::string_view kDecompileExample =
    "Examples:\n"
    "  sardonyx decompile gelu.onnx -o gelu.py\n"
    "  sardonyx decompile gelu.onnx | less\n"
    "\n"
    "With -o, weights that are too large for literals go to FILE.safetensors beside FILE.py; the "
    "text\n"
    "on standard output takes them from the model's own file. What is written has been compiled "
    "and\n"
    "compared with the model; a model that has no such script is an error.\n";

constexpr std::string_view kViewExample =
    "Examples:\n"
    "  sardonyx view gelu.onnx\n"
    "  sardonyx view gelu.py:gelu --svg gelu.svg\n"
    "\n"
    "Without --html, --svg and --json, the page is served to a browser on this machine, at the "
    "address that\n"
    "is printed, until Ctrl-C; each reload shows the file as it is then.\n"
    "Nothing of a model runs in what is written: names and texts are shown as they are.\n";

// Checks whose description is not repeated in the help.
CLI::Validator one_of(std::vector<std::string> words) {
    return CLI::IsMember(std::move(words)).description("");
}

CLI::Validator version_from(int64_t least) {
    return CLI::Range(least, int64_t{1000}).description("");
}

CLI::App* add_command(CLI::App& app, Words& words, const char* name, const char* about,
                      std::string_view example) {
    CLI::App* command = app.add_subcommand(name, about);
    command->footer(std::string(example));
    command->set_help_flag("-h,--help", "Show this help");
    command->add_option("--color", words.color, "auto, always or never")
        ->check(one_of({"auto", "always", "never"}))
        ->type_name("WHEN");
    command->add_flag("--python", words.python,
                      "Import the file with Python (SARDONYX_PYTHON), and take its values");
    command->add_flag("-q,--quiet", words.quiet, "Print results and findings, and nothing else");
    return command;
}

void add_config_options(CLI::App* command, Words& words) {
    command->add_option("--config", words.config, "The pyproject.toml to take [tool.sardonyx] of")
        ->type_name("FILE");
    command->add_flag("--isolated", words.isolated, "Take no pyproject.toml");
}

// Those of commands that compile scripts.
void add_script_options(CLI::App* command, Words& words) {
    command->add_option("--stdin-filename", words.stdin_name, "What to call standard input")
        ->type_name("NAME");
    add_config_options(command, words);
}

// Each --input or --attribute takes one word.
void add_list(CLI::App* command, const char* name, std::vector<std::string>& words,
              const char* about, const char* type_name) {
    command->add_option(name, words, about)->allow_extra_args(false)->type_name(type_name);
}

void add_schemas(CLI::App* command, std::vector<std::string>& paths) {
    add_list(command, "--schemas", paths, "Operators of other domains (docs/schemas.md)",
             "FILE.toml");
}

void add_compile_options(CLI::App* command, Words& words, driver::OptionTexts& texts) {
    add_list(command, "--attribute", words.attributes, "The value of an attribute parameter",
             "NAME=VALUE");
    command->add_option("--opset", texts.opset, "The opset of ai.onnx, in place of the script's")
        ->check(version_from(1))
        ->type_name("N");
}

void add_build(CLI::App& app, Words& words) {
    CLI::App* command =
        add_command(app, words, "build", "Compile a script to a .onnx file", kBuildExample);
    command->add_option("file", words.target, "The file, and the script in it")
        ->required()
        ->type_name("FILE.py[:NAME]");
    add_script_options(command, words);
    command
        ->add_option("-o,--output", words.build.output, "The file to write; - is standard output")
        ->required()
        ->type_name("OUT.onnx");
    add_list(command, "--input", words.input_types, "The type of an input", "NAME=TYPE");
    add_compile_options(command, words, words.build.texts);
    add_schemas(command, words.build.schemas);
    command
        ->add_option("--ir-version", words.build.texts.ir_version,
                     "The IR version, in place of the lowest that will do")
        ->check(version_from(3))
        ->type_name("N");
    command->add_flag("--function", words.build.as_function, "Write a FunctionProto, not a model");
    command
        ->add_option("--external-data", words.build.external_bytes,
                     "Write initializers of this size and more to a file beside the model")
        ->check(CLI::PositiveNumber)
        ->type_name("BYTES");
}

void add_run(CLI::App& app, Words& words) {
    CLI::App* command = add_command(app, words, "run", "Run a script or a model", kRunExample);
    command->add_option("file", words.target, "A model, or a file and the script in it")
        ->required()
        ->type_name("FILE.py[:NAME]|MODEL.onnx");
    add_script_options(command, words);
    command->add_option("inputs", words.inputs, "The inputs")->type_name("NAME=VALUE");
    add_compile_options(command, words, words.run.texts);
    add_schemas(command, words.run.schemas);
    command->add_flag("--random", words.run.random,
                      "Random numbers for inputs that are not given; sizes without a number are 4");
    command->add_option("--seed", words.run.seed, "The seed of random numbers")->type_name("N");
    command
        ->add_option("-o,--output", words.run.output,
                     "Write the outputs as .npy files to a folder, or to one .npz file")
        ->type_name("DIR|FILE.npz");
    command->add_flag("--json", words.run.json, "Print the outputs as JSON, every element");
    add_list(command, "--dim", words.dims, "The size of a named dimension, for random numbers",
             "NAME=SIZE");
    command->add_option("--threads", words.run.threads, "How many; by default one for each core")
        ->check(CLI::Range(1, 256))
        ->type_name("N");
    command
        ->add_option("--max-steps", words.run.max_steps,
                     "End with an error after so many nodes and iterations")
        ->check(CLI::Range(int64_t{1}, INT64_MAX))
        ->type_name("N");
    command->add_flag("--trace", words.run.trace,
                      "Print every value: its type, range, NaN and infinities, and its line");
    command->add_flag("--plan", words.run.plan,
                      "Print the plan first: the order of the nodes, and the places of values");
    command
        ->add_option(
            "--compare", words.run.compare,
            "Find the first value that onnxruntime, reference (onnx's evaluator in Python) "
            "or another model computes otherwise")
        ->type_name("onnxruntime|reference|MODEL.onnx");
    command
        ->add_option("--atol", words.run.absolute,
                     "With --compare: differences that pass; by default 1e-4 of the tensor's "
                     "largest element for float32, and at least 1e-4")
        ->check(CLI::NonNegativeNumber)
        ->type_name("X");
    command
        ->add_option("--rtol", words.run.relative,
                     "With --compare: the part of each element that passes")
        ->check(CLI::NonNegativeNumber)
        ->type_name("X");
}

void add_check(CLI::App& app, Words& words) {
    CLI::App* command = add_command(app, words, "check",
                                    "Report the mistakes in scripts and models", kCheckExample);
    command->add_option("files", words.check.paths, "Scripts, models, and folders of scripts")
        ->required()
        ->type_name("FILE");
    add_script_options(command, words);
    command->add_option("--format", words.format, "text, json or sarif")
        ->check(one_of({"text", "json", "sarif"}))
        ->type_name("FORMAT");
    command->add_flag("--json", words.json, "The same as --format json");
    command->add_flag("--sarif", words.sarif, "The same as --format sarif");
    add_schemas(command, words.check.schemas);
    command->add_flag("--fix", words.check.fix, "Write the repairs that are safe");
    command->add_flag("--unsafe-fixes", words.check.unsafe_fixes,
                      "With --fix and --diff: repairs that are guesses as well");
    command->add_flag("--diff", words.check.diff, "Show the repairs as a diff, and write nothing");
    command->add_option("--select", words.check.select, "Show no other warnings than these")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->type_name("CODE");
    command->add_option("--ignore", words.check.ignore, "Do not show these warnings")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->type_name("CODE");
    command
        ->add_option("--exclude", words.check.exclude,
                     "Leave out files and folders whose names or paths match")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->type_name("PATTERN");
    command->add_option("--opset", words.check.opset, "The opset of ai.onnx, as `build` takes it")
        ->check(version_from(1))
        ->type_name("N");
    command->add_flag("--types", words.check.types,
                      "Print scripts with the type of each name; findings go to standard error");
    command->add_flag("--warnings-as-errors", words.check.warnings_as_errors,
                      "Let warnings alone fail as well");
}

void add_dump(CLI::App& app, Words& words) {
    CLI::App* command =
        add_command(app, words, "dump", "Show what the compiler sees of a file", kDumpExample);
    command->add_option("file", words.target, "A script file, one script of it, or a model")
        ->required()
        ->type_name("FILE[:NAME]");
    command
        ->add_option("--stage", words.stage, "tokens, tree, ir, or plan: how the evaluator runs it")
        ->check(one_of({"tokens", "tree", "ir", "plan"}))
        ->type_name("STAGE");
    command->add_flag("--types", words.dump.types, "Infer the types that a model does not state");
}

void add_explain(CLI::App& app, Words& words) {
    CLI::App* command =
        add_command(app, words, "explain", "Say what a code of a finding means", kExplainExample);
    command->add_option("code", words.explain.code, "The code; without one, all are listed")
        ->type_name("CODE");
}

void add_completion(CLI::App& app, Words& words) {
    CLI::App* command = add_command(app, words, "completion",
                                    "Print a completion script for a shell, or the manual page",
                                    kCompletionExample);
    command->add_option("shell", words.shell, "bash, zsh, fish, or man")
        ->required()
        ->check(one_of({"bash", "zsh", "fish", "man"}))
        ->type_name("SHELL");
}

void add_lsp(CLI::App& app, Words& words) {
    CLI::App* command = add_command(app, words, "lsp",
                                    "Serve editors: the language server, on standard input and "
                                    "output",
                                    kLspExample);
    add_schemas(command, words.lsp.settings.schemas);
    add_config_options(command, words);
    command->add_flag("--stdio", words.stdio, "The default; some editors say it");
}

void add_decompile(CLI::App& app, Words& words) {
    CLI::App* command =
        add_command(app, words, "decompile", "Write the script of a .onnx file", kDecompileExample);
    command->remove_option(command->get_option("--python"));  // nothing of a model is Python's
    command->add_option("file", words.decompile.model, "The model; - is standard input")
        ->required()
        ->type_name("MODEL.onnx");
    command
        ->add_option("-o,--output", words.decompile.output,
                     "The file to write; - is standard output, as without this option")
        ->type_name("FILE.py");
}

void add_import(CLI::App& app, Words& words) {
    CLI::App* command = add_command(app, words, "import",
                                    "Write the model or script of a PyTorch file", kImportExample);
    command->remove_option(command->get_option("--python"));
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
    add_list(command, "--dim", words.imported.dims, "A name for a dimension, such as s77=batch",
             "SYMBOL=NAME");
    command
        ->add_option("--state", words.imported.state,
                     "What becomes of buffers that the model changes: outputs, drop or error")
        ->check(one_of({"outputs", "drop", "error"}))
        ->type_name("WORD");
}

void add_view(CLI::App& app, Words& words) {
    CLI::App* command =
        add_command(app, words, "view", "Show the graph of a script or a model", kViewExample);
    command->remove_option(command->get_option("--python"));
    command->add_option("file", words.target, "A model, or a file and the script in it")
        ->required()
        ->type_name("FILE.py[:NAME]|MODEL.onnx");
    add_script_options(command, words);
    command->add_option("--html", words.view.html, "Write the page; - is standard output")
        ->type_name("OUT.html");
    command->add_option("--port", words.view.port, "The port of the address; by default a free one")
        ->check(CLI::Range(1, 65535).description(""))
        ->type_name("N");
    command->add_option("--svg", words.view.svg, "Write a picture; - is standard output")
        ->type_name("OUT.svg");
    command
        ->add_option("--json", words.view.json,
                     "Write the graph as data, with the places of its boxes; - is standard output")
        ->type_name("OUT.json");
    add_list(command, "--input", words.input_types, "The type of an input", "NAME=TYPE");
    add_compile_options(command, words, words.view.texts);
    add_schemas(command, words.view.schemas);
}

struct CommandRow {
    std::string_view name;
    void (*add)(CLI::App& app, Words& words);
    Result<Command> (*read)(Words& words);
};

constexpr CommandRow kCommands[] = {
    {"build", add_build, build_command},
    {"run", add_run, run_command},
    {"check", add_check, check_command},
    {"dump", add_dump, dump_command},
    {"decompile", add_decompile, decompile_command},
    {"import", add_import, import_command},
    {"view", add_view, view_command},
    {"explain", add_explain, explain_command},
    {"completion", add_completion, completion_command},
    {"lsp", add_lsp, lsp_command},
};

// --- Mistakes ------------------------------------------------------------------------------------

Answer usage_error(const CLI::App* command, std::string message) {
    bool is_whole = command == nullptr || command->get_parent() == nullptr;
    std::string path = is_whole ? "" : command->get_name() + " ";
    return {fmt::format("{}; see `sardonyx {}--help`", message, path), kUsage};
}

std::string command_names() {
    std::string names;
    for (const CommandRow& row : kCommands) {
        bool is_last = &row == std::end(kCommands) - 1;
        names += fmt::format("{}{}", names.empty() ? "" : is_last ? " or " : ", ", row.name);
    }
    return names;
}

Answer unknown_command(std::string_view word) {
    std::vector<std::string_view> names;
    for (const CommandRow& row : kCommands) {
        names.push_back(row.name);
    }
    std::string_view near = nearest(word, names);
    return usage_error(
        nullptr, near.empty()
                     ? fmt::format("there is no command `{}`", word)
                     : fmt::format("there is no command `{}`; did you mean `{}`?", word, near));
}

bool is_option(const std::string& word) {
    return word.size() > 1 && word[0] == '-';
}

Answer unknown_words(CLI::App* command) {
    std::vector<std::string> left = command->remaining();
    auto found = std::find_if(left.begin(), left.end(), is_option);
    std::string word = found != left.end() ? *found : left.empty() ? std::string() : left[0];
    word = word.substr(0, word.rfind("--", 0) == 0 ? word.find('=') : std::string::npos);
    std::vector<std::string> names;
    for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    std::string_view near =
        nearest(word, std::vector<std::string_view>(names.begin(), names.end()));
    if (!is_option(word)) {
        return usage_error(command, fmt::format("unexpected argument `{}`", word));
    }
    return usage_error(
        command, near.empty()
                     ? fmt::format("there is no option `{}`", word)
                     : fmt::format("there is no option `{}`; did you mean `{}`?", word, near));
}

Answer parse_failure(CLI::App& app, const CLI::ParseError& error) {
    std::vector<CLI::App*> chosen = app.get_subcommands();
    CLI::App* command = chosen.empty() ? &app : chosen[0];
    std::vector<std::string> left = command->remaining();
    // A misspelt option comes before what is missing for that reason.
    bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                    std::any_of(left.begin(), left.end(), is_option);
    if (is_extra) {
        return unknown_words(command);
    }
    if (chosen.empty()) {
        return usage_error(nullptr, "a command is needed: " + command_names());
    }
    std::string message = error.what();
    if (message.rfind(command->get_name() + ": ", 0) == 0) {
        message = message.substr(command->get_name().size() + 2);
    }
    return usage_error(command, message);
}

const CommandRow* find_command(std::string_view name) {
    for (const CommandRow& row : kCommands) {
        if (row.name == name) {
            return &row;
        }
    }
    return nullptr;
}

// Of options that take words of a list.
struct ChoiceRow {
    std::string_view option;  // or the value of an argument
    std::vector<std::string> choices;
};

void add_choices(CommandWords& command) {
    const ChoiceRow rows[] = {{"--color", {"auto", "always", "never"}},
                              {"--format", {"text", "json", "sarif"}},
                              {"--stage", {"tokens", "tree", "ir", "plan"}},
                              {"SHELL", {"bash", "zsh", "fish", "man"}}};
    for (OptionWords& option : command.options) {
        for (const ChoiceRow& row : rows) {
            bool is_it = option.value == row.option ||
                         std::find(option.names.begin(), option.names.end(), row.option) !=
                             option.names.end();
            if (is_it) {
                option.choices = row.choices;
            }
        }
        if (option.value == "CODE") {
            for (const diagnostics::Page& page : diagnostics::pages()) {
                option.choices.emplace_back(page.code);
            }
        }
    }
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

bool Target::is_script() const {
    if (is_stdin()) {
        return true;
    }
    return path.size() > 3 && path.compare(path.size() - 3, 3, ".py") == 0;
}

void command_first(int count, char** words) {
    int at = 1;
    while (at < count && is_option(words[at])) {
        std::string_view word = words[at];
        if (word == "-h" || word == "--help" || word == "--version") {
            return;
        }
        at += word == "--color" ? 2 : 1;
    }
    if (at < count) {
        std::rotate(words + 1, words + at, words + at + 1);
    }
}

Arguments parse_arguments(int count, const char* const* words_given) {
    Words words;
    CLI::App app{std::string(kAbout), "sardonyx"};
    app.set_version_flag("--version", "sardonyx " SDX_VERSION, "Show the version");
    app.set_help_flag("-h,--help", "Show this help");
    app.footer(
        "Example:\n  sardonyx build gelu.py -o gelu.onnx\n\n`sardonyx COMMAND --help` tells "
        "more.\n");
    app.require_subcommand(1);
    for (const CommandRow& row : kCommands) {
        row.add(app, words);
    }
    if (count > 1 && words_given[1][0] != '-' && find_command(words_given[1]) == nullptr) {
        return {unknown_command(words_given[1])};
    }
    try {
        app.parse(count, words_given);
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
        return {usage_error(chosen, command.error().message)};
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
