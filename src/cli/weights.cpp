// sardonyx weights: the stored tensors of a model.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/json.h"
#include "base/write_file.h"
#include "cli/commands.h"
#include "cli/model_file.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "driver/progress_bar.h"
#include "models/weight_table.h"
#include "weights/weights.h"

namespace sardonyx::cli {
namespace {

std::string_view weights_complaint(const WeightsOptions& options) {
    if (options.replace.empty() != options.output.empty()) {
        return "`--replace` needs `-o`, and `-o` needs `--replace`";
    }
    if (!options.replace.empty() && (!options.extract.empty() || options.statistics)) {
        return "`--replace` writes a model: use it without `--extract` and `--statistics`";
    }
    if (options.extract == kStream && options.json) {
        return "standard output cannot be used for both the weights and `--json`: name a file";
    }
    if (options.output == kStream && options.json) {
        return "standard output cannot be used for both the model and `--json`: name a file";
    }
    return {};
}

Result<void> extract_weights(const ModelFile& file, const WeightsOptions& options) {
    for (const std::string& external : file.external) {
        std::error_code failed;
        if (std::filesystem::equivalent(external, options.extract, failed) && !failed) {
            return Error{
                fmt::format("`{}` holds weights of the model that is read: write another file",
                            options.extract)};
        }
    }
    SDX_ASSIGN(weights::NamedTensors tensors, models::named_weights(*file.model, options.names));
    SDX_ASSIGN(std::string header, weights::safetensors_header(tensors));
    std::vector<std::string_view> parts{header};
    for (const auto& [name, tensor] : tensors) {
        parts.emplace_back(reinterpret_cast<const char*>(tensor.stored_bytes().data()),
                           tensor.stored_bytes().size());
    }
    if (options.extract == kStream) {
        SDX_TRY(check_unchanged(file.stamps));
        for (std::string_view part : parts) {
            print(part);
        }
        return {};
    }
    size_t size = 0;
    for (std::string_view part : parts) {
        size += part.size();
    }
    driver::SavingBar bar(options.quiet);
    size_t done = 0;
    NewFiles files({file.stamps, [&](size_t more) { bar.watch()(done += more, size); }});
    SDX_TRY(files.write(options.extract, parts));
    SDX_TRY(check_unchanged(file.stamps));
    SDX_TRY(files.put_in_place());
    if (options.json) {
        JsonWriter json;
        json.begin_object().member("output", options.extract);
        json.member("bytes", size).member("tensors", tensors.size());
        print(json.end_object().take());
    } else if (!options.quiet) {
        print(fmt::format("{}: {} tensor{}\n", options.extract, tensors.size(),
                          tensors.size() == 1 ? "" : "s"));
    }
    return {};
}

Result<void> replace_weights(ModelFile& file, const WeightsOptions& options) {
    SDX_ASSIGN(weights::NamedTensors tensors, weights::read_weights(options.replace));
    if (!options.names.empty()) {
        SDX_TRY(models::named_weights(*file.model, options.names));
        std::erase_if(tensors, [&](const auto& one) {
            return std::find(options.names.begin(), options.names.end(), one.first) ==
                   options.names.end();
        });
    }
    SDX_ASSIGN(std::vector<std::string> changed, models::replace_weights(*file.model, tensors));
    SDX_TRY(check_unchanged(file.stamps));
    std::error_code failed;
    if (std::filesystem::equivalent(options.replace, options.output, failed) && !failed) {
        return Error{fmt::format("`{}` holds the weights that are read: write another file",
                                 options.output)};
    }
    SDX_ASSIGN(
        size_t bytes,
        save_model(*file.model, {options.output, options.external_bytes, options.quiet}, {&file}));
    if (options.json) {
        print(models::changes_json(changed, bytes));
    } else if (!options.quiet && options.output != kStream) {
        print(fmt::format("{}: {} of {} weights changed, {} bytes\n", options.output,
                          changed.size(), tensors.size(), bytes));
    }
    return {};
}

Result<void> work(const WeightsOptions& options) {
    SDX_ASSIGN(ModelFile file, load_model(options.model));
    std::optional<MappedReading> reading(file.stamps);
    if (!options.replace.empty()) {
        return replace_weights(file, options);
    }
    if (!options.extract.empty()) {
        return extract_weights(file, options);
    }
    SDX_ASSIGN(std::vector<models::WeightRow> rows,
               models::list_weights(*file.model, options.names, options.statistics));
    SDX_TRY(check_unchanged(file.stamps));
    print(options.json ? models::weights_json(rows) : models::weights_text(rows));
    return {};
}

}  // namespace

int run_weights(const WeightsOptions& options) {
    return status_of(weights_complaint(options), [&options] { return work(options); });
}

}  // namespace sardonyx::cli
