#if PostgreSQL
import CLibPQ
import Foundation

/// A connection to PostgreSQL. It is used on one thread.
///
/// Once an error says that the connection is lost, it fails at once with every further statement: libpq goes on saying
/// that all is well after some of these errors.
final class PostgreSQLConnection: SQLConnection {
    /// The kinds of transactions.
    enum Isolation: Sendable {
        case serializable, readCommitted
        /// A read on one snapshot.
        case snapshot

        fileprivate var command: String {
            switch self {
            case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE, READ WRITE"
            case .readCommitted: "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE"
            case .snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
            }
        }
    }

    private let connection: OpaquePointer
    private let settings: PostgreSQLSettings
    private let columns: [String: String]
    private let isEnding: @Sendable () -> Bool
    /// The sources of the kept statements by their texts.
    private var sources: [String: PostgreSQLSource] = [:]
    /// The number of plans that the server keeps for this connection.
    private(set) var planCount = 0
    private var uses = 0
    private var names = 0
    /// The first error of the transaction, which is also that of its end.
    private var transactionError: PostgreSQLError?
    /// A Boolean value that indicates whether the last transaction has begun.
    private(set) var hasBegun = false
    /// The error after which the connection is of no more use.
    private(set) var loss: PostgreSQLError?

    /// Connects to the first of the servers that takes writes, which waits at most ``PostgreSQLSettings`` say.
    /// - Parameters:
    ///   - columns: The known names of columns by their names in lower case.
    ///   - isEnding: A function that returns whether no further statement begins. It is called before each of them.
    /// - Throws: ``PostgreSQLError`` of the kind `unavailable`.
    init(
        _ settings: PostgreSQLSettings,
        columns: [String: String] = [:],
        isEnding: @escaping @Sendable () -> Bool = { false }
    ) throws {
        guard let connection = PQconnectdb(settings.connectionString) else {
            throw PostgreSQLError.unavailable("there is no memory for a connection")
        }
        (self.connection, self.settings, self.columns, self.isEnding) = (connection, settings, columns, isEnding)
        // Without this, libpq writes notices to the standard error.
        _ = PQsetNoticeReceiver(connection, { _, _ in }, nil)
        guard PQstatus(connection) == CONNECTION_OK else {
            throw PostgreSQLError.unavailable("\(settings) cannot be reached: \(self.lastMessage)")
        }
        guard PQsetnonblocking(connection, 1) == 0 else { throw PostgreSQLError.unavailable(self.lastMessage) }
        if settings.namesStatements { try self.command(settings.timeoutCommands(isLocal: false)) }
    }

    deinit { PQfinish(self.connection) }

    var attributes: AttributeColumns { .ofOneTypeEach }

    // The statements.

    func prepare(_ sql: String, isKept: Bool) throws -> any SQLStatement {
        if let loss { throw loss }
        let source: PostgreSQLSource
        if isKept, let known = self.sources[sql] {
            source = known
        } else {
            source = PostgreSQLSource(
                PostgreSQLText(sql, columns: self.columns),
                isKept: isKept && self.settings.namesStatements
            )
            if isKept { self.keep(source, for: sql) }
        }
        self.uses += 1
        source.lastUse = self.uses
        return PostgreSQLStatement(source, of: self)
    }

    func hasTable(_ name: String) throws -> Bool {
        try self.hasRow(
            sql: """
                SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = lower(?)
                """,
            [name]
        )
    }

    func primaryKeyColumns(of table: String) throws -> [String] {
        let sql = """
            SELECT attname FROM pg_catalog.pg_index
            JOIN unnest(indkey::int2[]) WITH ORDINALITY AS part (number, place) ON true
            JOIN pg_catalog.pg_attribute ON attrelid = indrelid AND attnum = number
            WHERE indisprimary AND indrelid = to_regclass(?) ORDER BY place
            """
        let names: [String] = try self.values(sql: sql, [table])
        return names.map { self.columns[$0] ?? $0 }
    }

    func hasEnded(after error: any Error) -> Bool {
        self.loss != nil || PQtransactionStatus(self.connection) != PQTRANS_INTRANS
    }

    func attempt<Value>(_ body: () throws -> Value) throws -> Value {
        let earlier = self.transactionError
        self.transactionError = nil
        defer { self.transactionError = self.transactionError ?? earlier }
        try self.command("SAVEPOINT attempt")
        do {
            let value = try body()
            try self.command("RELEASE SAVEPOINT attempt")
            return value
        } catch {
            if self.transactionError?.endsTransaction != true {
                try self.command("ROLLBACK TO SAVEPOINT attempt; RELEASE SAVEPOINT attempt")
                self.transactionError = nil
            }
            throw error
        }
    }

    /// Keeps a source. If there are too many, those that have not been used for the longest time are forgotten.
    private func keep(_ source: PostgreSQLSource, for sql: String) {
        let maximum = self.settings.maximumStatements
        if self.sources.count >= maximum || self.planCount >= maximum {
            let oldest = self.sources.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(max(1, maximum / 4))
            let names = oldest.flatMap { $0.value.plans.map(\.name) }.filter { !$0.isEmpty }
            // A failed transaction takes no further command, and also prepares nothing.
            guard (try? self.command(names.map { "DEALLOCATE \($0)" }.joined(separator: ";"))) != nil else { return }
            for (text, source) in oldest {
                // A statement that still uses the source goes on without a name.
                (source.plans, source.isKept) = ([], false)
                self.sources[text] = nil
            }
            self.planCount -= names.count
        }
        self.sources[sql] = source
    }

    /// Returns the plan of a statement whose parameters take the values. The server prepares it if there is none.
    func plan(_ source: PostgreSQLSource, for values: [SQLValue]) throws -> PostgreSQLPlan {
        try self.encode(source, values).plan
    }

    private func encode(
        _ source: PostgreSQLSource,
        _ values: [SQLValue]
    ) throws -> (plan: PostgreSQLPlan, parameters: PostgreSQLParameters, isNew: Bool) {
        for plan in source.plans {
            if let parameters = PostgreSQLParameters(values, plan.parameterTypes) { return (plan, parameters, false) }
        }
        let plan = try self.prepare(source, for: values)
        guard let parameters = PostgreSQLParameters(values, plan.parameterTypes) else { throw SQLArgumentError() }
        return (plan, parameters, true)
    }

    private func prepare(_ source: PostgreSQLSource, for values: [SQLValue]) throws -> PostgreSQLPlan {
        let types = values.enumerated().map { index, value in
            source.text.hasParameter(index + 1) ? PostgreSQLParameters.declaredType(value) : PostgreSQLType.text
        }
        var name = ""
        if source.isKept {
            self.names += 1
            name = "m\(String(Self.hash(source.text.sql), radix: 16))_\(self.names)"
        }
        _ = try self.answer { PQsendPrepare($0, name, source.text.sql, Int32(types.count), types) }
        let description = try self.answer { PQsendDescribePrepared($0, name) }
        let plan = PostgreSQLPlan(
            name: name,
            parameterTypes: description.parameterTypes,
            columnNames: description.columnNames
        )
        source.plans.append(plan)
        if source.isKept { self.planCount += 1 }
        return plan
    }

    func execute(_ source: PostgreSQLSource, _ values: [SQLValue]) throws -> PostgreSQLResult {
        guard !self.isEnding() else { throw StoreError.ending }
        let (plan, parameters, isNew) = try self.encode(source, values)
        return try parameters.withArguments { count, values, lengths, formats in
            try self.answer(mayBeOutdated: !isNew) { connection in
                let sql = source.text.sql
                return plan.name.isEmpty
                    ? PQsendQueryParams(connection, sql, count, plan.parameterTypes, values, lengths, formats, 1)
                    : PQsendQueryPrepared(connection, plan.name, count, values, lengths, formats, 1)
            }
        }
    }

    /// Returns the FNV-1a hash of a text, which is the same in every process, so that the server's logs and views
    /// tell which statement it is.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
    }

    // Transactions.

    /// Runs commands without parameters and results, which a semicolon separates.
    @discardableResult
    func command(_ sql: String) throws -> PostgreSQLResult { try self.answer { PQsendQuery($0, sql) } }

    /// Adds rows with a command `COPY … FROM STDIN`.
    /// - Parameter rows: The whole data, in the format that the command names.
    func copy(_ sql: String, _ rows: [UInt8]) throws {
        _ = try self.answer(copying: rows) { PQsendQuery($0, sql) }
    }

    /// Runs `body` in a transaction. An error leaves the connection without one, or lost.
    /// - Parameter limit: The maximum time of a statement, if it is shorter than that of the settings.
    /// - Throws: The error of `body`, or the ``PostgreSQLError`` that has ended the transaction before, whatever `body`
    ///   has made of it. If it is ``PostgreSQLError/isCommitUnknown``, the transaction may be committed.
    func transaction<Value>(
        _ isolation: Isolation,
        within limit: Duration? = nil,
        _ body: (any SQLConnection) throws -> Value
    ) throws -> Value {
        (self.transactionError, self.hasBegun) = (nil, false)
        do {
            try self.begin(isolation, within: limit)
            self.hasBegun = true
            let value = try body(self)
            try self.commit(isolation)
            return value
        } catch {
            let first = self.transactionError
            self.rollback()
            if let first, first.endsTransaction { throw first }
            throw error
        }
    }

    private func begin(_ isolation: Isolation, within limit: Duration?) throws {
        // Behind a pooler, the settings of a session would be those of another's.
        var timeouts = self.settings.namesStatements ? "" : ";\(self.settings.timeoutCommands(isLocal: true))"
        if let limit, limit < self.settings.statementTimeout {
            // 0 would be no limit.
            timeouts += ";SET LOCAL statement_timeout = \(max(1, Int(limit / .milliseconds(1))))"
        }
        try self.command(isolation.command + timeouts)
    }

    private func commit(_ isolation: Isolation) throws {
        let wasLost = self.loss != nil
        do {
            let result = try self.command("COMMIT")
            // A transaction that has failed is rolled back, which is no error of the command.
            guard result.command == "COMMIT" else {
                throw self.transactionError ?? PostgreSQLError(kind: .other, message: "the transaction was rolled back")
            }
        } catch var error as PostgreSQLError {
            error.isCommitUnknown = error.kind == .unavailable && !wasLost && isolation != .snapshot
            self.transactionError = error
            throw error
        }
    }

    /// Ends the transaction, also after an error. If that fails, the connection is lost, and the server ends it.
    private func rollback() {
        guard self.loss == nil else { return }
        do { try self.command("ROLLBACK") } catch {
            self.loss = self.loss ?? .unavailable("the transaction could not be rolled back")
        }
    }

    // The wire.

    /// Returns whether the server has sent nothing since the last answer. If it has ended the connection, that end has come.
    var isQuiet: Bool {
        var descriptor = pollfd(fd: PQsocket(self.connection), events: Int16(POLLIN), revents: 0)
        return descriptor.fd >= 0 && poll(&descriptor, 1, 0) == 0
    }

    private var lastMessage: String {
        String(cString: PQerrorMessage(self.connection)).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Sends a command, and waits for its answer.
    /// - Parameters:
    ///   - mayBeOutdated: Whether it uses a plan from before, whose tables may have changed since.
    ///   - rows: The data of a `COPY`, or `nil` for any other command.
    private func answer(
        mayBeOutdated: Bool = false,
        copying rows: [UInt8]? = nil,
        _ send: (OpaquePointer) -> Int32
    ) throws -> PostgreSQLResult {
        if let loss { throw loss }
        do {
            guard send(self.connection) == 1 else { throw PostgreSQLError.unavailable(self.lastMessage) }
            return try self.receive(copying: rows)
        } catch var error as PostgreSQLError {
            // Another result than that of the plan, or no plan of this name: a new connection knows neither.
            let isOutdated = error.state == "0A000" && mayBeOutdated || error.state == "26000"
            if isOutdated { error.kind = .serialization }
            self.transactionError = self.transactionError ?? error
            if isOutdated || error.endsConnection || PQstatus(self.connection) != CONNECTION_OK { self.loss = error }
            throw error
        }
    }

    /// Waits for all results of a command, and returns the last one.
    /// - Throws: The first error among them.
    private func receive(copying rows: [UInt8]?) throws -> PostgreSQLResult {
        // A server that hangs does not keep to its own limit.
        let end = ContinuousClock.now + self.settings.longestAnswer
        try self.flush(until: end)
        var (last, failure): (PostgreSQLResult?, PostgreSQLError?)
        while true {
            while PQisBusy(self.connection) == 1 { try self.wait(POLLIN, until: end) }
            guard let result = PQgetResult(self.connection).map(PostgreSQLResult.init) else { break }
            last = result
            switch result.status {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
            case PGRES_COPY_IN where rows != nil: try self.send(rows ?? [], until: end)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                throw PostgreSQLError.unavailable("a statement has begun a COPY")
            default: failure = failure ?? PostgreSQLError(result)
            }
        }
        if let failure { throw failure }
        guard let last else { throw PostgreSQLError.unavailable(self.lastMessage) }
        return last
    }

    /// Sends the data of a `COPY` that has begun.
    private func send(_ rows: [UInt8], until end: ContinuousClock.Instant) throws {
        var rest = rows[...]
        while !rest.isEmpty {
            let part = rest.prefix(1 << 20)
            let sent = part.withUnsafeBytes { bytes in
                let start = bytes.assumingMemoryBound(to: CChar.self).baseAddress
                return PQputCopyData(self.connection, start, Int32(bytes.count))
            }
            guard sent == 1 else { throw PostgreSQLError.unavailable(self.lastMessage) }
            try self.flush(until: end)
            rest = rest.dropFirst(part.count)
        }
        guard PQputCopyEnd(self.connection, nil) == 1 else { throw PostgreSQLError.unavailable(self.lastMessage) }
        try self.flush(until: end)
    }

    private func flush(until end: ContinuousClock.Instant) throws {
        while true {
            switch PQflush(self.connection) {
            case 0: return
            case 1: try self.wait(POLLIN | POLLOUT, until: end)
            default: throw PostgreSQLError.unavailable(self.lastMessage)
            }
        }
    }

    /// Waits until the socket is ready, and reads what has come.
    private func wait(_ events: Int32, until end: ContinuousClock.Instant) throws {
        var descriptor = pollfd(fd: PQsocket(self.connection), events: Int16(events), revents: 0)
        guard descriptor.fd >= 0 else { throw PostgreSQLError.unavailable("the connection is closed") }
        let rest = (end - .now) / .milliseconds(1)
        guard rest > 0, poll(&descriptor, 1, Int32(min(rest.rounded(.up), 3_600_000))) != 0 else {
            throw PostgreSQLError.unavailable("the server has not answered within \(self.settings.longestAnswer)")
        }
        // An interrupted wait is repeated by the caller.
        guard Int32(descriptor.revents) & ~POLLOUT != 0 else { return }
        guard PQconsumeInput(self.connection) == 1 else { throw PostgreSQLError.unavailable(self.lastMessage) }
    }
}
#endif
