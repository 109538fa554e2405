public import EventStore
package import HTTP

extension Module {
    /// The only list: every module of humon, each after the modules that it uses. The server, the doctor, `log verify`, `log import`, the
    /// projections' commands, the demo, the tests and the benchmarks all take the modules from here.
    ///
    /// The list is task-local, so that a test program can run ``Program/main()`` with a further module.
    @TaskLocal package static var all: [Module] = [.users, .events, .attendances, .accounts, .tasks]
}

extension StoredModule {
    /// What the modules of ``HTTP/Module/all`` store, from the first use on.
    public static let all = Module.all.map(\.stored)
}
