// What is tried and taken back leaves nothing.
#include "elaborate/emit/trial.h"

#include "elaborate/emit/emitter.h"
#include "elaborate/flow/block_facts.h"
#include "elaborated.h"

namespace sardonyx::elaborate {
namespace {

class Trials : public testing::Test {
  protected:
    Trials() : name_(assigned_names(made_.body())[0]) {
        unit_.graph = c_.graph = c_.model.make_graph(nullptr);
        c_.unit = &unit_;
        c_.at.scope->set(name_, Object::integer(1));
    }
    ~Trials() override { c_.unit = nullptr; }

    // Something of each kind.
    void change() {
        EXPECT_NE(Emitter(c_, {0, 1}).int64s({1, 2}), nullptr);
        c_.at.scope->set(name_, Object::integer(2));
        list_.items().push_back(Object::integer(2));
        log_change(c_, list_, [](const Object& list) { list.items().pop_back(); });
        c_.report(kUnknownName, {0, 1}, "said");
        c_.program.types.push_back({c_.span({0, 1}), "INT64"});
        ++c_.fresh_dims;
        c_.loop_inputs.emplace_back(nullptr, nullptr);
    }
    void expect_state(size_t count) {
        EXPECT_EQ(c_.at.scope->find(name_)->as_int(), static_cast<int64_t>(count) + 1);
        EXPECT_EQ(list_.items().size(), count + 1);
        EXPECT_EQ(c_.changes.size(), count);
        EXPECT_EQ(made_.codes().size(), count);
        EXPECT_EQ(c_.program.types.size(), count);
        EXPECT_EQ(c_.fresh_dims, static_cast<int>(count));
        EXPECT_EQ(c_.loop_inputs.size(), count);
    }

    Elaborated made_{"@script()\ndef f(x):\n    y = x\n    return y\n"};
    Context& c_ = made_.context();
    Unit unit_;
    Symbol name_;
    Object list_ = Object::list({Object::integer(1)});
};

TEST_F(Trials, TakenBack) {
    {
        Trial trial(c_);
        change();
        EXPECT_TRUE(trial.has_changed_objects());
        trial.take_back();
    }
    EXPECT_EQ(c_.graph->last_node(), nullptr);
    expect_state(0);
    // A constant that is gone is not taken for one that is there.
    EXPECT_NE(Emitter(c_, {0, 1}).int64s({1, 2}), nullptr);
    EXPECT_NE(c_.graph->last_node(), nullptr);
}

TEST_F(Trials, KeptWhereNothingElseIsSaid) {
    { Trial trial(c_); }
    {
        Trial trial(c_);
        change();
    }
    EXPECT_NE(c_.graph->last_node(), nullptr);
    expect_state(1);
}

// Copies of what is changed again and again would fill the memory.
TEST_F(Trials, KeepsNoCopiesOutside) {
    change();
    EXPECT_EQ(c_.changes.back().take_back, nullptr);
    log_replacement(c_, list_);
    EXPECT_EQ(c_.changes.back().take_back, nullptr);
    {
        Trial trial(c_);
        log_replacement(c_, list_);
        list_.items().clear();
        EXPECT_NE(c_.changes.back().take_back, nullptr);
        { Trial inner(c_); }
        EXPECT_NE(c_.changes.back().take_back, nullptr);
    }
    EXPECT_EQ(c_.changes.back().take_back, nullptr);
    EXPECT_TRUE(list_.items().empty());
}

// Copying is work, which the limit of steps bounds.
TEST_F(Trials, CopiesAreSteps) {
    list_.items().assign(8000, Object::integer(1));
    int64_t before = c_.steps;
    Trial trial(c_);
    log_replacement(c_, list_);
    EXPECT_EQ(c_.steps - before, 1000);
}

TEST_F(Trials, InAGraphOfItsOwn) {
    ir::Graph* around = c_.graph;
    ir::Graph* inner = c_.model.make_graph(around);
    Trial trial(c_);
    EXPECT_NE(Emitter(c_, {0, 1}).int64s({3}), nullptr);  // what stands around stays
    c_.graph = inner;
    change();
    c_.graph = around;
    trial.take_back(*inner);
    EXPECT_EQ(inner->last_node(), nullptr);
    EXPECT_NE(around->last_node(), nullptr);
    expect_state(0);
}

TEST_F(Trials, OneInAnother) {
    Trial outer(c_);
    {
        Trial inner(c_);
        change();
        inner.keep();
    }
    outer.take_back();
    EXPECT_EQ(c_.graph->last_node(), nullptr);
    expect_state(0);
}

}  // namespace
}  // namespace sardonyx::elaborate
