// A script and the state in which its parts are elaborated, for tests of single rooms.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "elaborate/elaborate.h"
#include "elaborate/files/module.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The script is the last one of the file.
class Elaborated {
  public:
    explicit Elaborated(const std::string& text) : program_(nullptr) {
        module_ = load_text(program_, "file.py",
                            "from sardonyx import FLOAT, opset23 as op, script\n" + text);
        scripts_ = scripts(*module_);
        context_ = std::make_unique<Context>(program_, options_, model_);
        context_->unit = &unit_;
        if (!scripts_.empty()) {
            context_->at.scope = std::make_shared<Scope>(scripts_.back().get(), nullptr);
            context_->at.body = &scripts_.back()->definition->body;
        }
    }
    Context& context() { return *context_; }
    Program& program() { return program_; }
    FileModule& module() { return *module_; }
    const ScriptFunction& script() const { return *scripts_.back(); }
    syntax::Stmts body() const { return script().definition->body; }

    std::vector<std::string> texts(const std::vector<Symbol>& names) const {
        std::vector<std::string> all;
        for (Symbol name : names) {
            all.emplace_back(module_->tree().names.text(name));
        }
        return all;
    }
    std::vector<std::string> codes() const {
        std::vector<std::string> all;
        for (const diagnostics::Diagnostic& one : program_.diagnostics.items()) {
            all.emplace_back(one.kind->code);
        }
        return all;
    }

  private:
    Program program_;
    Options options_;
    ir::Model model_;
    Unit unit_;
    FileModule* module_ = nullptr;
    std::vector<std::shared_ptr<ScriptFunction>> scripts_;
    std::unique_ptr<Context> context_;
};

using Texts = std::vector<std::string>;

}  // namespace sardonyx::elaborate
