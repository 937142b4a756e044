#include "driver/find_files.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "driver/notebook.h"

namespace sardonyx::driver {
namespace {

namespace fs = std::filesystem;

class Finder {
  public:
    Finder(const std::vector<std::string>& exclude, FoundFiles& found)
        : exclude_(exclude), found_(found) {}

    void add_folder(const fs::path& folder) {
        size_t before = found_.files.size();
        walk(folder);
        if (found_.files.size() == before && !is_unreadable_) {
            found_.empty.push_back(folder.string());
        }
    }

  private:
    bool is_excluded(const fs::path& path) const {
        std::string name = path.filename().string();
        std::string whole = path.lexically_normal().string();
        return std::any_of(exclude_.begin(), exclude_.end(), [&](const std::string& pattern) {
            return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
                   ::fnmatch(pattern.c_str(), whole.c_str(), 0) == 0;
        });
    }

    void walk(const fs::path& folder) {
        std::error_code failed;
        std::vector<fs::path> entries;
        fs::directory_iterator at(folder, failed);
        for (; !failed && at != fs::directory_iterator(); at.increment(failed)) {
            entries.push_back(at->path());
        }
        if (failed) {
            is_unreadable_ = true;
            found_.unreadable.push_back(folder.string());
        }
        std::sort(entries.begin(), entries.end());
        for (const fs::path& entry : entries) {
            std::string name = entry.filename().string();
            std::error_code ignored;
            fs::file_status status = fs::symlink_status(entry, ignored);
            if (name[0] == '.' || name == "__pycache__" || is_excluded(entry)) {
                continue;
            }
            if (fs::is_directory(status)) {
                walk(entry);
                continue;
            }
            bool is_script = entry.extension() == ".py";
            if ((is_script || is_notebook(name)) && fs::is_regular_file(entry, ignored)) {
                found_.files.push_back({entry.string(), is_script, std::nullopt});
            }
        }
    }

    const std::vector<std::string>& exclude_;
    FoundFiles& found_;
    bool is_unreadable_ = false;
};

}  // namespace

FoundFiles find_files(const std::vector<std::string>& paths,
                      const std::vector<std::string>& exclude) {
    FoundFiles found;
    for (const std::string& path : paths) {
        std::error_code failed;
        if (fs::is_directory(path, failed)) {
            Finder(exclude, found).add_folder(path);
        } else {
            found.files.push_back({path, fs::path(path).extension() == ".py", std::nullopt});
        }
    }
    return found;
}

}  // namespace sardonyx::driver
