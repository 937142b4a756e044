// From the words of the command line to a command: targets, assignments, and the settings of the
// project where the words say nothing.

#include "cli/command_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/nearest.h"
#include "cli/inputs.h"
#include "cli/standard_input.h"
#include "cli/usage.h"
#include "driver/settings.h"
#include "lint/lint.h"

namespace sardonyx::cli {
namespace {

constexpr std::string_view kStreamPath = "/dev/stdin";

// The streams by their paths are what `-` is: no summary is printed among the bytes of a model, and
// text from a pipe is a script.
std::string with_stream_as_dash(const std::string& word) {
    for (std::string_view path : {kStreamPath, std::string_view("/dev/stdout")}) {
        size_t start = word.size() - std::min(word.size(), path.size());
        bool is_value = start > 2 && word.starts_with("--") && word[start - 1] == '=';
        if (word.substr(start) == path && (start == 0 || is_value)) {
            return word.substr(0, start) + std::string(kStream);
        }
    }
    return word;
}

}  // namespace

std::vector<std::string> reversed_words(int count, const char* const* words) {
    std::vector<std::string> line(words + std::min(count, 1), words + count);
    if (!line.empty() && line[0] == "version") {
        line[0] = "--version";
    } else if (!line.empty() && line[0] == "help") {
        line.erase(line.begin());
        line.emplace_back("--help");
    }
    for (std::string& word : line) {
        word = word.starts_with("-:") ? std::string(kStreamPath) + word.substr(1)
                                      : with_stream_as_dash(word);
    }
    std::reverse(line.begin(), line.end());
    return line;
}

Target split_target(const std::string& word) {
    size_t colon = word.rfind(':');
    std::error_code failed;
    Target target{word};
    if (colon != std::string::npos && colon != 0 && !std::filesystem::exists(word, failed)) {
        target = {word.substr(0, colon), word.substr(colon + 1)};
    }
    target.path = target.path == kStreamPath ? std::string(kStream) : target.path;
    target.holds_model = target.is_stdin() && standard_input_is_model();
    return target;
}

Result<std::vector<driver::Assignment>> read_assignments(const std::vector<std::string>& words,
                                                         std::string_view example) {
    std::vector<driver::Assignment> assignments;
    for (const std::string& word : words) {
        size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0) {
            return Error{fmt::format("`{}` has no name; write it as `{}`", word, example)};
        }
        std::string name = word.substr(0, equals);
        for (const driver::Assignment& before : assignments) {
            if (before.first == name) {
                return Error{fmt::format("`{}` is given twice", name)};
            }
        }
        assignments.emplace_back(std::move(name), word.substr(equals + 1));
    }
    return assignments;
}

namespace {

// --- Words to commands ---------------------------------------------------------------------------

// A code that --select or --ignore may name.
Result<void> check_code(const std::string& code) {
    std::vector<std::string_view> codes;
    for (const diagnostics::Kind* kind : lint::kinds()) {
        if (kind->code == code && kind->severity == diagnostics::Severity::kError) {
            return Error{fmt::format("`{}` is an error, which is always shown", code)};
        }
        if (kind->code == code) {
            return {};
        }
        if (kind->severity != diagnostics::Severity::kError) {
            codes.push_back(kind->code);
        }
    }
    std::string_view near = nearest(code, codes);
    return Error{near.empty()
                     ? fmt::format("there is no warning `{}`", code)
                     : fmt::format("there is no warning `{}`; did you mean `{}`?", code, near)};
}

constexpr std::string_view kAttributeExample = "--attribute k=3";

Target read_target(const Words& words) {
    Target target = split_target(words.target);
    target.stdin_name = words.stdin_name;
    return target;
}

Result<void> take_settings(const Words& words, driver::Settings& settings) {
    if (words.isolated) {
        return {};
    }
    Result<driver::Settings> found =
        words.config.empty() ? driver::find_settings() : driver::read_settings(words.config);
    SDX_TRY(found);
    settings = std::move(*found);
    return {};
}

// What the command line says comes first.
void use(const driver::Settings& settings, driver::OptionTexts& texts,
         std::vector<std::string>& schemas) {
    texts.opset = texts.opset != 0 ? texts.opset : settings.opset;
    schemas = schemas.empty() ? settings.schemas : schemas;
    texts.library_path = texts.library_path.empty() ? settings.library_path : texts.library_path;
}

// `example`: of an input.
Result<void> take_inputs(Words& words, std::string_view example, InputOptions& options) {
    auto is_file = std::stable_partition(words.inputs.begin(), words.inputs.end(), is_input_file);
    options.files.assign(words.inputs.begin(), is_file);
    words.inputs.erase(words.inputs.begin(), is_file);
    auto inputs = read_assignments(words.inputs, example);
    SDX_TRY(inputs);
    auto dims = read_assignments(words.dims, "--dim N=640");
    SDX_TRY(dims);
    options.inputs = std::move(*inputs);
    options.sizes = std::move(*dims);
    return {};
}

}  // namespace

bool Target::is_script() const {
    if (is_stdin()) {
        return !holds_model;
    }
    return path.size() > 3 && path.compare(path.size() - 3, 3, ".py") == 0;
}

Result<Command> build_command(Words& words) {
    auto types = read_assignments(words.input_types, "--input X='FLOAT[2,3]'");
    SDX_TRY(types);
    auto attributes = read_assignments(words.attributes, kAttributeExample);
    SDX_TRY(attributes);
    driver::Settings settings;
    SDX_TRY(take_settings(words, settings));
    words.build.target = read_target(words);
    words.build.quiet = words.quiet;
    use(settings, words.build.texts, words.build.schemas);
    words.build.texts.input_types = std::move(*types);
    words.build.texts.attributes = std::move(*attributes);
    return Command(words.build);
}

Result<Command> run_command(Words& words) {
    auto attributes = read_assignments(words.attributes, kAttributeExample);
    SDX_TRY(attributes);
    SDX_TRY(take_inputs(words, "X=3.5", words.run));
    driver::Settings settings;
    SDX_TRY(take_settings(words, settings));
    words.run.target = read_target(words);
    if (words.run.target.is_script()) {
        use(settings, words.run.texts, words.run.schemas);
    }
    words.run.texts.attributes = std::move(*attributes);
    return Command(words.run);
}

Result<Command> check_command(Words& words) {
    std::string format = words.json ? "json" : words.sarif ? "sarif" : words.format;
    words.check.format = format == "json"    ? CheckFormat::kJson
                         : format == "sarif" ? CheckFormat::kSarif
                                             : CheckFormat::kText;
    CheckOptions& check = words.check;
    driver::Settings settings;
    SDX_TRY(take_settings(words, settings));
    check.select = check.select.empty() ? settings.select : check.select;
    check.ignore = check.ignore.empty() ? settings.ignore : check.ignore;
    check.exclude = check.exclude.empty() ? settings.exclude : check.exclude;
    check.schemas = check.schemas.empty() ? settings.schemas : check.schemas;
    check.library_path = check.library_path.empty() ? settings.library_path : check.library_path;
    check.opset = check.opset != 0 ? check.opset : settings.opset;
    check.quiet = words.quiet;
    check.stdin_name = words.stdin_name;
    for (const std::vector<std::string>* codes : {&words.check.select, &words.check.ignore}) {
        for (const std::string& code : *codes) {
            SDX_TRY(check_code(code));
        }
    }
    return Command(words.check);
}

Result<Command> dump_command(Words& words) {
    words.dump.target = read_target(words);
    words.dump.stage = words.stage == "tokens" ? DumpStage::kTokens
                       : words.stage == "tree" ? DumpStage::kTree
                       : words.stage == "plan" ? DumpStage::kPlan
                                               : DumpStage::kIr;
    return Command(words.dump);
}

Result<Command> explain_command(Words& words) {
    return Command(words.explain);
}

Result<Command> doctor_command(Words& words) {
    return Command(words.doctor);
}

Result<Command> completion_command(Words& words) {
    return Command(Answer{words.shell, kSuccess});
}

Result<Command> lsp_command(Words& words) {
    driver::Settings settings;
    SDX_TRY(take_settings(words, settings));
    ide::ServerSettings& own = words.lsp.settings;
    own.start = {own.schemas.empty() ? settings.schemas : own.schemas, settings.select,
                 settings.ignore, settings.opset,
                 own.library_path.empty() ? settings.library_path : own.library_path};
    own.looks_around = words.config.empty() && !words.isolated;
    return Command(words.lsp);
}

Result<Command> import_command(Words& words) {
    words.imported.quiet = words.quiet;
    return Command(words.imported);
}

Result<Command> view_command(Words& words) {
    auto types = read_assignments(words.input_types, "--input X='FLOAT[2,3]'");
    SDX_TRY(types);
    auto attributes = read_assignments(words.attributes, kAttributeExample);
    SDX_TRY(attributes);
    SDX_TRY(take_inputs(words, "--run X=3.5", words.view.given));
    words.view.given.option = "--run ";
    words.view.target = read_target(words);
    if (words.other) {
        words.view.other = split_target(*words.other);
    }
    if (words.view.has_script()) {
        driver::Settings settings;
        SDX_TRY(take_settings(words, settings));
        use(settings, words.view.texts, words.view.schemas);
    }
    words.view.texts.input_types = std::move(*types);
    words.view.texts.attributes = std::move(*attributes);
    return Command(words.view);
}

void command_first(int count, char** words) {
    int at = 1;
    while (at < count && is_option(words[at])) {
        std::string_view word = words[at];
        if (word == "-h" || word == "--help" || word == "-V" || word == "--version") {
            return;
        }
        at += word == "--color" ? 2 : 1;
    }
    if (at < count) {
        std::rotate(words + 1, words + at, words + at + 1);
    }
}

// An empty word is what a shell gives for a variable that is not set: nothing would be written.
std::string_view empty_path(std::span<const char* const> words) {
    for (size_t i = 1; i < words.size(); ++i) {
        bool is_empty = i + 1 < words.size() && std::string_view(words[i + 1]).empty();
        for (std::string_view name : {"-o", "--output", "--html", "--svg", "--extract"}) {
            std::string_view word = words[i];
            bool is_assigned = word.size() == name.size() + 1 && word.back() == '=';
            if (word.starts_with(name) && (word == name ? is_empty : is_assigned)) {
                return name;
            }
        }
    }
    return {};
}

}  // namespace sardonyx::cli
