// External data: a part of a file in the model's folder.
//
// The location comes from the model and is not trusted. It is relative, has no `..`, and after all
// symbolic links are followed it is still a regular file inside the folder, which has no other
// name.
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "proto/read_context.h"

namespace sardonyx::proto {
namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& folder, const fs::path& file) {
    auto part = file.begin();
    for (const fs::path& expected : folder) {
        if (part == file.end() || *part != expected) {
            return false;
        }
        ++part;
    }
    return part != file.end();
}

bool resolve(ReadContext& context, std::string_view location, std::string* result) {
    if (context.options.folder.empty()) {
        return context.fail("the tensor has external data, but no folder to look for it is given");
    }
    fs::path relative{std::string(location)};
    bool leaves = relative.has_root_path();
    for (const fs::path& part : relative) {
        leaves = leaves || part == "..";
    }
    if (location.empty() || location.find('\0') != std::string_view::npos || leaves) {
        return context.fail(fmt::format(
            "the location `{}` of external data must be a path inside the model's folder, "
            "without `..`",
            location));
    }
    std::error_code folder_error, file_error;
    fs::path folder = fs::canonical(context.options.folder, folder_error);
    fs::path file = fs::canonical(folder / relative, file_error);
    if (folder_error || file_error) {
        return context.fail(fmt::format("cannot open the external data `{}`: {}", location,
                                        (folder_error ? folder_error : file_error).message()));
    }
    if (!is_inside(folder, file)) {
        return context.fail(
            fmt::format("the external data `{}` is a link out of the model's folder", location));
    }
    std::error_code type_error;
    if (!fs::is_regular_file(file, type_error)) {
        return context.fail(fmt::format("the external data `{}` is not a file", location));
    }
    // A second name is a way into the folder for a file that lies elsewhere.
    if (fs::hard_link_count(file, type_error) > 1) {
        return context.fail(fmt::format(
            "the external data `{}` has more than one name (it is a hard link)", location));
    }
    *result = file.string();
    return true;
}

// A number as text. At most 18 digits, so that it fits and sums do not overflow.
bool parse_number(ReadContext& context, std::string_view key, std::string_view text,
                  uint64_t* result) {
    bool valid = !text.empty() && text.size() <= 18;
    uint64_t number = 0;
    for (char c : text) {
        valid = valid && c >= '0' && c <= '9';
        number = valid ? number * 10 + static_cast<uint64_t>(c - '0') : 0;
    }
    if (!valid) {
        return context.fail(
            fmt::format("the {} `{}` of external data is not a number of bytes", key, text));
    }
    *result = number;
    return true;
}

}  // namespace

bool check_unused_external(ReadContext& context, const ExternalData& data) {
    uint64_t offset = 0, length = 0;
    if (!data.offset.empty() && !parse_number(context, "offset", data.offset, &offset)) {
        return false;
    }
    if (!data.length.empty() && !parse_number(context, "length", data.length, &length)) {
        return false;
    }
    constexpr uint64_t kMost = uint64_t{1} << 31;
    return length <= kMost || context.fail(fmt::format("the tensor is in this file, and {} bytes "
                                                       "of external data are more than it can have",
                                                       length));
}

bool map_external(ReadContext& context, const ExternalData& data, size_t size, MappedFile* result) {
    uint64_t offset = 0;
    uint64_t length = size;
    if (!data.offset.empty() && !parse_number(context, "offset", data.offset, &offset)) {
        return false;
    }
    if (!data.length.empty() && !parse_number(context, "length", data.length, &length)) {
        return false;
    }
    if (length != size) {
        return context.fail(fmt::format(
            "the external data has {} bytes, the tensor's dims and type need {}", length, size));
    }
    auto known = context.external_files.find(data.location);
    if (known == context.external_files.end()) {
        std::string path;
        if (!resolve(context, data.location, &path)) {
            return false;
        }
        Result<MappedFile> file = map_file(path);
        if (!file.ok()) {
            return context.fail(file.error().message);
        }
        if (context.options.paths != nullptr) {
            context.options.paths->push_back(path);
        }
        if (context.options.stamps != nullptr && file->stamp != nullptr) {
            context.options.stamps->push_back(file->stamp);
        }
        known = context.external_files.emplace(std::string(data.location), std::move(*file)).first;
    }
    const MappedFile& file = known->second;
    if (offset > file.bytes.size() || length > file.bytes.size() - offset) {
        return context.fail(fmt::format(
            "the external data `{}` ends at byte {}, the tensor needs {} bytes from byte {}",
            data.location, file.bytes.size(), length, offset));
    }
    *result = MappedFile{file.owner, file.bytes.subspan(offset, length), nullptr};
    return true;
}

}  // namespace sardonyx::proto
