#include "driver/source_cache.h"

#include <optional>
#include <utility>

#include "syntax/parse.h"

namespace sardonyx::driver {

diagnostics::FileId SourceCache::of_file(const std::string& path) {
    std::optional<FileState> state = file_state(path);
    if (!state) {
        return {};
    }
    std::lock_guard<std::mutex> lock(lock_);
    Cached& cached = files_[path];
    if (!cached.file.valid() || cached.state != *state) {
        Result<std::string> text = read_file(path, syntax::Limits{}.bytes);
        if (!text.ok()) {
            return {};
        }
        cached = {*state, sources_.add(path, std::move(text).value())};
    }
    return cached.file;
}

diagnostics::FileId SourceCache::of_text(const std::string& path, const std::string& shown,
                                         std::string text) {
    std::lock_guard<std::mutex> lock(lock_);
    Cached& cached = files_[path];
    if (!cached.file.valid() || sources_.text(cached.file) != text ||
        sources_.path(cached.file) != shown) {
        cached = {{}, sources_.add(shown, std::move(text))};
    }
    return cached.file;
}

}  // namespace sardonyx::driver
