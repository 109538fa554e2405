public import EventStore
package import HTTP
internal import Logging

/// The modules of humon.
public enum Modules {
    /// The only list: every module, each after the modules that it uses. The server, the doctor, `log verify`, `log import`, the
    /// projections' commands, the demo, the tests and the benchmarks all take the modules from here.
    ///
    /// The list is task-local, so that a test program can run ``Program/main()`` with a further module.
    @TaskLocal package static var all: [Module] = [.users, .events, .attendances, .accounts, .tasks]

    /// What the modules register, from the first use on. Ends the process if the list is wrong.
    public static let registered: [ModuleRegistration] = {
        let modules = all.map(\.registration)
        do { try ModuleRegistration.check(modules) } catch { fatalError("\(error)") }
        return modules
    }()
}
