#include "driver/model_files.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <span>

#include "base/file.h"
#include "proto/proto.h"

namespace sardonyx::driver {
namespace {

// The bytes in order, as 16 digits. Two contents have one name with a chance of 1 in 2^64.
std::string name_of_content(std::span<const std::string_view> parts) {
    constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
    uint64_t hash = 0;
    auto add = [&](uint64_t word) {
        hash = (hash ^ word) * kFactor;
        hash ^= hash >> 29;
    };
    for (std::string_view part : parts) {
        size_t whole = part.size() / sizeof(uint64_t) * sizeof(uint64_t);
        for (size_t i = 0; i < whole; i += sizeof(uint64_t)) {
            uint64_t word = 0;
            std::memcpy(&word, part.data() + i, sizeof word);
            add(word);
        }
        uint64_t rest = 0;
        if (part.size() > whole) {
            std::memcpy(&rest, part.data() + whole, part.size() - whole);
        }
        add(rest);
        add(part.size());
    }
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
    return name.substr(0, end) + "." + name_of_content({&whole, 1}) + ".";
}

// Removes MODEL.<digits>.data of earlier builds of the model, which refers to `current` now.
void remove_old_data(const std::filesystem::path& model, const std::string& current) {
    std::string begin = stem_of_data(model.filename().string());
    std::error_code error;
    auto folder = model.parent_path().empty() ? std::filesystem::path(".") : model.parent_path();
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        std::string name = entry.path().filename().string();
        bool is_data = name.size() == current.size() && name != current &&
                       name.compare(0, begin.size(), begin) == 0 &&
                       name.compare(name.size() - 5, 5, ".data") == 0 &&
                       name.find_first_not_of("0123456789abcdef", begin.size()) == name.size() - 5;
        if (is_data) {
            std::filesystem::remove(entry.path(), error);
        }
    }
}

}  // namespace

Result<size_t> write_model_files(const ir::Model& model, const std::string& path,
                                 size_t external_bytes) {
    proto::External external;
    external.smallest = external_bytes;
    std::filesystem::path target(path);
    std::string stem = stem_of_data(target.filename().string());
    external.location = stem + name_of_content({}) + ".data";
    SDX_ASSIGN(proto::ModelParts written, proto::write_model_parts(model, &external));
    if (external.parts.empty()) {
        std::vector<std::string_view> parts = written.parts();
        FileParts file[] = {{path, parts}};
        SDX_TRY(write_files(file));
        return written.size();
    }
    size_t size = 0;
    for (std::string_view part : external.parts) {
        size += part.size();
    }
    external.location = stem + name_of_content(external.parts) + ".data";
    external.parts.clear();
    SDX_ASSIGN(written, proto::write_model_parts(model, &external));
    std::vector<std::string_view> parts = written.parts();
    std::string data = (target.parent_path() / external.location).string();
    FileParts files[] = {{data, external.parts}, {path, parts}};
    SDX_TRY(write_files(files));
    remove_old_data(target, external.location);
    return size + written.size();
}

}  // namespace sardonyx::driver
