#include "driver/check.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <unordered_map>

#include "driver/check_model.h"
#include "driver/notebook.h"
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
    auto is_of_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    std::vector<std::vector<size_t>> mentioned(scripts.size());
    for (size_t i = 0; i < scripts.size(); ++i) {
        diagnostics::Span span = scripts[i]->tree->span(scripts[i]->definition->range);
        std::string_view text =
            program.sources.text(span.file).substr(span.begin, span.end - span.begin);
        for (size_t begin = 0; begin < text.size(); ++begin) {
            size_t end = begin;
            while (end < text.size() && is_of_word(text[end])) {
                ++end;
            }
            auto found = places.find(text.substr(begin, end - begin));
            if (end > begin && found != places.end() && found->second != i) {
                mentioned[i].push_back(found->second);
            }
            begin = end;
        }
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

// Checks the scripts of a file one by one.
class ScriptCheck {
  public:
    ScriptCheck(elaborate::Program& program, elaborate::FileModule& module)
        : program_(program),
          scripts_(elaborate::scripts(module)),
          mentioned_(mentioned_scripts(program, scripts_)),
          findings_(scripts_.size()),
          types_(scripts_.size()) {}

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
            types.insert(types.end(), types_[i].begin(), types_[i].end());
            for (const diagnostics::Diagnostic& finding : findings_[i]) {
                if (!is_called(i)) {
                    program_.diagnostics.add(finding);
                }
            }
        }
    }

  private:
    bool is_called(size_t i) const { return program_.called.count(scripts_[i].get()) != 0; }

    // A call may be in what a script does by itself alone, and not as its callers call it.
    void look_for_caller(size_t i) {
        for (size_t other = 0; !findings_[i].empty() && unchecked_ > 0 && other < scripts_.size();
             ++other) {
            const std::vector<size_t>& mentioned = mentioned_[other];
            bool may_call = !is_checked_[other] &&
                            std::find(mentioned.begin(), mentioned.end(), i) != mentioned.end();
            if (!is_called(i) && may_call) {
                check(other);
            }
        }
    }

    void check(size_t i) {
        const elaborate::Options& options = program_.file_options;
        diagnostics::Diagnostics& said = program_.diagnostics;
        const elaborate::ScriptFunction& script = *scripts_[i];
        unchecked_ -= is_checked_[i] ? 0 : 1;
        is_checked_[i] = true;
        size_t start = said.items().size();
        program_.types.clear();
        bool is_model = elaborate::is_model(program_, script, options);
        if (is_model) {
            (void)elaborate::compile_model(program_, script, options);
        }
        size_t known = program_.types.size();
        if (said.items().size() == start) {
            (void)elaborate::compile_function(program_, script, options);
        }
        if (is_model) {
            program_.types.resize(known);
        }
        take_types(program_, script, types_[i]);
        findings_[i].assign(said.items().begin() + static_cast<std::ptrdiff_t>(start),
                            said.items().end());
        said.truncate(start);
    }

    elaborate::Program& program_;
    Scripts scripts_;
    std::vector<std::vector<size_t>> mentioned_;  // by each script
    std::vector<std::vector<diagnostics::Diagnostic>> findings_;
    std::vector<std::vector<diagnostics::Inlay>> types_;
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
            ScriptCheck(program, *module).run(checked.types);
            lint::lint_file(program, *module);
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
