// sardonyx build: a script to a .onnx file.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/compilation.h"
#include "cli/terminal.h"
#include "proto/proto.h"

namespace sardonyx::cli {
namespace {

constexpr std::string_view kStandardOutput = "-";

std::string summary(const BuildOptions& options, std::string_view name, const ir::Model& model,
                    size_t size) {
    const ir::Graph& graph = options.as_function ? *model.functions[0]->body : *model.graph;
    size_t nodes = 0;
    for (const ir::Node& node : graph) {
        nodes += node.graph() == &graph ? 1 : 0;
    }
    return fmt::format("{}: `{}` as a {} of {} node{}, {} bytes\n", options.output, name,
                       options.as_function ? "function" : "model", nodes, nodes == 1 ? "" : "s",
                       size);
}

// What is wrong with the options together; empty: nothing.
std::string_view complaint(const BuildOptions& options) {
    if (!options.target.is_script()) {
        return "`build` takes a script file, whose name ends in `.py`";
    }
    if (options.as_function && !options.texts.input_types.empty()) {
        return "a function takes inputs of any type: use `--input` without `--function`";
    }
    if (options.as_function && options.external_bytes != 0) {
        return "a function has no initializers: use `--external-data` without `--function`";
    }
    if (options.as_function && !options.texts.attributes.empty()) {
        return "a function keeps its attribute parameters: use `--attribute` without `--function`";
    }
    if (options.output == kStandardOutput && options.external_bytes != 0) {
        return "standard output holds the model alone: name a file for `--external-data`";
    }
    return {};
}

std::string data_path(const std::string& output) {
    return output + ".data";
}

// The file of the compilation that a file to write is, by this or another path to it, or by
// another of its names; empty: none.
std::string file_read(const driver::Compilation& compiled, const std::string& output) {
    for (const std::string& path : compiled.files()) {
        for (const std::string& one : {path, data_path(path)}) {  // the weights of a model
            std::error_code failed;
            if (std::filesystem::equivalent(one, output, failed) && !failed) {
                return one;
            }
        }
    }
    return {};
}

// Why the output must not be written; empty: it may.
std::string refusal(const BuildOptions& options, const driver::Compilation& compiled) {
    std::vector<std::string> outputs{options.output};
    if (options.external_bytes != 0) {
        outputs.push_back(data_path(options.output));
    }
    for (const std::string& output : outputs) {
        if (std::string file = file_read(compiled, output); !file.empty()) {
            return fmt::format(
                "`{}` would overwrite `{}`, which the script is made from; write "
                "another file",
                output, file);
        }
    }
    return {};
}

// The bytes in order, as 16 digits. Two contents have one name with a chance of 1 in 2^64.
std::string name_of_content(std::span<const std::string_view> parts) {
    constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
    uint64_t hash = 0;
    auto add = [&](uint64_t word) {
        hash = (hash ^ word) * kFactor;
        hash ^= hash >> 29;
    };
    for (std::string_view part : parts) {
        size_t whole = part.size() / sizeof(uint64_t) * sizeof(uint64_t);
        for (size_t i = 0; i < whole; i += sizeof(uint64_t)) {
            uint64_t word = 0;
            std::memcpy(&word, part.data() + i, sizeof word);
            add(word);
        }
        uint64_t rest = 0;
        if (part.size() > whole) {
            std::memcpy(&rest, part.data() + whole, part.size() - whole);
        }
        add(rest);
        add(part.size());
    }
    return fmt::format("{:016x}", hash);
}

// What names of data for the model begin with: its own, or what is short enough of it.
std::string stem_of_data(const std::string& name) {
    constexpr size_t kLongest = 200;  // of 255 that file systems take
    if (name.size() <= kLongest) {
        return name + ".";
    }
    size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) {
        --end;  // within a character of UTF-8
    }
    std::string_view whole = name;
    return name.substr(0, end) + "." + name_of_content({&whole, 1}) + ".";
}

// Removes MODEL.<digits>.data of earlier builds of the model, which refers to `current` now.
void remove_old_data(const std::filesystem::path& model, const std::string& current) {
    std::string begin = stem_of_data(model.filename().string());
    std::error_code error;
    auto folder = model.parent_path().empty() ? std::filesystem::path(".") : model.parent_path();
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        std::string name = entry.path().filename().string();
        bool is_data = name.size() == current.size() && name != current &&
                       name.compare(0, begin.size(), begin) == 0 &&
                       name.compare(name.size() - 5, 5, ".data") == 0 &&
                       name.find_first_not_of("0123456789abcdef", begin.size()) == name.size() - 5;
        if (is_data) {
            std::filesystem::remove(entry.path(), error);
        }
    }
}

// Writes the model, and its large initializers beside it; their size in bytes. Data have a name of
// their content, so that a model never finds those of another: the old model and its data are whole
// until the new model takes its name, whatever happens on the way.
Result<size_t> write_output(const BuildOptions& options, const ir::Model& model) {
    proto::External external;
    external.smallest = options.external_bytes;
    std::filesystem::path path(options.output);
    std::string stem = stem_of_data(path.filename().string());
    external.location = stem + name_of_content({}) + ".data";
    auto write = [&] {
        return options.as_function ? proto::write_function(model, *model.functions[0])
                                   : proto::write_model(model, &external);
    };
    Result<std::string> bytes = write();
    SDX_TRY(bytes);
    if (external.parts.empty()) {
        if (options.output == kStandardOutput) {
            print(*bytes);
        } else {
            SDX_TRY(write_file(options.output, *bytes));
        }
        return bytes->size();
    }
    size_t size = 0;
    for (std::string_view part : external.parts) {
        size += part.size();
    }
    external.location = stem + name_of_content(external.parts) + ".data";
    external.parts.clear();
    bytes = write();
    SDX_TRY(bytes);
    std::string_view text = *bytes;
    std::string data = (path.parent_path() / external.location).string();
    FileParts files[] = {{data, external.parts}, {options.output, {&text, 1}}};
    SDX_TRY(write_files(files));
    remove_old_data(path, external.location);
    return size + text.size();
}

}  // namespace

int run_build(const BuildOptions& options) {
    if (std::string_view words = complaint(options); !words.empty()) {
        print_error(words);
        return kUsage;
    }
    std::optional<driver::Request> request =
        request_of(options.target, options.texts, options.schemas);
    if (!request) {
        return kUsage;
    }
    request->form = options.as_function ? driver::Form::kFunction : driver::Form::kModel;
    driver::Compilation compiled = driver::compile(*request);
    print_findings(compiled.sources(), compiled.findings());
    if (compiled.has_failed()) {
        return failure_of(compiled);
    }
    if (std::string words = refusal(options, compiled); !words.empty()) {
        print_error(words);
        return kUsage;
    }
    const ir::Model* model = compiled.model.get();
    Result<size_t> size = write_output(options, *model);
    if (!size.ok()) {
        print_error(size.error().message);
        return kFailure;
    }
    if (options.output != kStandardOutput) {
        print(summary(options, compiled.script->name, *model, *size));
    }
    return kSuccess;
}

}  // namespace sardonyx::cli
