#include "driver/check.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/content_hash.h"
#include "driver/check_model.h"
#include "driver/notebook.h"
#include "driver/script_words.h"
#include "lint/lint.h"
#include "schemas/schemas.h"
#include "weights/weights.h"

namespace sardonyx::driver {
namespace {

namespace fs = std::filesystem;

// The types of a script's own names: scripts that it calls show what they are by themselves.
void take_types(elaborate::Program& program, const elaborate::ScriptFunction& script,
                std::vector<diagnostics::Inlay>& types) {
    diagnostics::Span own = script.tree->span(script.definition->range);
    for (diagnostics::Inlay& type : program.types) {
        if (type.span.file == own.file && type.span.begin >= own.begin &&
            type.span.end <= own.end) {
            types.push_back(std::move(type));
        }
    }
}

using Scripts = std::vector<std::shared_ptr<elaborate::ScriptFunction>>;

// Of each script, the scripts whose names are in its text: those that it may call, and more.
std::vector<std::vector<size_t>> mentioned_scripts(const elaborate::Program& program,
                                                   const Scripts& scripts) {
    std::unordered_map<std::string_view, size_t> places;
    for (size_t i = 0; i < scripts.size(); ++i) {
        places[scripts[i]->name] = i;
    }
    std::vector<std::vector<size_t>> mentioned(scripts.size());
    for (size_t i = 0; i < scripts.size(); ++i) {
        diagnostics::Span span = scripts[i]->tree->span(scripts[i]->definition->range);
        std::string_view text =
            program.sources.text(span.file).substr(span.begin, span.end - span.begin);
        for_each_word(text, [&](std::string_view word) {
            auto found = places.find(word);
            if (found != places.end() && found->second != i) {
                mentioned[i].push_back(found->second);
            }
        });
    }
    return mentioned;
}

// The places of the scripts, callers before those that they call, where they are in no circle.
std::vector<size_t> callers_first(const std::vector<std::vector<size_t>>& mentioned) {
    std::vector<size_t> callers(mentioned.size()), order;
    for (const auto& list : mentioned) {
        for (size_t place : list) {
            ++callers[place];
        }
    }
    std::vector<bool> is_placed(mentioned.size());
    auto place_from = [&](size_t first) {
        std::vector<size_t> ready{first};
        while (!ready.empty()) {
            size_t i = ready.back();
            ready.pop_back();
            is_placed[i] = true;
            order.push_back(i);
            for (size_t called : mentioned[i]) {
                if (--callers[called] == 0 && !is_placed[called]) {
                    ready.push_back(called);
                }
            }
        }
    };
    for (size_t i = 0; i < mentioned.size(); ++i) {
        if (callers[i] == 0 && !is_placed[i]) {
            place_from(i);
        }
    }
    for (size_t i = 0; i < mentioned.size(); ++i) {
        if (!is_placed[i]) {
            callers[i] = 0;
            place_from(i);
        }
    }
    return order;
}

// What is found in a script can also depend on files that are read when names are looked up, on
// weights, and on this file again where another one imports it: such files are not remembered.
bool may_remember(const elaborate::Program& program, const elaborate::FileModule& module,
                  const Scripts& scripts) {
    std::string own = fs::path(module.path()).stem().string();
    bool reads = false;
    for (size_t i = 0; i < program.sources.size(); ++i) {
        diagnostics::FileId file{static_cast<uint32_t>(i)};
        bool is_other = file != module.tree().file;
        for_each_word(program.sources.text(file), [&](std::string_view word) {
            reads = reads || word.starts_with("load") || (is_other && word == own);
        });
    }
    return !reads && std::all_of(scripts.begin(), scripts.end(), [&](const auto& script) {
        return script->tree == &module.tree() && !script->definition->body.empty();
    });
}

ScriptLayout layout_of(const elaborate::Program& program, const elaborate::FileModule& module,
                       const Scripts& scripts, const std::vector<std::vector<size_t>>& mentioned) {
    diagnostics::FileId file = module.tree().file;
    ScriptLayout layout{file, program.sources.text(file), {}, mentioned, 0};
    for (const auto& script : scripts) {
        layout.bodies.push_back({script->name, script->definition->body[0]->range.begin,
                                 script->definition->range.end});
    }
    std::vector<std::string_view> others;
    for (size_t i = 0; i < program.sources.size(); ++i) {
        diagnostics::FileId other{static_cast<uint32_t>(i)};
        if (other != file) {
            others.push_back(program.sources.path(other));
            others.push_back(program.sources.text(other));
        }
    }
    const elaborate::Options& options = program.file_options;
    std::string settings = fmt::format("{} {}", options.opset, program.wants_types);
    others.emplace_back(settings);
    layout.context = content_hash(others);
    return layout;
}

// Checks the scripts of a file one by one.
class ScriptCheck {
  public:
    // `memory` may be null.
    ScriptCheck(elaborate::Program& program, elaborate::FileModule& module, CheckMemory* memory)
        : program_(program),
          scripts_(elaborate::scripts(module)),
          mentioned_(mentioned_scripts(program, scripts_)),
          found_(scripts_.size()),
          memory_(memory) {
        for (size_t i = 0; i < scripts_.size(); ++i) {
            places_[scripts_[i].get()] = i;
        }
        if (memory_ != nullptr && may_remember(program, module, scripts_)) {
            memory_->begin(layout_of(program, module, scripts_, mentioned_));
        }
    }

    // Each script as a model where its annotations allow it, which knows the most; when that finds
    // nothing, as a function as well. What a script by itself lacks does not count where another
    // one has called it: its callers tell. So they come first, and what they have called need not
    // be looked at by itself; else a chain of n scripts would be compiled n times.
    void run(std::vector<diagnostics::Inlay>& types) {
        for (size_t i : callers_first(mentioned_)) {
            if (program_.wants_types || !is_called(i)) {
                check(i);
            }
        }
        for (size_t i = 0; i < scripts_.size(); ++i) {
            look_for_caller(i);
            types.insert(types.end(), found_[i].types.begin(), found_[i].types.end());
            for (const diagnostics::Diagnostic& finding : found_[i].findings) {
                if (!is_called(i)) {
                    program_.diagnostics.add(finding);
                }
            }
        }
        if (memory_ != nullptr) {
            memory_->end();
        }
    }

  private:
    bool is_called(size_t i) const { return program_.called.count(scripts_[i].get()) != 0; }

    // A call may be in what a script does by itself alone, and not as its callers call it.
    void look_for_caller(size_t i) {
        for (size_t other = 0;
             !found_[i].findings.empty() && unchecked_ > 0 && other < scripts_.size(); ++other) {
            const std::vector<size_t>& mentioned = mentioned_[other];
            bool may_call = !is_checked_[other] &&
                            std::find(mentioned.begin(), mentioned.end(), i) != mentioned.end();
            if (!is_called(i) && may_call) {
                check(other);
            }
        }
    }

    void check(size_t i) {
        unchecked_ -= is_checked_[i] ? 0 : 1;
        is_checked_[i] = true;
        if (const ScriptFindings* kept = memory_ != nullptr ? memory_->find(i) : nullptr) {
            found_[i] = *kept;
            for (size_t called : kept->called) {
                program_.called.insert(scripts_[called].get());
            }
            return;
        }
        std::set<const elaborate::ScriptFunction*> before = std::exchange(program_.called, {});
        size_t files = program_.modules.size();
        compile(i);
        bool is_own = program_.modules.size() == files;
        for (const elaborate::ScriptFunction* called : program_.called) {
            auto place = places_.find(called);
            if (place != places_.end()) {
                found_[i].called.push_back(place->second);
            }
        }
        program_.called.merge(before);
        if (memory_ != nullptr && is_own) {
            memory_->keep(i, found_[i]);
        }
    }

    void compile(size_t i) {
        const elaborate::Options& options = program_.file_options;
        diagnostics::Diagnostics& said = program_.diagnostics;
        const elaborate::ScriptFunction& script = *scripts_[i];
        found_[i] = {};
        diagnostics::Checkpoint start(said);
        program_.types.clear();
        bool is_model = elaborate::is_model(program_, script, options);
        if (is_model) {
            (void)elaborate::compile_model(program_, script, options);
        }
        size_t known = program_.types.size();
        if (script.is_inline && !is_model) {
            (void)elaborate::compile_function(program_, script, options);  // types, and calls
            start.take_back();
            elaborate::check_in_place(program_, script, options);
        } else if (!start.has_findings()) {
            (void)elaborate::compile_function(program_, script, options);
        }
        if (is_model) {
            program_.types.resize(known);
        }
        take_types(program_, script, found_[i].types);
        found_[i].findings = start.findings();
        start.take_back();
    }

    elaborate::Program& program_;
    Scripts scripts_;
    std::vector<std::vector<size_t>> mentioned_;  // by each script
    std::vector<ScriptFindings> found_;
    std::unordered_map<const elaborate::ScriptFunction*, size_t> places_;
    CheckMemory* memory_;
    std::vector<bool> is_checked_ = std::vector<bool>(scripts_.size());
    size_t unchecked_ = scripts_.size();
};

bool is_told(const CheckRequest& request, const diagnostics::Diagnostic& one) {
    auto lists = [&one](const std::vector<std::string>& codes) {
        return std::find(codes.begin(), codes.end(), one.kind->code) != codes.end();
    };
    return one.kind->severity == diagnostics::Severity::kError ||
           ((request.select.empty() || lists(request.select)) && !lists(request.ignore));
}

}  // namespace

Checked check(const CheckRequest& request) {
    Checked checked{std::make_unique<elaborate::Program>(weights::read_weights),
                    std::make_unique<ops::SchemaSet>(),
                    {},
                    {}};
    elaborate::Program& program = *checked.program;
    program.wants_types = request.wants_types;
    for (const std::string& path : request.schemas) {
        schemas::load_schemas(path, program.sources, program.diagnostics, *checked.schemas);
    }
    program.file_options.schemas = checked.schemas.get();
    program.file_options.opset = request.opset;
    program.file_options.library_path = request.library_path;
    // All texts that are at hand come first: files import each other.
    for (const std::vector<CheckedFile>* files : {&request.files, &request.at_hand}) {
        for (const CheckedFile& file : *files) {
            if (file.text) {
                (void)elaborate::load_text(program, fs::path(file.path).lexically_normal().string(),
                                           *file.text);
            }
        }
    }
    std::vector<Notebook> notebooks;
    for (const CheckedFile& file : request.files) {
        if (!file.is_script && !is_notebook(file.path)) {
            check_model(program, file.path, checked.schemas.get());
            continue;
        }
        elaborate::FileModule* module =
            file.is_script ? elaborate::load_file(program, file.path)
                           : load_notebook(program, file.path, notebooks.emplace_back());
        bool is_new = module != nullptr && std::find(checked.modules.begin(), checked.modules.end(),
                                                     module) == checked.modules.end();
        if (is_new) {
            checked.modules.push_back(module);
            ScriptCheck(program, *module, request.memory).run(checked.types);
            if (!module->report_mistakes()) {  // an unused import may be a misspelt name
                lint::lint_file(program, *module);
            }
        }
    }
    lint::apply_ignores(program, checked.modules);
    program.diagnostics.keep_if(
        [&request](const diagnostics::Diagnostic& one) { return is_told(request, one); });
    for (const elaborate::FileModule* module : checked.modules) {
        if (is_notebook(module->path())) {
            explain_magics(program, module->tree().file);
        }
    }
    for (const Notebook& notebook : notebooks) {
        move_to_cells(program, notebook, checked.types);
    }
    return checked;
}

}  // namespace sardonyx::driver
