#include "bindings/sources.h"

#include <map>
#include <mutex>
#include <optional>

#include "base/file.h"
#include "weights/weights.h"

namespace sardonyx::python {

namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;

struct CachedSource {
    FileState state;  // as nothing on disk, if the text came from elsewhere
    diagnostics::FileId file;
};

struct Cache {
    std::mutex lock;
    std::map<std::string, CachedSource> files;
};

Cache& cache() {
    static Cache& cache = *new Cache;
    return cache;
}

// The compilations of this thread; each ends on the thread on which it began.
thread_local OwnProgram* g_innermost = nullptr;

}  // namespace

diagnostics::Sources& sources() {
    static diagnostics::Sources& sources = *new diagnostics::Sources;
    return sources;
}

OwnProgram::OwnProgram() : program_(weights::read_weights, sources()), around_(g_innermost) {
    program_.depth = around_ != nullptr ? around_->program_.depth : 0;
    g_innermost = this;
}

OwnProgram::~OwnProgram() {
    g_innermost = around_;
    for (; !at_end_.empty(); at_end_.pop_back()) {
        try {
            at_end_.back()();
        } catch (nb::python_error& error) {
            error.discard_as_unraisable("sardonyx: taking back what a compilation has changed");
        }
    }
}

void take_back_at_end(nb::object take_back) {
    if (g_innermost != nullptr) {
        g_innermost->at_end(std::move(take_back));
    }
}

std::shared_ptr<void> method_of_program(const void* method, const void* self,
                                        std::shared_ptr<void> made) {
    if (g_innermost == nullptr) {
        return made;
    }
    return g_innermost->methods.try_emplace({method, self}, std::move(made)).first->second;
}

diagnostics::FileId source_of_file(const std::string& path) {
    std::optional<FileState> state = file_state(path);
    if (!state) {
        return {};
    }
    std::lock_guard<std::mutex> lock(cache().lock);
    CachedSource& cached = cache().files[path];
    if (!cached.file.valid() || cached.state != *state) {
        Result<std::string> text = read_file(path, kMaxBytes);
        if (!text.ok()) {
            return {};
        }
        cached = {*state, sources().add(path, std::move(text).value())};
    }
    return cached.file;
}

diagnostics::FileId source_of_text(const std::string& path, const std::string& shown,
                                   std::string text) {
    std::lock_guard<std::mutex> lock(cache().lock);
    CachedSource& cached = cache().files[path];
    if (!cached.file.valid() || sources().text(cached.file) != text ||
        sources().path(cached.file) != shown) {
        cached = {{}, sources().add(shown, std::move(text))};
    }
    return cached.file;
}

}  // namespace sardonyx::python
