#include "proto/as_read.h"

#include "proto/same.h"

namespace sardonyx::proto {

std::string_view bytes_as_read(const ir::Model& model, const Source& source,
                               ExternalParts external) {
    if (source.bytes.empty() || source.owner == nullptr) {
        return {};
    }
    ExternalFiles files = external == ExternalParts::kSeenTo && source.has_external()
                              ? *source.external
                              : ExternalFiles();
    ReadOptions options;
    options.files = &files;
    Result<std::unique_ptr<ir::Model>> first = read_model(source.bytes, source.owner, options);
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
