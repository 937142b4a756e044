// The public interface, through the shared library alone.
#include <gtest/gtest.h>
#include <sardonyx/sardonyx.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

using sardonyx::Array;
using sardonyx::CompileError;
using sardonyx::CompileOptions;
using sardonyx::Model;
using sardonyx::Value;

constexpr const char* kHeader = "from sardonyx import FLOAT, INT64, opset18 as op, script\n";

std::string script(const std::string& body) {
    return kHeader + body;
}

std::string scaled() {
    return script(
        "@script()\n"
        "def scaled(x, factor: float = 2.0):\n"
        "    return op.Mul(x, factor)\n");
}

std::string two_results() {
    return script(
        "@script()\n"
        "def both(x: FLOAT['N', 2], y: FLOAT['N', 2]):\n"
        "    return op.Add(x, y), op.Shape(x)\n");
}

template <typename T>
std::vector<T> numbers(const Value& value) {
    std::span<const T> elements = std::get<Array>(value).elements<T>();
    return {elements.begin(), elements.end()};
}

// The message of the Error that `call` throws.
template <typename Call>
std::string message_of(Call&& call) {
    try {
        call();
    } catch (const sardonyx::Error& error) {
        return error.what();
    }
    return "no error";
}

class TemporaryFile {
  public:
    TemporaryFile() : path_("/tmp/sardonyx_api_test." + std::to_string(::getpid())) {}
    ~TemporaryFile() { std::remove(path_.c_str()); }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

TEST(Array, HoldsElementsOfItsType) {
    Array array = Array::of<int64_t>({2, 2}, {1, 2, 3, 4});
    EXPECT_EQ(array.element_type, "INT64");
    EXPECT_EQ(array.count(), 4);
    EXPECT_EQ(array.elements<int64_t>()[3], 4);
    Array scalar = Array::scalar(2.5F);
    EXPECT_EQ(scalar.elements<float>()[0], 2.5F);
    EXPECT_EQ(scalar.count(), 1);
    EXPECT_EQ(Array::of<bool>({2}, {true, false}).bytes.size(), 2U);
    Array empty = Array::of<double>({0, 7}, {});
    EXPECT_TRUE(empty.elements<double>().empty());
}

TEST(Array, RefusesWhatContradictsItself) {
    EXPECT_EQ(message_of([] {
                  Array::of<float>({3}, {1, 2});
              }),
              "the array has 2 elements, and its dims say 3");
    Array array = Array::scalar(1.0F);
    EXPECT_EQ(message_of([&] { (void)array.elements<int32_t>(); }),
              "the array holds FLOAT, not INT32");
    array.dims = {int64_t{1} << 62, 4};
    EXPECT_EQ(message_of([&] { (void)array.count(); }),
              "the dims of the array are not a valid shape");
}

TEST(Model, TellsWhatItHolds) {
    Model model = sardonyx::compile_text(two_results());
    ASSERT_EQ(model.inputs().size(), 2U);
    EXPECT_EQ(model.inputs()[0].name, "x");
    EXPECT_EQ(model.inputs()[0].type, "FLOAT[N, 2]");
    ASSERT_EQ(model.outputs().size(), 2U);
    EXPECT_EQ(model.outputs()[1].type, "INT64[2]");
    ASSERT_EQ(model.nodes().size(), 2U);
    EXPECT_EQ(model.nodes()[0].op_type, "Add");
    EXPECT_EQ(model.nodes()[0].inputs[1].name, "y");
    EXPECT_NE(model.to_text().find("graph both"), std::string::npos);
    ASSERT_EQ(model.diagnostics().size(), 1U);  // the header imports more than the script needs
    EXPECT_EQ(model.diagnostics()[0].code, "unused-import");
    EXPECT_TRUE(model.functions().empty());
}

TEST(Model, CommentsSilenceItsWarnings) {
    std::string text = two_results();
    text.insert(text.find('\n'), "  # sardonyx: ignore[unused-import]");
    EXPECT_TRUE(sardonyx::compile_text(text).diagnostics().empty());
}

TEST(Model, Evaluates) {
    Model model = sardonyx::compile_text(two_results());
    Array x = Array::of<float>({2, 2}, {1, 2, 3, 4});
    std::vector<Value> results = model.run({{"x", x}, {"y", x}});
    EXPECT_EQ(numbers<float>(results[0]), (std::vector<float>{2, 4, 6, 8}));
    EXPECT_EQ(numbers<int64_t>(results[1]), (std::vector<int64_t>{2, 2}));
    EXPECT_EQ(std::get<Array>(results[0]).dims, (std::vector<int64_t>{2, 2}));
}

TEST(Model, NamesTheInputThatIsWrong) {
    Model model = sardonyx::compile_text(two_results());
    Array x = Array::of<float>({1, 2}, {1, 2});
    EXPECT_NE(message_of([&] { model.run({{"x", x}}); }).find("`y`"), std::string::npos);
    EXPECT_NE(message_of([&] { model.run({{"x", x}, {"z", x}}); }).find("`z`"), std::string::npos);
    Array broken = x;
    broken.bytes.pop_back();
    EXPECT_EQ(message_of([&] {
                  model.run({{"x", broken}, {"y", x}});
              }),
              "`x`: 7 bytes make no FLOAT of this shape, which takes 8");
    broken.element_type = "FLOAT7";
    EXPECT_EQ(message_of([&] {
                  model.run({{"x", broken}, {"y", x}});
              }),
              "`x`: there is no element type `FLOAT7`");
}

TEST(Model, IsTheSameAfterBytesAndFiles) {
    Model model = sardonyx::compile_text(two_results());
    std::string bytes = model.serialize();
    EXPECT_EQ(Model::from_bytes(bytes).serialize(), bytes);
    TemporaryFile file;
    model.save(file.path());
    EXPECT_EQ(Model::load(file.path()).serialize(), bytes);
    Model moved = std::move(model);
    EXPECT_EQ(moved.serialize(), bytes);
}

// A loop of so many steps that nobody waits for its end.
std::string long_loop() {
    return script(
        "@script()\n"
        "def count(x: FLOAT[4], n: INT64):\n"
        "    for i in range(n):\n"
        "        x = x + 1.0\n"
        "    return x\n");
}

TEST(Model, EndsARunByItsTimeout) {
    Model model = sardonyx::compile_text(long_loop());
    Array x = Array::of<float>({4}, {0, 0, 0, 0});
    Array many = Array::of<int64_t>({}, {int64_t{1} << 50});
    sardonyx::RunOptions options;
    options.timeout = 0.05;
    EXPECT_THROW(model.run({{"x", x}, {"n", many}}, options), sardonyx::CancelledError);
    std::vector<Value> results = model.run({{"x", x}, {"n", Array::of<int64_t>({}, {3})}}, options);
    EXPECT_EQ(numbers<float>(results[0])[0], 3);
}

TEST(Model, EndsRunsByTheirToken) {
    Model model = sardonyx::compile_text(long_loop());
    Array x = Array::of<float>({4}, {0, 0, 0, 0});
    Array many = Array::of<int64_t>({}, {int64_t{1} << 50});
    sardonyx::RunOptions options;
    options.cancel.emplace();
    std::thread other([token = *options.cancel]() mutable {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        token.cancel();
    });
    EXPECT_THROW(model.run({{"x", x}, {"n", many}}, options), sardonyx::CancelledError);
    other.join();
    EXPECT_TRUE(options.cancel->is_cancelled());
}

TEST(Model, RefusesBytesThatAreNoModel) {
    EXPECT_NE(message_of([] { Model::from_bytes("\xff\xff\xff"); }), "no error");
    EXPECT_NE(message_of([] { Model::from_bytes(""); }), "no error");
    EXPECT_NE(
        message_of([] { Model::load("/nonexistent/model.onnx"); }).find("/nonexistent/model.onnx"),
        std::string::npos);
}

TEST(Compile, TakesTypesAndAttributes) {
    CompileOptions options;
    options.input_types = {{"x", "DOUBLE[3]"}};
    options.attributes = {{"factor", "3.0"}};
    options.opset = 20;
    Model model = sardonyx::compile_text(scaled(), "scaled.py", options);
    EXPECT_EQ(model.outputs()[0].type, "DOUBLE[3]");
    EXPECT_NE(model.to_text().find("import ai.onnx 20"), std::string::npos);
    Array x = Array::of<double>({3}, {1, 2, 3});
    EXPECT_EQ(numbers<double>(model.run({{"x", x}})[0]), (std::vector<double>{3, 6, 9}));
}

TEST(Compile, TakesGlobalsLibrariesAndMetadata) {
    namespace fs = std::filesystem;
    fs::path folder = fs::temp_directory_path() / "sardonyx_library_path";
    fs::create_directories(folder);
    std::ofstream(folder / "doubling.py") << "def twice(x):\n    return x * 2.0\n";
    CompileOptions options;
    options.library_path = {folder.string()};
    options.globals = {{"W", Array::of<float>({2}, {1, 2})}};
    options.line_metadata = {{5, {{"module", "layer.0"}}}};
    std::string text =
        "from sardonyx import FLOAT, opset18 as op, script\nfrom doubling import twice\n"
        "@script()\ndef f(x: FLOAT[2]):\n    y = x * W\n    return twice(y)\n";
    Model model = sardonyx::compile_text(text, "made.py", options);
    Array x = Array::of<float>({2}, {1, 2});
    EXPECT_EQ(numbers<float>(model.run({{"x", x}})[0]), (std::vector<float>{2, 8}));
    std::string bytes = model.serialize();
    EXPECT_NE(bytes.find("layer.0"), std::string::npos);
    fs::remove_all(folder);
    CompileOptions wrong;
    wrong.line_metadata = {{0, {}}};
    EXPECT_NE(message_of([&] {
                  sardonyx::compile_text(text, "made.py", wrong);
              }).find("lines count from 1"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  sardonyx::compile_text(text, "made.py", options);
              }).find("no module `doubling`"),
              std::string::npos);
}

TEST(Compile, MakesFunctions) {
    CompileOptions options;
    options.as_function = true;
    Model model = sardonyx::compile_text(scaled(), "scaled.py", options);
    EXPECT_EQ(model.functions(), (std::vector<std::string>{"scaled"}));
    EXPECT_FALSE(model.serialize().empty());
    EXPECT_NE(message_of([&] { model.run({}); }), "no error");
}

TEST(Compile, TellsAllMistakes) {
    std::string text = script(
        "@script()\n"
        "def wrong(x: FLOAT['N']):\n"
        "    y = op.Reluu(x)\n"
        "    return y + op.Add(x)\n");
    try {
        sardonyx::compile_text(text, "wrong.py");
        FAIL() << "it compiled";
    } catch (const CompileError& error) {
        ASSERT_EQ(error.diagnostics().size(), 2U);
        EXPECT_EQ(error.diagnostics()[0].code, "unknown-operator");
        EXPECT_EQ(error.diagnostics()[0].locations.at(0).path, "wrong.py");
        EXPECT_EQ(error.diagnostics()[0].locations[0].line, 4U);
        const sardonyx::Diagnostic& first = error.diagnostics()[0];
        const sardonyx::Location& at = first.locations[0];
        EXPECT_EQ(at.end_line, 4U);
        EXPECT_EQ(at.end_column - at.column, at.end - at.begin);
        EXPECT_NE(text.substr(at.begin, at.end - at.begin).find("Reluu"), std::string::npos);
        ASSERT_EQ(first.edits.size(), 1U);
        EXPECT_EQ(first.edits[0].path, "wrong.py");
        EXPECT_EQ(std::string(text).replace(first.edits[0].begin,
                                            first.edits[0].end - first.edits[0].begin,
                                            first.edits[0].replacement),
                  std::string(text).replace(text.find("Reluu"), 5, "Relu"));
        EXPECT_EQ(error.diagnostics()[1].code, "too-few-inputs");
        EXPECT_NE(std::string(error.what()).find("wrong.py:4:"), std::string::npos);
    }
}

TEST(Check, TellsOfAllFiles) {
    TemporaryFile saved;  // no `.py`: read as a model
    std::ofstream(saved.path()) << "no model";
    sardonyx::CheckOptions options;
    options.texts = {{"library.py", script("@script()\ndef twice(x):\n    return x + x\n")},
                     {"wrong.py", script("from library import twice\n"
                                         "@script()\n"
                                         "def wrong(x: FLOAT['N']):\n"
                                         "    return op.Reluu(twice(x))\n")}};
    options.ignore = {"unused-import"};
    std::vector<std::string> said;
    for (const sardonyx::Diagnostic& finding :
         sardonyx::check_files({saved.path(), "/nonexistent/a.py"}, options)) {
        said.push_back(finding.code + "@" +
                       (finding.locations.empty() ? "" : finding.locations[0].path));
    }
    EXPECT_EQ(said, (std::vector<std::string>{"unreadable-file@", "unknown-operator@wrong.py",
                                              "invalid-model@" + saved.path()}));
    options.texts.pop_back();
    EXPECT_TRUE(sardonyx::check_files({}, options).empty());
}

TEST(Check, KnowsOtherDomains) {
    TemporaryFile schemas;
    std::ofstream(schemas.path()) << "domain = \"mine\"\n[[operator]]\nname = \"Pool\"\n"
                                     "inputs = [{ name = \"X\", type = \"FLOAT\" }]\n"
                                     "outputs = [{ name = \"Y\", type = \"FLOAT\" }]\n";
    std::string text =
        "from sardonyx import FLOAT, script\nfrom sardonyx.values import Opset\n"
        "mine = Opset('mine', 1)\n"
        "@script()\ndef f(x: FLOAT['N']) -> FLOAT['N']:\n"
        "    return mine.Poool(x)\n";
    sardonyx::CheckOptions options;
    options.texts = {{"f.py", text}};
    EXPECT_TRUE(sardonyx::check_files({}, options).empty());
    options.schemas = {schemas.path()};
    std::vector<sardonyx::Diagnostic> findings = sardonyx::check_files({}, options);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].code, "unknown-operator");
    CompileOptions compile;
    compile.schemas = {schemas.path()};
    EXPECT_NE(message_of([&] { sardonyx::compile_text(text, "f.py", compile); }).find("`Pool`"),
              std::string::npos);
}

TEST(Compile, TellsWhatIsNotThere) {
    EXPECT_NE(
        message_of([] { sardonyx::compile_file("/nonexistent/a.py"); }).find("/nonexistent/a.py"),
        std::string::npos);
    EXPECT_NE(message_of([] { sardonyx::compile_text("x = 1\n"); }).find("has no scripts"),
              std::string::npos);
    CompileOptions options;
    options.function = "other";
    EXPECT_NE(message_of([&] {
                  sardonyx::compile_text(scaled(), "a.py", options);
              }).find("it has `scaled`"),
              std::string::npos);
    options.function.clear();
    options.input_types = {{"x", "FLOATS"}};
    EXPECT_NE(message_of([&] {
                  sardonyx::compile_text(scaled(), "a.py", options);
              }).find("`FLOATS` is not a type"),
              std::string::npos);
}

}  // namespace
