#include "driver/settings.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/nearest.h"
#include "ops/versions.h"
#include "schemas/toml_section.h"

namespace sardonyx::driver {
namespace {

namespace fs = std::filesystem;

struct ListKey {
    std::string_view name;
    std::vector<std::string> Settings::*list;
};
constexpr std::array<ListKey, 5> kLists{{{"select", &Settings::select},
                                         {"ignore", &Settings::ignore},
                                         {"exclude", &Settings::exclude},
                                         {"schemas", &Settings::schemas},
                                         {"library-path", &Settings::library_path}}};

Result<void> read_entry(const schemas::TomlEntry& entry, Settings& settings) {
    std::vector<std::string_view> names{"opset"};
    for (const ListKey& row : kLists) {
        names.push_back(row.name);
        if (row.name != entry.key) {
            continue;
        }
        const auto* texts = std::get_if<std::vector<std::string>>(&entry.value);
        if (texts == nullptr) {
            return Error{fmt::format("{}: `{}` is a list of strings, as in `{} = [\"...\"]`",
                                     entry.value_place, row.name, row.name)};
        }
        settings.*row.list = *texts;
        return {};
    }
    if (entry.key != "opset") {
        std::string_view near = nearest(entry.key, names);
        return Error{
            fmt::format("{}: [tool.sardonyx] has no `{}`{}", entry.key_place, entry.key,
                        near.empty() ? std::string() : fmt::format("; did you mean `{}`?", near))};
    }
    const int64_t* opset = std::get_if<int64_t>(&entry.value);
    if (opset == nullptr || *opset < 1) {
        return Error{fmt::format("{}: `opset` is a version of ai.onnx, as in `opset = 21`",
                                 entry.value_place)};
    }
    if (std::string problem = ops::version_problem("", *opset); !problem.empty()) {
        return Error{fmt::format("{}: {}", entry.value_place, problem)};
    }
    settings.opset = *opset;
    return {};
}

// Nothing: the file has no such section.
Result<std::optional<Settings>> read_section(const std::string& path) {
    auto entries = schemas::read_tool_section(path, "sardonyx");
    SDX_TRY(entries);
    if (!entries->has_value()) {
        return std::optional<Settings>();
    }
    Settings settings;
    settings.path = path;
    for (const schemas::TomlEntry& entry : **entries) {
        SDX_TRY(read_entry(entry, settings));
    }
    for (std::string& file : settings.schemas) {
        fs::path beside = fs::path(path).parent_path() / file;
        std::error_code failed;
        // A name of a domain of the package stays as it is.
        file =
            fs::exists(beside, failed) || fs::path(file).has_parent_path() ? beside.string() : file;
    }
    for (std::string& folder : settings.library_path) {
        folder = (fs::path(path).parent_path() / folder).string();
    }
    return std::optional<Settings>(std::move(settings));
}

// Of the pyproject.toml in a folder.
Result<std::optional<Settings>> section_in(const fs::path& folder) {
    fs::path path = folder / "pyproject.toml";
    std::error_code failed;
    return fs::is_regular_file(path, failed) ? read_section(path.string())
                                             : Result<std::optional<Settings>>(std::nullopt);
}

}  // namespace

Result<Settings> read_settings(const std::string& path) {
    Result<std::optional<Settings>> section = read_section(path);
    SDX_TRY(section);
    if (!section->has_value()) {
        return Error{fmt::format("`{}` has no section [tool.sardonyx]", path)};
    }
    return std::move(**section);
}

Result<Settings> find_settings() {
    std::error_code failed;
    fs::path above;
    for (fs::path folder = fs::current_path(failed); !failed; folder = folder.parent_path()) {
        Result<std::optional<Settings>> section = section_in(above);
        SDX_TRY(section);
        if (section->has_value()) {
            return std::move(**section);
        }
        if (folder == folder.root_path()) {
            break;
        }
        above /= "..";
    }
    return Settings();
}

Result<Settings> find_settings(const std::string& folder) {
    for (fs::path at = folder;; at = at.parent_path()) {
        Result<std::optional<Settings>> section = section_in(at);
        SDX_TRY(section);
        if (section->has_value()) {
            return std::move(**section);
        }
        if (at == at.parent_path()) {
            return Settings();
        }
    }
}

}  // namespace sardonyx::driver
