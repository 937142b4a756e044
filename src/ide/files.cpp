#include "ide/files.h"

#include <set>

#include "base/file.h"
#include "base/stop.h"
#include "driver/find_files.h"
#include "driver/notebook.h"

namespace sardonyx::ide {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

}  // namespace

Result<std::string> script_text(const std::string& path) {
    return read_file(path, kMostBytes);
}

std::vector<std::pair<std::string, std::string>> scripts_with(
    const std::vector<std::string>& folders, std::string_view word) {
    std::vector<std::pair<std::string, std::string>> found;
    std::set<std::string> seen;  // a folder may be within another
    for (const driver::CheckedFile& file : driver::find_files(folders, {}).files) {
        stop_point();
        bool is_text = file.is_script && !driver::is_notebook(file.path);
        if (!is_text || !seen.insert(file.path).second) {
            continue;
        }
        Result<std::string> text = script_text(file.path);
        if (text.ok() && text->find(word) != std::string::npos) {
            found.emplace_back(file.path, std::move(*text));
        }
    }
    return found;
}

}  // namespace sardonyx::ide
