internal import CLibPQ
internal import Dispatch
internal import Foundation

/// libpq's connection. One thread uses it, and nothing else has its pointer.
///
/// This file, ``PQResult`` and ``SystemCalls`` are the only ones of the library with unsafe code. Each call gets pointers that are
/// valid for the call. What libpq hands out is copied, or belongs to a value that frees it once.
///
/// `@safe`: the pointer is valid until `deinit`, which no copy survives, because there is none.
@safe struct PQConnection: ~Copyable {
    private let pointer: OpaquePointer

    /// Begins to connect.
    /// - Returns: `nil` if libpq has no memory left
    init?(_ parameters: [(keyword: String, value: String)]) {
        let started = unsafe withCStrings(parameters.map(\.keyword)) { keywords in
            unsafe withCStrings(parameters.map(\.value)) { values in unsafe PQconnectStartParams(keywords, values, 1) }
        }
        guard let started = unsafe started else { return nil }
        unsafe pointer = started
    }

    deinit { unsafe PQfinish(pointer) }

    // MARK: State

    var status: ConnStatusType { unsafe PQstatus(pointer) }
    var isIdle: Bool { unsafe PQtransactionStatus(pointer) == PQTRANS_IDLE }
    var serverVersion: Int32 { unsafe PQserverVersion(pointer) }
    var serverProcess: Int32 { unsafe PQbackendPID(pointer) }
    var socket: Int32 { unsafe PQsocket(pointer) }
    var errorMessage: String { unsafe String(cString: PQerrorMessage(pointer)) }

    /// Continues to connect.
    func poll() -> PostgresPollingStatusType { unsafe PQconnectPoll(pointer) }

    func becomeNonblocking() -> Bool { unsafe PQsetnonblocking(pointer, 1) == 0 }
    func enterPipelineMode() -> Bool { unsafe PQenterPipelineMode(pointer) == 1 }
    func exitPipelineMode() -> Bool { unsafe PQexitPipelineMode(pointer) == 1 }

    // MARK: Sending

    /// - Returns: 1 if the socket took only a part, and a negative number if the connection is not usable any more
    func flush() -> Int32 { unsafe PQflush(pointer) }

    func send(script text: String) -> Bool { unsafe PQsendQuery(pointer, text) == 1 }
    func sendSync() -> Bool { unsafe PQpipelineSync(pointer) == 1 }

    func prepare(_ name: String, _ text: String, types: [UInt32]) -> Bool {
        unsafe PQsendPrepare(pointer, name, text, Int32(types.count), types) == 1
    }

    /// - Parameter name: the name under which the statement is prepared; `nil` sends its text
    func send(_ statement: SQL, preparedAs name: String?, types: [UInt32]) -> Bool {
        let parameters = statement.parameters
        let lengths = parameters.slots.map { Int32($0.length ?? 0) }
        let formats = [Int32](repeating: 1, count: types.count)
        return unsafe parameters.bytes.withUnsafeBytes { buffer in
            // An empty buffer has no address, and a null address would be NULL to libpq: an empty value needs another one.
            let base = unsafe buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            let values = unsafe parameters.slots.map { slot in
                unsafe slot.length == nil ? nil : base.map { unsafe ($0 + slot.offset).assumingMemoryBound(to: CChar.self) }
            }
            let count = Int32(types.count)
            if let name { return unsafe PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 1) == 1 }
            return unsafe PQsendQueryParams(pointer, statement.text, count, types, values, lengths, formats, 1) == 1
        }
    }

    // MARK: Receiving

    func consumeInput() -> Bool { unsafe PQconsumeInput(pointer) == 1 }
    var isBusy: Bool { unsafe PQisBusy(pointer) == 1 }

    /// - Returns: `nil` at the end of a command
    func nextResult() -> PQResult? {
        guard let result = unsafe PQgetResult(pointer) else { return nil }
        return unsafe PQResult(result)
    }

    func nextNotification() -> Notification? {
        guard let notification = unsafe PQnotifies(pointer) else { return nil }
        defer { unsafe PQfreemem(notification) }
        return unsafe Notification(
            channel: String(cString: notification.pointee.relname), payload: String(cString: notification.pointee.extra))
    }

    /// Passes the notices to a session, which owns this connection and so lives longer.
    func passNotices(to session: Session) {
        _ = unsafe PQsetNoticeReceiver(
            pointer,
            { session, notice in
                guard let session = unsafe session else { return }
                func field(_ code: Unicode.Scalar) -> String? {
                    unsafe PQresultErrorField(notice, Int32(code.value)).map { unsafe String(cString: $0) }
                }
                unsafe Unmanaged<Session>.fromOpaque(session).takeUnretainedValue().received(
                    severity: field("V"), from: field("R"))
            },
            Unmanaged.passUnretained(session).toOpaque()
        )
    }

    // MARK: COPY

    /// Calls the body with the next row.
    /// - Returns: the number of the row's bytes; 0 if the row has not come yet, and a negative number at the end
    func copyRow(_ body: (RawSpan) -> Void) -> Int32 {
        var data: UnsafeMutablePointer<CChar>?
        let length = unsafe PQgetCopyData(pointer, &data, 1)
        guard length > 0 else { return length }
        defer { unsafe PQfreemem(data) }
        if let data = unsafe data { body(unsafe RawSpan(_unsafeStart: data, byteCount: Int(length))) }
        return length
    }

    func copy(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe PQputCopyData(pointer, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count)) == 1
        }
    }

    func endCopy(error: String?) -> Bool { unsafe PQputCopyEnd(pointer, error) == 1 }

    func makeCancelHandle() -> CancelHandle? {
        guard let cancel = unsafe PQgetCancel(pointer) else { return nil }
        return unsafe CancelHandle(pointer: cancel)
    }
}

/// Cancels the running statement of a connection, from any thread.
/// `@safe`: the pointer is valid until `deinit`, when no reference is left.
/// `@unchecked`: libpq's cancel object is never changed after it was made, and `PQcancel` may be called from any thread.
@safe final class CancelHandle: @unchecked Sendable {
    private let pointer: OpaquePointer

    fileprivate init(pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe PQfreeCancel(pointer) }

    /// Blocks the calling thread for that time at most. `PQcancel` opens a connection and waits, so it has a thread of its own.
    /// - Returns: false if PostgreSQL has not passed the request on within the time: it may still do so later
    @discardableResult
    func cancel(withinSeconds seconds: Double) -> Bool {
        let isPassedOn = DispatchSemaphore(value: 0)
        Thread { [self] in
            var message = [CChar](repeating: 0, count: 256)
            _ = unsafe PQcancel(pointer, &message, Int32(message.count))
            isPassedOn.signal()
        }.start()
        return isPassedOn.wait(timeout: .now() + seconds) == .success
    }
}

extension PostgresConfiguration {
    /// The settings that libpq reads from a URL.
    /// - Returns: `nil` if the URL is none that libpq understands
    static func libpqSettings(of url: String) -> [String: String]? {
        var error: UnsafeMutablePointer<CChar>?
        guard let options = unsafe PQconninfoParse(url, &error) else {
            unsafe PQfreemem(error)
            return nil
        }
        defer { unsafe PQconninfoFree(options) }
        var settings: [String: String] = [:]
        var option = unsafe options
        // An option without a keyword ends the array.
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val { unsafe settings[String(cString: keyword)] = unsafe String(cString: value) }
            unsafe option += 1
        }
        return settings
    }
}

/// Lends the strings as a null-terminated array of C strings.
private func withCStrings<Value>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value) -> Value {
    let copies = unsafe strings.map { unsafe strdup($0) }
    defer { unsafe copies.forEach { unsafe free($0) } }
    let pointers = unsafe copies.map { unsafe $0.map { unsafe UnsafePointer($0) } } + [nil]
    return unsafe pointers.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("an array that ends in nil is not empty") }
        return unsafe body(base)
    }
}
