#include "proto/as_read.h"

#include <fmt/format.h>

#include <filesystem>

#include "proto/same.h"

namespace sardonyx::proto {

Result<std::unique_ptr<ir::Model>> read_model_file(const std::string& path, FileStamps* stamps,
                                                   std::vector<std::string>* external,
                                                   Source& source,
                                                   std::vector<std::string>* breaches) {
    Result<MappedFile> file = map_file(path);
    SDX_TRY(file);
    FileStamps own{file->stamp}, mapped = own;
    std::erase(own, nullptr);
    MappedReading reading(own);
    ReadOptions options;
    std::filesystem::path folder = std::filesystem::path(path).parent_path();
    options.folder = folder.empty() ? "." : folder.string();
    options.stamps = &mapped;
    options.paths = external;
    options.breaches = breaches;
    Form form = form_of_path(path);
    if (form == Form::kBytes) {
        source = {file->owner, file->bytes};
    }
    Result<std::unique_ptr<ir::Model>> model =
        read_model_text(file->bytes, std::move(file->owner), form, options);
    std::erase(mapped, nullptr);
    SDX_TRY(check_unchanged(mapped));
    if (!model.ok()) {
        return Error{fmt::format("`{}`: {}", path, model.error().message)};
    }
    if (stamps != nullptr) {
        *stamps = std::move(mapped);
    }
    return model;
}

std::string_view bytes_as_read(const ir::Model& model, const Source& source) {
    if (source.bytes.empty() || source.owner == nullptr) {
        return {};
    }
    Result<std::unique_ptr<ir::Model>> first = read_model(source.bytes, source.owner);
    if (!first.ok()) {
        return {};
    }
    Result<bool> same = is_same(model, **first);
    return same.ok() && *same ? std::string_view(reinterpret_cast<const char*>(source.bytes.data()),
                                                 source.bytes.size())
                              : std::string_view();
}

Result<ModelParts> write_parts_as_read(const ir::Model& model, const Source& source, Form form) {
    std::string_view bytes = bytes_as_read(model, source);
    if (bytes.empty()) {
        return write_model_parts(model, nullptr, form);
    }
    ModelParts whole;
    if (form == Form::kBytes) {
        whole.others.push_back({0, bytes});
        return whole;
    }
    SDX_ASSIGN(whole.own, text_of_model(bytes, form));
    return whole;
}

Result<std::string> write_as_read(const ir::Model& model, const Source& source) {
    std::string_view bytes = bytes_as_read(model, source);
    return bytes.empty() ? write_model(model) : Result<std::string>(std::string(bytes));
}

}  // namespace sardonyx::proto
