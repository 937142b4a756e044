#include "bindings/sources.h"

#include "base/check.h"
#include "elaborate/objects/program.h"
#include "elaborate/objects/unknowns.h"
#include "weights/weights.h"

namespace sardonyx::python {

namespace {

// The compilations of this thread; each ends on the thread on which it began.
thread_local OwnProgram* g_innermost = nullptr;

}  // namespace

diagnostics::Sources& sources() {
    static diagnostics::Sources& sources = *new diagnostics::Sources;
    return sources;
}

driver::SourceCache& source_cache() {
    static driver::SourceCache& cache = *new driver::SourceCache(sources());
    return cache;
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

bool has_program() {
    return g_innermost != nullptr;
}

void keep_in_program(std::unique_ptr<elaborate::Environment> made) {
    SDX_CHECK(g_innermost != nullptr);
    g_innermost->program().unknowns->namespaces.push_back(std::move(made));
}

const elaborate::Object* known_in_program(nb::handle object) {
    if (g_innermost == nullptr) {
        return nullptr;
    }
    auto found = g_innermost->known.find(object.ptr());
    return found != g_innermost->known.end() ? &found->second.second : nullptr;
}

void know_in_program(nb::handle object, const elaborate::Object& what) {
    if (g_innermost != nullptr) {
        g_innermost->known.try_emplace(object.ptr(), nb::borrow(object), what);
    }
}

}  // namespace sardonyx::python
