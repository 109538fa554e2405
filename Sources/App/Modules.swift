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

    /// What the modules register, from the first use on.
    public static let registered = all.map(\.stored)
}
