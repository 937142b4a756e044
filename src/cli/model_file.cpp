#include "cli/model_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/overwriting.h"
#include "cli/terminal.h"
#include "driver/model_files.h"
#include "proto/proto.h"

namespace sardonyx::cli {
namespace {

constexpr std::string_view kStream = "-";
constexpr size_t kExternal = 1024;

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
        proto::ReadOptions options;
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
        if (chosen == proto::Form::kBytes) {
            file.source = {bytes.owner, bytes.bytes};
        }
        return file;
    }
    Result<std::unique_ptr<ir::Model>> model =
        proto::read_model_file(path, {&file.stamps, &file.external, nullptr, &file.source});
    SDX_TRY(model);
    file.model = std::move(*model);
    return file;
}

Result<size_t> save_model(const ir::Model& model, const std::string& path, size_t external_bytes,
                          const std::vector<const ModelFile*>& sources, FormChoice form) {
    proto::Source first = sources.empty() ? proto::Source() : sources[0]->source;
    if (path == kStream) {
        return print_model(model, form.value_or(proto::Form::kBytes), first);
    }
    size_t smallest = external_bytes;
    for (const ModelFile* source : sources) {
        for (const std::string& external : source->external) {
            if (is_same_file(external, path)) {
                return Error{
                    fmt::format("`{}` holds weights of the model that is read: write "
                                "another file",
                                path)};
            }
        }
        smallest = smallest == 0 && !source->external.empty() ? kExternal : smallest;
    }
    driver::SaveOptions how;
    how.external_bytes = smallest;
    how.form = form;
    how.source = std::move(first);
    return driver::write_model_files(model, path, how);
}

}  // namespace sardonyx::cli
