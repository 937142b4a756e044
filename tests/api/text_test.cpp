// Models in forms that are text, in memory and in files.
#include <gtest/gtest.h>
#include <sardonyx/op20.h>
#include <sardonyx/sardonyx.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "complaint.h"

namespace {

using sardonyx::Array;
using sardonyx::Model;
using sardonyx::TextForm;

Model small_model() {
    sardonyx::Builder b(20, "small");
    sardonyx::Expr x = b.input("x", "FLOAT[N, 2]");
    sardonyx::Expr w = b.initializer(Array::of<float>({2}, {0.5f, -2}), "w");
    b.output(sardonyx::op20::Softmax(x * w, {.axis = -1}), "y");
    return b.model();
}

class Folder {
  public:
    Folder()
        : path_(std::filesystem::temp_directory_path() /
                ("sardonyx_text_" + std::to_string(std::random_device()()))) {
        std::filesystem::create_directory(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_;
};

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

constexpr TextForm kForms[] = {TextForm::kOnnxText, TextForm::kJson, TextForm::kTextProto};

// The bytes of the model without its weights, which go to files that their content names. An
// untouched model of a text is written as the text says it, where elements stand one by one in the
// fields of their type: this is one form for all.
std::string written_anew(const Model& model) {
    Folder folder;
    sardonyx::SaveOptions options;
    options.external_bytes = 1;
    model.save(folder / "m.onnx", options);
    return content_of(folder / "m.onnx");
}

TEST(TextForms, GiveTheModelBack) {
    Model model = small_model();
    for (TextForm form : kForms) {
        std::string text = model.to_text(form);
        EXPECT_EQ(written_anew(Model::from_text(text, form)), written_anew(model)) << text;
        EXPECT_EQ(Model::from_text(text, form).to_text(form), text);
    }
    EXPECT_EQ(written_anew(Model::from_text(model.to_text(TextForm::kOnnxText))),
              written_anew(model));
    EXPECT_NE(model.to_text(TextForm::kJson).find("\"ir_version\""), std::string::npos);
    EXPECT_NE(model.to_text(TextForm::kTextProto).find("ir_version:"), std::string::npos);
}

TEST(TextForms, FilesAreOfTheFormThatTheirNamesEndIn) {
    Model model = small_model();
    Folder folder;
    for (const char* name : {"m.onnx", "m.onnxtxt", "m.json", "m.textproto", "m.pbtxt"}) {
        model.save(folder / name);
        EXPECT_EQ(written_anew(Model::load(folder / name)), written_anew(model)) << name;
    }
    EXPECT_EQ(content_of(folder / "m.json"), model.to_text(TextForm::kJson));
    EXPECT_EQ(content_of(folder / "m.onnxtxt"), model.to_text(TextForm::kOnnxText));
    EXPECT_EQ(content_of(folder / "m.textproto"), content_of(folder / "m.pbtxt"));
    EXPECT_EQ(content_of(folder / "m.onnx"), model.serialize());
}

TEST(TextForms, WrongTextsAreErrorsWithAPlace) {
    EXPECT_NE(complaint_of([] { Model::from_text("< ir_version: 10 >\nagraph (float"); }).find("2"),
              std::string::npos);
    EXPECT_NE(
        complaint_of([] { Model::from_text("{\n\"ir_version\": ]", TextForm::kJson); }).find("2"),
        std::string::npos);
    for (TextForm form : kForms) {
        EXPECT_NE(complaint_of([&] { Model::from_text("\xff\x01", form); }), "no error");
    }
    Folder folder;
    std::ofstream(folder / "wrong.json") << "{";
    EXPECT_NE(complaint_of([&] { Model::load(folder / "wrong.json"); }).find("wrong.json"),
              std::string::npos);
}

TEST(TextForms, AFunctionHasNone) {
    sardonyx::CompileOptions options;
    options.as_function = true;
    Model function = sardonyx::compile_text(
        "from sardonyx import opset20 as op, script\n"
        "@script()\n"
        "def twice(x):\n"
        "    return x + x\n",
        "<text>", options);
    EXPECT_NE(complaint_of([&] { (void)function.to_text(TextForm::kJson); }), "no error");
}

}  // namespace
