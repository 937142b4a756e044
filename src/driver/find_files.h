// Which files a check looks at: those that are named, and the scripts under folders.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sardonyx::driver {

struct CheckedFile {
    std::string path;
    bool is_script = false;           // else a model
    std::optional<std::string> text;  // of a script; nothing: what the file holds
};

struct FoundFiles {
    std::vector<CheckedFile> files;
    std::vector<std::string> empty;       // folders without scripts and notebooks
    std::vector<std::string> unreadable;  // folders that may not be looked into
};

// Folders give the scripts and notebooks under them, in order; hidden folders and caches are left
// out, links to folders not followed. `exclude` are patterns as the shell has them, which a file or
// folder under a named one matches by its name or by its whole path.
FoundFiles find_files(const std::vector<std::string>& paths,
                      const std::vector<std::string>& exclude);

}  // namespace sardonyx::driver
