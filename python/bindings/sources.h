// The source text of Python functions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "driver/source_cache.h"
#include "elaborate/elaborate.h"

namespace sardonyx::python {

// The texts that the scripts of this process have been made from, which is all that they have in
// common; never freed.
diagnostics::Sources& sources();

// The program of one compilation, as long as it goes on. What a script's names mean may compile
// other scripts, and other threads may run whenever Python does: each compilation has its own. The
// depth goes on from the one around it.
class OwnProgram {
  public:
    OwnProgram();
    ~OwnProgram();
    OwnProgram(const OwnProgram&) = delete;
    OwnProgram& operator=(const OwnProgram&) = delete;
    elaborate::Program& program() { return program_; }
    diagnostics::Diagnostics& found() { return program_.diagnostics; }
    // Called when the compilation ends, the last one first: what functions that it has run have
    // changed is Python's, and as it was then.
    void at_end(nb::object take_back) { at_end_.push_back(std::move(take_back)); }
    // Methods of objects by their function and object: one script for all that mention it.
    std::map<std::pair<const void*, const void*>, std::shared_ptr<void>> methods;
    // What objects of Python are to the compiler, and a reference to each, so that no other takes
    // its place in memory.
    std::unordered_map<const PyObject*, std::pair<nb::object, elaborate::Object>> known;

  private:
    elaborate::Program program_;
    std::vector<nb::object> at_end_;
    OwnProgram* around_;
};

// For the innermost compilation of this thread.
void take_back_at_end(nb::object take_back);

// The script of a method that the innermost compilation knows already, else `made`.
std::shared_ptr<void> method_of_program(const void* method, const void* self,
                                        std::shared_ptr<void> made);

// Whether there is a compilation on this thread; keeps a class as long as the innermost one lasts.
bool has_program();
void keep_in_program(std::unique_ptr<elaborate::Environment> made);

// What the innermost compilation has found an object of Python to be; null: not yet.
const elaborate::Object* known_in_program(nb::handle object);
void know_in_program(nb::handle object, const elaborate::Object& what);

// Reads files as some of sources().
driver::SourceCache& source_cache();

}  // namespace sardonyx::python
