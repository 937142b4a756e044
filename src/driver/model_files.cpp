#include "driver/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/content_hash.h"
#include "base/file.h"
#include "proto/proto.h"
#include "weights/weights.h"

namespace sardonyx::driver {
namespace {

std::string name_of_content(std::span<const std::string_view> parts) {
    return fmt::format("{:016x}", content_hash(parts));
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

constexpr std::string_view kEndings[] = {".data", ".safetensors"};

bool is_name_of_data(std::string_view name, std::string_view stem) {
    constexpr size_t kDigits = 16;
    for (std::string_view ending : kEndings) {
        bool fits = name.size() == stem.size() + kDigits + ending.size() &&
                    name.substr(0, stem.size()) == stem &&
                    name.substr(name.size() - ending.size()) == ending;
        if (fits && name.find_first_not_of("0123456789abcdef", stem.size()) ==
                        name.size() - ending.size()) {
            return true;
        }
    }
    return false;
}

// Removes the data of earlier builds of the model, which refers to `current` now.
void remove_old_data(const std::filesystem::path& model, const std::vector<std::string>& current) {
    std::string stem = stem_of_data(model.filename().string());
    std::error_code error;
    auto folder = model.parent_path().empty() ? std::filesystem::path(".") : model.parent_path();
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        std::string name = entry.path().filename().string();
        bool is_current = std::find(current.begin(), current.end(), name) != current.end();
        if (!is_current && is_name_of_data(name, stem)) {
            std::filesystem::remove(entry.path(), error);
        }
    }
}

Result<std::string> safetensors_header(std::span<const ir::Value* const> initializers) {
    weights::NamedTensors tensors;
    for (const ir::Value* initializer : initializers) {
        tensors.emplace_back(initializer->name, *initializer->constant);
    }
    return weights::safetensors_header(tensors);
}

}  // namespace

Result<size_t> write_model_files(const ir::Model& model, const std::string& path,
                                 const SaveOptions& options) {
    std::filesystem::path target(path);
    std::string stem = stem_of_data(target.filename().string());
    std::string_view ending = kEndings[options.safetensors ? 1 : 0];
    proto::External external;
    external.smallest = options.external_bytes;
    external.alignment = options.alignment;
    external.file_bytes = options.file_bytes;
    external.shares_equal = options.share_equal;
    if (options.safetensors) {
        external.header = safetensors_header;
        external.takes = [](const Tensor& tensor) {
            return weights::has_safetensors(tensor.element_type());
        };
    }
    external.location = fmt::format("{}{}{}", stem, name_of_content({}), ending);
    proto::Form form = options.form.value_or(proto::form_of_path(path));
    bool is_whole = external.smallest == 0;
    SDX_ASSIGN(proto::ModelParts written,
               is_whole ? proto::write_parts_as_read(model, options.source, form)
                        : proto::write_model_parts(model, &external, form));
    size_t size = 0;
    for (const std::vector<std::string_view>& file : external.files) {
        external.locations.push_back(fmt::format("{}{}{}", stem, name_of_content(file), ending));
        for (std::string_view part : file) {
            size += part.size();
        }
    }
    if (!external.files.empty()) {
        SDX_ASSIGN(written, proto::write_model_parts(model, &external, form));
    }
    std::vector<std::string_view> parts = written.parts();
    std::vector<FileParts> files;
    for (size_t i = 0; i < external.files.size(); ++i) {
        files.push_back(
            {(target.parent_path() / external.locations[i]).string(), external.files[i]});
    }
    files.push_back({path, parts});
    SDX_TRY(write_files(files));
    if (!external.files.empty()) {
        remove_old_data(target, external.locations);
    }
    return size + written.size();
}

}  // namespace sardonyx::driver
