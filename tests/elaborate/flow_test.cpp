// What texts do, without running them.
#include "elaborate/flow/bindings.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/flow/effects.h"
#include "elaborate/flow/grown_names.h"

#include "elaborated.h"

namespace sardonyx::elaborate {
namespace {

Elaborated of(const std::string& lines) {
    std::string body;
    for (size_t at = 0; at < lines.size();) {
        size_t end = lines.find('\n', at);
        body += "    " + lines.substr(at, end - at) + "\n";
        at = end == std::string::npos ? lines.size() : end + 1;
    }
    return Elaborated("@script()\ndef f(x, y):\n" + body);
}

TEST(BlockFacts, AJumpOnEveryPath) {
    EXPECT_TRUE(always_jumps(of("return x").body()));
    EXPECT_TRUE(always_jumps(of("if x:\n    return x\nelse:\n    raise ValueError").body()));
    EXPECT_FALSE(always_jumps(of("if x:\n    return x").body()));
    EXPECT_FALSE(always_jumps(of("for i in x:\n    return i").body()));
}

TEST(BlockFacts, ReturnsAndBreaksThatMayHappen) {
    EXPECT_TRUE(may_return(of("for i in x:\n    if i:\n        return i").body()));
    EXPECT_FALSE(may_return(of("def g():\n    return x\ny = g").body()));
    EXPECT_TRUE(may_break(of("if x:\n    break").body()));
    EXPECT_FALSE(may_break(of("for i in x:\n    break").body()));  // out of the inner loop
}

TEST(BlockFacts, NamesInTheOrderOfTheirFirstAssignment) {
    Elaborated made = of("b = x\nif x:\n    a = b\n    b = a\nfor c, d in y:\n    pass");
    EXPECT_EQ(made.texts(assigned_names(made.body())), (Texts{"b", "a", "c", "d"}));
    Elaborated nested = of("def g():\n    a = 1\nb = [c for c in x]");
    Texts names = nested.texts(assigned_names(nested.body()));
    EXPECT_EQ(std::count(names.begin(), names.end(), "a"), 0);
    EXPECT_EQ(std::count(names.begin(), names.end(), "b"), 1);
}

TEST(BlockFacts, WhetherANameIsRead) {
    Elaborated made = of("a = x\nb = a\nreturn b");
    Symbol a = assigned_names(made.body())[0];
    uint32_t first = made.body()[0]->range.end;
    uint32_t second = made.body()[1]->range.end;
    EXPECT_TRUE(is_live(made.context(), a, first));
    EXPECT_FALSE(is_live(made.context(), a, second));
    EXPECT_TRUE(is_local(made.context(), made.script(), a));
    std::optional<syntax::Range> last = last_assignment(made.body(), a);
    ASSERT_TRUE(last);
    EXPECT_EQ(made.context().source(*last), "a");
}

// What the block binds in the ways `kWanted`, in the order of the text.
template <unsigned kWanted>
Texts bound(Elaborated& made) {
    std::vector<Symbol> names;
    auto see = [&names](const Bound& one) { names.push_back(one.name); };
    each_binding<kWanted>(&made.context().tree().names, made.body(), see);
    return made.texts(names);
}

TEST(Bindings, EveryKindOfStatement) {
    Elaborated made =
        of("a = x\n(b, *c), d[0] = y\ne += x\nf: int = 1\ng: int\nfor h, i in x:\n    j = h\n"
           "with x as k:\n    pass\ndel l\nimport m, n.o, p as q\ndef r(s):\n    t = 1\n"
           "class u:\n    v = 1\n");
    EXPECT_EQ(bound<binds::kTarget>(made), (Texts{"a", "b", "c", "e", "f", "h", "i", "j", "k"}));
    EXPECT_EQ(bound<binds::kItem>(made), (Texts{"d"}));
    EXPECT_EQ(bound<binds::kDeclared>(made), (Texts{"g"}));
    EXPECT_EQ(bound<binds::kDeleted>(made), (Texts{"l"}));
    EXPECT_EQ(bound<binds::kImport>(made), (Texts{"m", "q"}));
    EXPECT_EQ(bound<binds::kDefinition>(made), (Texts{"r", "u"}));
}

TEST(Bindings, HeadsOfMatchAndTry) {
    Elaborated made =
        of("match x:\n    case [a, *b]:\n        c = a\n    case {1: d, **e}:\n        pass\n"
           "    case int() as f:\n        pass\ntry:\n    g = 1\nexcept ValueError as h:\n"
           "    pass");
    EXPECT_EQ(bound<binds::kHead>(made), (Texts{"a", "b", "e", "d", "f", "h"}));
    EXPECT_EQ(bound<binds::kTarget>(made), (Texts{"c", "g"}));
}

TEST(Bindings, NamedExpressionsButThoseOfLambdas) {
    Elaborated made =
        of("y = (a := x) + [(b := i) for i in x][0]\nwhile (c := x):\n    pass\n"
           "d = lambda n=(e := 1): (g := n)");
    EXPECT_EQ(bound<binds::kNamed>(made), (Texts{"b", "a", "c", "e"}));
}

TEST(Bindings, GlobalOnesAreNotTheFunctions) {
    Elaborated made = of("global a\na = 1\nb = 2\nwith x as c:\n    pass");
    const syntax::Tree& tree = made.context().tree();
    SymbolSet own =
        own_names<binds::kOwn>(tree, *made.script().definition->parameters, made.body());
    for (const char* name : {"b", "c", "x", "y"}) {
        EXPECT_TRUE(own.contains(syntax::find_name(tree.names, name))) << name;
    }
    EXPECT_FALSE(own.contains(syntax::find_name(tree.names, "a")));
}

TEST(GrownNames, AppendExtendAndSums) {
    Elaborated made =
        of("a.append(x)\nif x:\n    b += [y]\nfor i in x:\n    c = c + [i]\nd.extend(y)\n"
           "e.insert(0, x)\nf = g + [x]");
    EXPECT_EQ(made.texts(grown_names(made.context(), made.body())), (Texts{"a", "b", "c", "d"}));
}

// What a statement at the top of a file may change and bind.
Effects effects_in(Elaborated& made) {
    const syntax::Stmt* last = nullptr;
    for (const syntax::Stmt* one : made.module().tree().body) {
        last = one;
    }
    return effects_of(made.module().tree(), last,
                      [](Symbol) -> std::optional<Object> { return std::nullopt; });
}

Flow flow_of(Elaborated& made, const Effects& effects, const std::string& name) {
    Flow most = Flow::kRead;
    for (const Touch& touch : effects.touches) {
        if (made.module().tree().names.text(touch.name) == name && most < touch.flow) {
            most = touch.flow;
        }
    }
    return most;
}

TEST(Effects, AnUnknownFunctionMayChangeItsArguments) {
    Elaborated made("shown = change(items, len(others))\n");
    Effects effects = effects_in(made);
    EXPECT_EQ(made.texts(effects.binds), (Texts{"shown"}));
    EXPECT_EQ(flow_of(made, effects, "items"), Flow::kChanged);
    EXPECT_EQ(flow_of(made, effects, "others"), Flow::kRead);
    EXPECT_FALSE(effects.may_do_anything);
}

TEST(Effects, TextThatIsRunMayDoAnything) {
    Elaborated made("exec(text)\n");
    EXPECT_TRUE(effects_in(made).may_do_anything);
}

}  // namespace
}  // namespace sardonyx::elaborate
