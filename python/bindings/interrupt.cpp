#include "bindings/interrupt.h"

#include <atomic>
#include <cmath>

namespace sardonyx::python {

namespace {

nb::handle g_cancelled;
// The thread in which Python handles signals; 0: not determined yet, because that needs an import.
std::atomic<unsigned long> g_main_thread = 0;

// Threads may set it while others read it.
struct CancelToken {
    std::atomic<bool> is_cancelled = false;
};

// Called before the run, not when signals are checked: the import would raise a pending exception.
void find_main_thread() {
    nb::object main = nb::module_::import_("threading").attr("main_thread")();
    g_main_thread = nb::cast<unsigned long>(main.attr("ident"));
}

}  // namespace

RunInterrupt::RunInterrupt() {
    if (g_main_thread.load(std::memory_order_relaxed) == 0) [[unlikely]] {
        find_main_thread();
    }
    interrupt_.set_check(check_signals, this);
}

void RunInterrupt::set_limits(nb::handle timeout, nb::handle cancel) {
    if (!timeout.is_none()) {
        double seconds = float_from_python(timeout);
        if (std::isnan(seconds) || seconds < 0) {
            raise(PyExc_ValueError, "`timeout` must be a number of seconds, not negative");
        }
        interrupt_.set_timeout(seconds);
    }
    if (!cancel.is_none()) {
        interrupt_.set_token(&nb::cast<CancelToken&>(cancel).is_cancelled);
    }
}

bool RunInterrupt::check_signals(void* self) {
    if (PyThread_get_thread_ident() != g_main_thread) {
        return false;  // Python handles signals elsewhere
    }
    PyGILState_STATE state = PyGILState_Ensure();
    bool has_raised = PyErr_CheckSignals() != 0;
    if (has_raised) {
        // The exception is set aside: objects that are released before the run ends may call
        // Python.
        static_cast<RunInterrupt*>(self)->raised_.emplace();
    }
    PyGILState_Release(state);
    return has_raised;
}

void RunInterrupt::raise_if_stopped() {
    if (raised_.has_value()) {
        raised_->restore();
        throw nb::python_error();
    }
    SDX_CHECK(interrupt_.is_stopped());
    bool is_late = interrupt_.reason() == eval::Interrupt::Reason::kLate;
    raise(is_late ? nb::handle(PyExc_TimeoutError) : g_cancelled, interrupt_.error().message);
}

void bind_interrupt(nb::module_& m) {
    g_cancelled = nb::handle(PyErr_NewExceptionWithDoc("sardonyx.CancelledError",
                                                       "A run was ended by its CancelToken.",
                                                       eval_error().ptr(), nullptr));
    m.attr("CancelledError") = g_cancelled;
    nb::class_<CancelToken>(m, "CancelToken",
                            "Ends runs from another thread: `model.run(inputs, cancel=token)`.")
        .def(nb::init<>())
        .def(
            "cancel", [](CancelToken& self) { self.is_cancelled = true; },
            "Ends the runs that use the token, also those that start later.")
        .def_prop_ro("is_cancelled",
                     [](const CancelToken& self) { return self.is_cancelled.load(); });
    // The thread that forks is the main thread of the child.
    nb::dict after_fork;
    after_fork["after_in_child"] = nb::cpp_function([] { g_main_thread = 0; });
    nb::module_::import_("os").attr("register_at_fork")(**after_fork);
}

}  // namespace sardonyx::python
