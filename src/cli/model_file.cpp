#include "cli/model_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/overwriting.h"
#include "cli/terminal.h"
#include "driver/model_files.h"
#include "driver/progress_bar.h"
#include "proto/proto.h"

namespace sardonyx::cli {
namespace {

Result<size_t> print_model(const ir::Model& model, proto::Form form, const proto::Source& source) {
    SDX_ASSIGN(proto::ModelParts written, proto::write_parts_as_read(model, source, form));
    for (std::string_view part : written.parts()) {
        print(part);
    }
    return written.size();
}

}  // namespace

Result<ModelFile> load_model(const std::string& path, FormChoice form) {
    ModelFile file;
    bool is_stream = path == kStream;
    if (is_stream || form.has_value()) {
        SDX_ASSIGN(MappedFile bytes, map_file(is_stream ? "/dev/stdin" : path));
        auto files = std::make_shared<proto::ExternalFiles>();
        proto::ReadOptions options;
        options.files = files.get();
        options.source = &file.source;
        if (!is_stream) {
            std::filesystem::path folder = std::filesystem::path(path).parent_path();
            options.folder = folder.empty() ? "." : folder.string();
            options.stamps = &file.stamps;
            options.paths = &file.external;
        }
        proto::Form chosen = form.value_or(proto::Form::kBytes);
        Result<std::unique_ptr<ir::Model>> model =
            proto::read_model_text(bytes.bytes, bytes.owner, chosen, options);
        if (!model.ok()) {
            return Error{fmt::format("{}: {}", is_stream ? "standard input" : "`" + path + "`",
                                     model.error().message)};
        }
        if (bytes.stamp != nullptr) {
            file.stamps.push_back(bytes.stamp);
        }
        file.model = std::move(*model);
        file.source.external = std::move(files);
        return file;
    }
    Result<std::unique_ptr<ir::Model>> model =
        proto::read_model_file(path, {&file.stamps, &file.external, nullptr, &file.source});
    SDX_TRY(model);
    file.model = std::move(*model);
    return file;
}

Result<size_t> save_model(const ir::Model& model, const SaveRequest& request,
                          const std::vector<const ModelFile*>& sources) {
    driver::SaveOptions how;
    how.form = request.form;
    how.source = sources.empty() ? proto::Source() : sources[0]->source;
    if (request.path == kStream) {
        return print_model(model, request.form.value_or(proto::Form::kBytes), how.source);
    }
    bool has_external = false;
    for (const ModelFile* source : sources) {
        for (const std::string& external : source->external) {
            if (is_same_file(external, request.path)) {
                return Error{
                    fmt::format("`{}` holds weights of the model that is read: write "
                                "another file",
                                request.path)};
            }
        }
        has_external = has_external || !source->external.empty();
        how.files.insert(how.files.end(), source->stamps.begin(), source->stamps.end());
    }
    if (request.external_bytes != 0) {
        how.external_bytes = request.external_bytes;
    } else if (has_external && !how.source.has_external()) {
        how.external_bytes = driver::kExternalBytes;
    }
    driver::SavingBar bar(request.is_quiet);
    how.watch = bar.watch();
    SDX_ASSIGN(size_t size, driver::write_model_files(model, request.path, how));
    ignore_interrupts();
    return size;
}

}  // namespace sardonyx::cli
