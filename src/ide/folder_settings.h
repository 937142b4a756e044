// The settings of each file: those of the nearest pyproject.toml that has some, as it is now.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "ide/settings.h"

namespace sardonyx::ide {

class FolderSettings {
  public:
    explicit FolderSettings(ServerSettings own) : own_(std::move(own)) {}

    // Of a file. Where its folders have none, or one that cannot be read, those of the start.
    const Settings& of(const std::string& path);
    // What is wrong with the files that have been read since the last time.
    std::vector<std::string> take_complaints() { return std::exchange(complaints_, {}); }

  private:
    // All files that a folder's settings depend on, with their states.
    using Stamp = std::vector<std::optional<FileState>>;
    struct Found {
        Stamp stamp;
        Settings settings;
    };

    ServerSettings own_;
    std::map<std::string, Found> folders_;
    std::vector<std::string> complaints_;
};

}  // namespace sardonyx::ide
