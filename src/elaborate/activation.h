// Entering and leaving the body of a function.
#pragma once

#include <memory>
#include <utility>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Enters another activation, and comes back to this one.
class ActivationGuard {
  public:
    ActivationGuard(Context& c, std::shared_ptr<Scope> scope, const syntax::Stmts* body)
        : c_(c), before_(std::move(c.at)) {
        before_.calls_in = c.graph;
        c.at = Context::Activation{};
        c.at.caller = &before_;
        c.at.scope = std::move(scope);
        c.at.scope->home = c.graph;
        c.at.body = body;
    }
    ~ActivationGuard() { c_.at = std::move(before_); }
    ActivationGuard(const ActivationGuard&) = delete;
    ActivationGuard& operator=(const ActivationGuard&) = delete;

  private:
    Context& c_;
    Context::Activation before_;
};

// Enters another function of the model, and comes back to this one.
class UnitGuard {
  public:
    UnitGuard(Context& c, Unit& unit) : c_(c), unit_(c.unit), graph_(c.graph) {
        c.unit = &unit;
        c.graph = unit.graph;
        std::swap(c.loop_memos, loop_memos_);
    }
    ~UnitGuard() {
        std::swap(c_.loop_memos, loop_memos_);
        c_.unit = unit_;
        c_.graph = graph_;
    }
    UnitGuard(const UnitGuard&) = delete;
    UnitGuard& operator=(const UnitGuard&) = delete;

  private:
    Context& c_;
    Unit* unit_;
    ir::Graph* graph_;
    Memory<LoopMemos> loop_memos_;
};

// The body of a script in a model that nobody keeps, for what is asked about it: `context` stands
// at its first statement.
class ScratchBody {
  public:
    ScratchBody(Program& program, const ScriptFunction& function, const Options& options)
        : context(program, options, model_),
          unit_(unit_of(function, model_)),
          in_unit_(context, unit_),
          in_body_(context, std::make_shared<Scope>(&function, nullptr),
                   &function.definition->body) {}

  private:
    static Unit unit_of(const ScriptFunction& function, ir::Model& model) {
        model.graph = model.make_graph(nullptr);
        Unit unit;
        unit.function = &function;
        unit.graph = model.graph;
        return unit;
    }

    ir::Model model_;

  public:
    Context context;

  private:
    Unit unit_;
    UnitGuard in_unit_;
    ActivationGuard in_body_;
};

}  // namespace sardonyx::elaborate
