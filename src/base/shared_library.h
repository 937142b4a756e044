// Libraries that are optional at run time: loaded when their first function is needed.
#pragma once

namespace sardonyx {

// A shared library by the name that the dynamic linker knows ("libwebp.so.7"). It stays loaded: the
// functions it gave are used until the process ends.
class SharedLibrary {
  public:
    explicit SharedLibrary(const char* name);

    bool is_loaded() const { return handle_ != nullptr; }
    // Null where the library is missing or has no such function.
    void* find(const char* symbol) const;

  private:
    void* handle_ = nullptr;
};

// One function of a library, with the type that its header declares:
// `LibraryFunction<decltype(&WebPFree)> release(library, "WebPFree")`.
template <typename Function>
class LibraryFunction {
  public:
    LibraryFunction(const SharedLibrary& library, const char* symbol)
        : function_(reinterpret_cast<Function>(library.find(symbol))) {}

    explicit operator bool() const { return function_ != nullptr; }
    template <typename... Arguments>
    auto operator()(Arguments... arguments) const {
        return function_(arguments...);
    }

  private:
    Function function_;
};

}  // namespace sardonyx
