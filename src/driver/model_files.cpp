#include "driver/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "base/content_hash.h"
#include "base/write_file.h"
#include "proto/proto.h"
#include "weights/weights.h"

namespace sardonyx::driver {
namespace {

std::string digits(uint64_t hash) {
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
    return name.substr(0, end) + "." + digits(content_hash({&whole, 1})) + ".";
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

size_t size_of(std::span<const std::string_view> parts) {
    size_t size = 0;
    for (std::string_view part : parts) {
        size += part.size();
    }
    return size;
}

// Files of one save.
class Save {
  public:
    Save(const std::string& path, const SaveOptions& options)
        : path_(path),
          folder_(std::filesystem::path(path).parent_path()),
          options_(options),
          files_({options.files, [this](size_t size) { report(size); }}) {}
    Save(const Save&) = delete;
    Save& operator=(const Save&) = delete;

    Result<size_t> write_as_read(std::string_view model);
    Result<size_t> write_whole(const ir::Model& model, proto::Form form);
    Result<size_t> write_divided(const ir::Model& model, proto::Form form, size_t external_bytes);

  private:
    Result<bool> is_there(const std::string& location, const MappedFile& data) const;
    Result<void> put_in_place(const std::vector<std::string>& data);
    void report(size_t size) {
        done_ += size;
        if (options_.watch != nullptr) {
            options_.watch(done_, std::max(done_, all_));
        }
    }

    const std::string& path_;
    std::filesystem::path folder_;
    const SaveOptions& options_;
    NewFiles files_;
    size_t done_ = 0;
    size_t all_ = 0;
};

Result<void> Save::put_in_place(const std::vector<std::string>& data) {
    SDX_TRY(files_.put_in_place());
    if (!data.empty()) {
        remove_old_data(path_, data);
    }
    return {};
}

// Whether the very file is in the folder of the model already.
Result<bool> Save::is_there(const std::string& location, const MappedFile& data) const {
    std::string path = (folder_ / location).string();
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) {
        return false;
    }
    if (data.stamp != nullptr && data.stamp->is_file(path)) {
        return true;
    }
    SDX_ASSIGN(MappedFile other, map_file(path));
    if (std::equal(data.bytes.begin(), data.bytes.end(), other.bytes.begin(), other.bytes.end())) {
        return true;
    }
    return Error{fmt::format(
        "`{}` already exists with other contents: save the model in another folder, or store its "
        "weights in a file of another name (`external_bytes=1024`, on the command line "
        "`--external-data 1024`)",
        path)};
}

Result<size_t> Save::write_as_read(std::string_view model) {
    std::vector<std::string> locations;
    std::vector<const MappedFile*> missing;
    if (options_.source.external != nullptr) {
        for (const auto& [location, data] : *options_.source.external) {
            SDX_ASSIGN(bool there, is_there(location, data));
            missing.push_back(there ? nullptr : &data);
            all_ += there ? 0 : data.bytes.size();
            locations.push_back(location);
        }
    }
    all_ += model.size();
    for (size_t i = 0; i < locations.size(); ++i) {
        if (missing[i] != nullptr) {
            std::filesystem::path target = folder_ / locations[i];
            std::error_code error;
            std::filesystem::create_directories(target.parent_path(), error);  // write() says why
            std::string_view bytes(reinterpret_cast<const char*>(missing[i]->bytes.data()),
                                   missing[i]->bytes.size());
            SDX_TRY(files_.write(target.string(), {&bytes, 1}));
        }
    }
    SDX_TRY(files_.write(path_, {&model, 1}));
    SDX_TRY(put_in_place(locations));
    return all_;
}

Result<size_t> Save::write_whole(const ir::Model& model, proto::Form form) {
    SDX_ASSIGN(proto::ModelParts written, proto::write_parts_as_read(model, options_.source, form));
    all_ = written.size();
    SDX_TRY(files_.write(path_, written.parts()));
    SDX_TRY(put_in_place({}));
    return all_;
}

Result<size_t> Save::write_divided(const ir::Model& model, proto::Form form,
                                   size_t external_bytes) {
    std::string stem = stem_of_data(std::filesystem::path(path_).filename().string());
    std::string_view ending = kEndings[options_.safetensors ? 1 : 0];
    auto name_of = [&](uint64_t hash) { return fmt::format("{}{}{}", stem, digits(hash), ending); };
    proto::External external;
    external.smallest = external_bytes;
    external.alignment = options_.alignment;
    external.file_bytes = options_.file_bytes;
    external.shares_equal = options_.share_equal;
    if (options_.safetensors) {
        external.header = safetensors_header;
        external.takes = [](const Tensor& tensor) {
            return weights::has_safetensors(tensor.element_type());
        };
    }
    external.location = name_of(0);  // as long as the names that the files will have
    SDX_ASSIGN(proto::ModelParts written, proto::write_model_parts(model, &external, form));
    size_t size = 0;
    for (const std::vector<std::string_view>& file : external.files) {
        size += size_of(file);
    }
    all_ = size + written.size();
    for (const std::vector<std::string_view>& file : external.files) {
        auto path_of = [&](uint64_t hash) { return (folder_ / name_of(hash)).string(); };
        SDX_ASSIGN(std::string written_to, files_.write_named(path_, file, path_of));
        external.locations.push_back(std::filesystem::path(written_to).filename().string());
    }
    if (!external.files.empty()) {
        SDX_ASSIGN(written, proto::write_model_parts(model, &external, form));
    }
    SDX_TRY(files_.write(path_, written.parts()));
    SDX_TRY(put_in_place(external.locations));
    return size + written.size();
}

}  // namespace

Result<size_t> write_model_files(const ir::Model& model, const std::string& path,
                                 const SaveOptions& options) {
    constexpr size_t kMostAlignment = 65536;
    if (options.alignment == 0 || options.alignment > kMostAlignment) {
        return Error{"`alignment` is from 1 to 65536"};
    }
    proto::Form form = options.form.value_or(proto::form_of_path(path));
    Save save(path, options);
    bool had_external = options.source.has_external();
    // Whoever says how files of data are made wants some.
    bool wants_external = options.safetensors || options.share_equal || options.file_bytes != 0;
    bool is_as_it_was = !options.external_bytes.has_value() && !wants_external;
    if (is_as_it_was && form == proto::Form::kBytes && had_external) {
        std::string_view bytes =
            proto::bytes_as_read(model, options.source, proto::ExternalParts::kSeenTo);
        if (!bytes.empty()) {
            return save.write_as_read(bytes);
        }
    }
    size_t external_bytes =
        options.external_bytes.value_or(had_external || wants_external ? kExternalBytes : 0);
    return external_bytes == 0 ? save.write_whole(model, form)
                               : save.write_divided(model, form, external_bytes);
}

}  // namespace sardonyx::driver
