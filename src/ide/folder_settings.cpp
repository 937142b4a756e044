#include "ide/folder_settings.h"

#include <filesystem>

#include "driver/settings.h"

namespace sardonyx::ide {

const Settings& FolderSettings::of(const std::string& path) {
    std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!own_.looks_around || !folder.is_absolute()) {
        return own_.start;
    }
    Stamp stamp;
    for (std::filesystem::path at = folder;; at = at.parent_path()) {
        stamp.push_back(file_state((at / "pyproject.toml").string()));
        if (at == at.parent_path()) {
            break;
        }
    }
    Found& found = folders_[folder.string()];
    if (found.stamp == stamp) {
        return found.settings;
    }
    found.stamp = std::move(stamp);
    found.settings = own_.start;
    Result<driver::Settings> read = driver::find_settings(folder.string());
    if (!read.ok()) {
        complaints_.push_back(read.error().message);
    } else if (!read->path.empty()) {
        found.settings = {own_.schemas.empty() ? read->schemas : own_.schemas, read->select,
                          read->ignore, read->opset,
                          own_.library_path.empty() ? read->library_path : own_.library_path};
    }
    return found.settings;
}

}  // namespace sardonyx::ide
