// sardonyx convert, cut, rename, set-shape, merge, strip and extract: a model to another one.
#include <fmt/format.h>

#include <optional>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/model_file.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "diagnostics/glyphs.h"

namespace sardonyx::cli {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// What has been done, beside what every edit says of its result.
struct EditReport {
    std::vector<std::pair<std::string, std::vector<std::string>>> lists;
    std::vector<std::pair<std::string, size_t>> counts;
};

std::vector<std::string> as_words(const Pairs& pairs) {
    std::vector<std::string> words;
    for (const auto& [from, to] : pairs) {
        words.push_back(fmt::format("{}={}", from, to));
    }
    return words;
}

void report_removed(const models::Removed& removed, EditReport& report) {
    report.counts.emplace_back("removed_nodes", removed.nodes);
    report.counts.emplace_back("removed_initializers", removed.initializers);
    report.counts.emplace_back("removed_functions", removed.functions);
}

struct Edit {
    ir::Model& model;
    const ir::Model* second;

    Result<EditReport> operator()(const std::monostate&) const { return EditReport(); }
    Result<EditReport> operator()(const models::CutRequest& request) const {
        SDX_ASSIGN(models::Cut done, models::cut(model, request));
        EditReport report;
        report.lists = {
            {"inputs", done.inputs}, {"outputs", done.outputs}, {"also_needed", done.also_needed}};
        report_removed(done.removed, report);
        return report;
    }
    Result<EditReport> operator()(const models::Renaming& request) const {
        SDX_TRY(models::rename(model, request));
        return EditReport{{{"values", as_words(request.values)},
                           {"nodes", as_words(request.nodes)},
                           {"dims", as_words(request.dims)},
                           {"functions", as_words(request.functions)}},
                          {}};
    }
    Result<EditReport> operator()(const models::ShapeRequest& request) const {
        SDX_TRY(models::set_shapes(model, request));
        EditReport report;
        report.lists.resize(2);
        report.lists[0].first = "inputs";
        report.lists[1].first = "outputs";
        for (const ir::Value* input : model.graph->inputs) {
            report.lists[0].second.push_back(
                fmt::format("{}={}", input->name, input->type.to_string()));
        }
        for (const ir::Value* output : model.graph->outputs) {
            report.lists[1].second.push_back(
                fmt::format("{}={}", output->name, output->type.to_string()));
        }
        return report;
    }
    Result<EditReport> operator()(const models::MergeRequest& request) const {
        SDX_ASSIGN(models::Merge done, models::merge(model, *second, request));
        EditReport report;
        report.lists = {{"links", as_words(done.links)},
                        {"renamed", as_words(done.renamed)},
                        {"inputs", done.inputs},
                        {"outputs", done.outputs}};
        return report;
    }
    Result<EditReport> operator()(const models::StripRequest& request) const {
        SDX_ASSIGN(models::Stripped done, models::strip(model, request));
        EditReport report;
        report.counts = {{"docs", done.docs},
                         {"metadata", done.metadata},
                         {"types", done.types},
                         {"names", done.names},
                         {"notes", done.notes}};
        report_removed(done.removed, report);
        return report;
    }
    Result<EditReport> operator()(const models::ExtractRequest& request) const {
        SDX_TRY(models::extract_function(model, request));
        return EditReport();
    }
};

size_t count_nodes(const ir::Graph& graph) {
    size_t count = 0;
    for ([[maybe_unused]] const ir::Node& node : graph) {
        ++count;
    }
    return count;
}

std::string report_json(const EditOptions& options, const ir::Model& model,
                        const EditReport& report, size_t bytes) {
    JsonWriter json;
    json.begin_object()
        .member("output", options.output)
        .member("bytes", bytes)
        .member("nodes", count_nodes(*model.graph));
    for (const auto& [name, words] : report.lists) {
        json.key(name).begin_list();
        for (const std::string& word : words) {
            json.value(word);
        }
        json.end_list();
    }
    for (const auto& [name, count] : report.counts) {
        json.member(name, count);
    }
    return json.end_object().take();
}

std::string report_text(const EditOptions& options, const ir::Model& model,
                        const EditReport& report, size_t bytes) {
    size_t nodes = count_nodes(*model.graph);
    std::string text = fmt::format("{}: {} node{}, {} bytes\n", options.output, nodes,
                                   nodes == 1 ? "" : "s", bytes);
    for (const auto& [name, words] : report.lists) {
        if (!words.empty()) {
            text += fmt::format("  {}: {}\n", name,
                                diagnostics::visible(fmt::format("{}", fmt::join(words, ", "))));
        }
    }
    for (const auto& [name, count] : report.counts) {
        text += count != 0 ? fmt::format("  {}: {}\n", name, count) : std::string();
    }
    return text;
}

FormChoice chosen_form(const std::string& name) {
    return name.empty() ? FormChoice() : proto::form_of_name(name);
}

Result<void> edit_file(const EditOptions& options) {
    SDX_ASSIGN(ModelFile file, load_model(options.model, chosen_form(options.from_form)));
    ModelFile second;
    if (!options.second.empty()) {
        SDX_ASSIGN(second, load_model(options.second));
    }
    FileStamps stamps = file.stamps;
    stamps.insert(stamps.end(), second.stamps.begin(), second.stamps.end());
    std::optional<MappedReading> reading(stamps);
    SDX_ASSIGN(EditReport report,
               std::visit(Edit{*file.model, second.model.get()}, options.request));
    SDX_TRY(check_unchanged(stamps));
    SDX_ASSIGN(size_t bytes, save_model(*file.model,
                                        {options.output, options.external_bytes, options.quiet,
                                         chosen_form(options.to_form)},
                                        {&file, &second}));
    reading.reset();
    if (options.json) {
        print(report_json(options, *file.model, report, bytes));
    } else if (!options.quiet && options.output != kStream) {
        print(report_text(options, *file.model, report, bytes));
    }
    return {};
}

std::string_view edit_complaint(const EditOptions& options) {
    if (options.json && options.output == kStream) {
        return "standard output cannot be used for both the model and `--json`: name a file";
    }
    if (options.model == kStream && options.second == kStream) {
        return "standard input holds one model: name a file for the other";
    }
    if (options.output == kStream && options.external_bytes != 0) {
        return "`--external-data` needs a file for the model, not standard output";
    }
    return {};
}

}  // namespace

int run_edit(const EditOptions& options) {
    return status_of(edit_complaint(options), [&options] { return edit_file(options); });
}

}  // namespace sardonyx::cli
