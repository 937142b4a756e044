#include "driver/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/write_file.h"
#include "driver/model_files.h"
#include "driver/torch_library.h"
#include "proto/proto.h"
#include "torch/convert.h"
#include "torch/guards.h"
#include "torch/library.h"
#include "torch/metadata.h"
#include "torch/names.h"
#include "torch/outline.h"
#include "torch/pt2.h"

namespace sardonyx::driver {
namespace {

constexpr std::string_view kScriptPath = "<torch>";
constexpr std::string_view kWeightsPath = "weights.pt2";  // which nobody opens

// Names that the caller wants, in order.
Result<void> check_wanted(const std::vector<std::string>& names, std::string_view what,
                          size_t count) {
    for (const std::string& name : names) {
        if (!torch::is_free_name(name)) {
            return Error{fmt::format("`{}_names`: `{}` is not a valid name in Python", what, name)};
        }
    }
    if (names.size() > count) {
        return Error{
            fmt::format("`{}_names` has {} names for {} {}s", what, names.size(), count, what)};
    }
    if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
        return Error{fmt::format("`{}_names` has a name twice", what)};
    }
    return {};
}

// The compiler's findings with the lines of the module in place of the script's.
Error explained(const Compilation& c, const torch::Script& script, const torch::OwnOperators& own) {
    std::vector<std::string> texts;
    std::unordered_set<const torch::Node*> seen;
    for (const diagnostics::Diagnostic& finding : c.findings().items()) {
        if (finding.kind->severity != diagnostics::Severity::kError) {
            continue;
        }
        const torch::Node* node = nullptr;
        std::string in_library;  // the place in a file of the user
        for (const diagnostics::Label& label : finding.labels) {
            if (!label.span.valid()) {
                continue;
            }
            std::string_view path = c.sources().path(label.span.file);
            size_t line = c.sources().position(label.span.file, label.span.begin).line;
            if (path == kScriptPath) {
                bool is_first = node == nullptr && line <= script.lines.size();
                node = is_first ? script.lines[line - 1] : node;
            } else if (in_library.empty() && path.substr(0, torch::kRoot.size()) != torch::kRoot) {
                in_library = fmt::format("{}:{}", path, line);
            }
        }
        if (node != nullptr && !seen.insert(node).second) {
            continue;  // what follows from the first mistake of an operator
        }
        std::string text = fmt::format("error[{}]: {}", finding.kind->code, finding.message);
        text += in_library.empty() ? "" : "\n  --> " + in_library;
        if (node != nullptr && node->place != nullptr) {
            std::string where = torch::words_of(*node->place);
            text += where.empty() ? "" : "\n  --> " + where;
            text += node->place->code.empty() ? "" : "\n   | " + node->place->code;
        }
        if (node != nullptr) {
            text += fmt::format("\n   = `{}`", node->target);
            auto declared = own.find(node->target);
            text += declared == own.end()
                        ? ""
                        : fmt::format(", which is `{}` of {}", declared->second.function,
                                      declared->second.path);
        }
        // Other help is for those who write scripts.
        text += finding.help.rfind("opset ", 0) == 0 ? "\n   = help: " + finding.help : "";
        if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
            texts.push_back(std::move(text));
        }
    }
    return Error{texts.empty() ? c.complaint : fmt::format("{}", fmt::join(texts, "\n\n"))};
}

}  // namespace

Result<TorchTarget> torch_target(std::optional<std::string_view> release,
                                 std::optional<int64_t> opset) {
    TorchTarget target{opset.value_or(kTorchOpset), std::nullopt};
    if (target.opset < kOldestTorchOpset) {
        return Error{fmt::format("opset {} is too old for PyTorch's operators: the oldest is {}",
                                 target.opset, kOldestTorchOpset)};
    }
    if (release) {
        SDX_ASSIGN(target.runtime, models::read_runtime(*release));
        SDX_ASSIGN(target.opset, models::opset_for(*target.runtime, opset, kTorchOpset));
    }
    return target;
}

Result<void> rename_ends(torch::Program& program, const TorchOptions& options) {
    const std::vector<std::string>& inputs = options.input_names;
    const std::vector<std::string>& outputs = options.output_names;
    SDX_TRY(check_wanted(inputs, "input", program.inputs.size()));
    SDX_TRY(check_wanted(outputs, "output", program.outputs.size()));
    for (size_t i = 0; i < std::max(program.inputs.size(), inputs.size()); ++i) {
        const std::string& name = inputs.empty()      ? program.inputs[i].name
                                  : i < inputs.size() ? inputs[i]
                                                      : "";
        if (!name.empty() && std::find(outputs.begin(), outputs.end(), name) != outputs.end()) {
            return Error{fmt::format("`output_names`: `{}` is the name of an input", name)};
        }
        if (i < inputs.size()) {
            program.input_names[program.inputs[i].name] = inputs[i];
        }
    }
    program.output_names.resize(std::max(program.output_names.size(), outputs.size()));
    std::copy(outputs.begin(), outputs.end(), program.output_names.begin());
    return {};
}

Result<TorchFile> read_torch_file(const std::string& path, const TorchOptions& options) {
    SDX_ASSIGN(torch::State state, torch::state_of(options.state));
    Result<MappedFile> mapped = map_file(path);
    SDX_TRY(mapped);
    TorchFile file;
    if (mapped->stamp != nullptr) {
        file.files.push_back(mapped->stamp);
    }
    Result<torch::ReadProgram> read = Error{""};
    {
        MappedReading reading(file.files);
        read = torch::read_pt2(mapped->bytes, mapped->owner, options.dims);
    }
    SDX_TRY(check_unchanged(file.files));
    if (!read.ok()) {
        return Error{fmt::format("{}: {}", path, read.error().message)};
    }
    file.size_warning = torch::size_warning(read->guards);
    file.program = std::move(read->program);
    SDX_TRY(rename_ends(file.program, options));
    file.own = options.own;
    SDX_TRY(torch::finish(file.program, std::move(read->problems), state, file.own));
    std::unordered_set<std::string_view> used;
    for (const torch::Weight& one : file.program.weights) {
        used.insert(one.key);
    }
    for (auto& [key, array] : read->arrays) {
        if (used.count(key) != 0) {
            file.arrays.emplace_back(key, std::move(array));
        }
    }
    return file;
}

torch::Script script_of(const TorchFile& file, int64_t opset, const std::string& weights) {
    return torch::write_script(
        file.program,
        {opset, torch::has_weights(file.program) ? weights : std::string(), file.own});
}

LineMetadata metadata_of(const torch::Script& script) {
    LineMetadata lines;
    lines.reserve(script.lines.size());
    for (auto& [line, metadata] : torch::metadata_by_line(script.lines)) {
        lines.emplace(line, std::move(metadata));
    }
    return lines;
}

namespace {

struct TorchModel {
    Compilation compilation;
    size_t weight_bytes = 0;
};

Result<TorchModel> compile_torch_file(const TorchFile& file, const TorchTarget& target) {
    torch::Script script = script_of(file, target.opset, std::string(kWeightsPath));
    Request request;
    request.path = kScriptPath;
    request.text = script.text;
    request.script = file.program.name;
    request.options.opset = target.opset;
    for (const auto& [overload, one] : file.own) {
        request.module_files[one.module] = one.path;
    }
    request.read_weights = [&file](const std::string&) {
        return Result<elaborate::NamedTensors>(file.arrays);
    };
    request.finish.metadata = std::make_shared<const LineMetadata>(metadata_of(script));
    request.finish.runtime = target.runtime;
    TorchModel made;
    made.compilation = compile(request);
    if (made.compilation.has_failed()) {
        return explained(made.compilation, script, file.own);
    }
    for (const auto& [name, array] : file.arrays) {
        made.weight_bytes += array.bytes().size();
    }
    return made;
}

}  // namespace

Result<std::string> torch_model_bytes(const TorchFile& file, const TorchTarget& target) {
    MappedReading reading(file.files);
    SDX_ASSIGN(TorchModel made, compile_torch_file(file, target));
    SDX_ASSIGN(std::string bytes, proto::write_model(*made.compilation.model));
    SDX_TRY(check_unchanged(file.files));
    return bytes;
}

Result<void> write_torch_script(const TorchFile& file, int64_t opset, bool outline,
                                const std::string& path) {
    SDX_TRY(check_imports(path, torch::own_modules(file.program, file.own), file.own));
    std::filesystem::path weights = std::filesystem::path(path).replace_extension(".safetensors");
    // The widest elements first, so that all are aligned.
    weights::NamedTensors arrays = file.arrays;
    std::sort(arrays.begin(), arrays.end(), [](const auto& a, const auto& b) {
        size_t first = byte_size(a.second.element_type(), 1);
        size_t second = byte_size(b.second.element_type(), 1);
        return first != second ? first > second : a.first < b.first;
    });
    torch::Script script = script_of(file, opset, weights.filename().string());
    MappedReading reading(file.files);
    std::string header;
    std::vector<std::string_view> parts;
    std::vector<FileParts> files;
    if (!arrays.empty()) {
        SDX_ASSIGN(header, weights::safetensors_header(arrays));
        parts.emplace_back(header);
        for (const auto& [name, array] : arrays) {
            std::span<const std::byte> bytes = array.bytes();
            parts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        }
        files.push_back({weights.string(), parts});
    }
    std::string outlined = outline ? torch::outline(script) : std::string();
    std::string_view text = outline ? outlined : script.text;
    files.push_back({path, std::span(&text, 1)});
    SDX_TRY(check_unchanged(file.files));
    return write_files(files);
}

Result<size_t> write_torch_model(const TorchFile& file, const TorchTarget& target,
                                 const std::string& path,
                                 std::function<void(size_t done, size_t all)> watch) {
    MappedReading reading(file.files);
    SDX_ASSIGN(TorchModel made, compile_torch_file(file, target));
    constexpr size_t kMostInside = size_t{1} << 30U, kOutside = 1024;
    SDX_TRY(check_unchanged(file.files));
    SaveOptions how;
    how.external_bytes = made.weight_bytes > kMostInside ? kOutside : 0;
    how.watch = std::move(watch);
    return write_model_files(*made.compilation.model, path, how);
}

}  // namespace sardonyx::driver
