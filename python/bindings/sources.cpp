#include "bindings/sources.h"

#include <chrono>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "weights/weights.h"

namespace sardonyx::python {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = size_t{64} << 20;

struct CachedSource {
    fs::file_time_type time;
    uintmax_t size = 0;
    diagnostics::FileId file;
};

using Cache = std::map<std::string, CachedSource>;

Cache& cache() {
    static Cache& cache = *new Cache;
    return cache;
}

}  // namespace

elaborate::Program& program() {
    static elaborate::Program& program = *new elaborate::Program(weights::read_weights);
    return program;
}

diagnostics::FileId source_of_file(const std::string& path) {
    std::error_code failed;
    fs::file_time_type time = fs::last_write_time(path, failed);
    uintmax_t size = failed ? 0 : fs::file_size(path, failed);
    if (failed) {
        return {};
    }
    CachedSource& cached = cache()[path];
    if (!cached.file.valid() || cached.time != time || cached.size != size) {
        Result<std::string> text = read_file(path, kMaxBytes);
        if (!text.ok()) {
            return {};
        }
        cached = {time, size, program().sources.add(path, std::move(text).value())};
    }
    return cached.file;
}

diagnostics::FileId source_of_text(const std::string& path, std::string text) {
    CachedSource& cached = cache()[path];
    if (!cached.file.valid() || program().sources.text(cached.file) != text) {
        cached = {{}, text.size(), program().sources.add(path, std::move(text))};
    }
    return cached.file;
}

}  // namespace sardonyx::python
