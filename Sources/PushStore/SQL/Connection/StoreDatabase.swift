import PushTypes

/// The database of a store, by an engine that manages its connections.
///
/// A failed transaction changes nothing, with one exception: a connection that is lost during the commit leaves unknown
/// whether the server commits, also later. The error is then ``StoreError/unavailable(why:)``, as if there had been no
/// connection, and the caller repeats the call or reads what has become of it. What is cached of the database is
/// forgotten. An error that may disappear without a change of the database is that one, or
/// ``StoreError/cannotWrite(why:)``.
///
/// The closures run on a thread of the engine. An engine may run a closure again, in another transaction, if the first one
/// failed. A closure therefore changes nothing outside of its transaction, or undoes first what it has changed before.
protocol StoreDatabase: Sendable {
    /// A Boolean value that indicates whether other processes may use the database at the same time.
    var isShared: Bool { get }
    /// The facts about apps and the API keys that are cached until a transaction changes them.
    var apps: AppCache { get }
    /// The number of running long queries, and the number of those that wait in the queue.
    var queryCounts: (running: Int, waiting: Int) { get }

    /// Reads a row by its key, or a short list, for an API request. It takes a few milliseconds at most.
    func lookup<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value

    /// Runs a query for an API request that may take long. It takes turns with others, within the time budget of the
    /// ``QueryCaller``.
    func query<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value

    /// Runs a long query in steps, each of which uses its own snapshot.
    func query<State: Sendable, Value: Sendable>(
        from state: State,
        _ step: @escaping @Sendable (any SQLConnection, State) throws -> QueryStep<State, Value>
    ) async throws -> Value

    /// Reads for the dispatcher or another background service of the provider.
    func read<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value

    /// Reads for a background service that can repeat an interrupted read with a smaller one.
    /// - Returns: `nil` if the read was interrupted.
    func readOnce<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws
        -> Value?

    /// Writes in one transaction, which is on disk when this method returns.
    func write<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value

    /// Writes in one transaction on the hot path, which is on disk when this method returns. It locks the rows on which
    /// its decisions depend (``SQLConnection/lock(_:_:where:_:)``), where an engine lets several transactions write at
    /// the same time.
    func writeLedger<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value

    /// Writes as ``writeLedger(_:)``, and does not wait for other writes to get a connection.
    func writeHeartbeat<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value

    /// Overwrites the space of all deleted rows, so that no trace of them remains on the disk.
    /// - Returns: `true`, or `false` if an old snapshot prevents it.
    func overwriteDeleted() async throws -> Bool

    /// Returns the names of the applied migrations, in the order of their application.
    func migrations() async throws -> [String]

    /// Examines the database, as ``IntegrityCheck/brokenRules(in:isAtRest:masterKey:)`` and for what the engine itself
    /// finds.
    /// - Returns: Descriptions of the faults.
    func faults(isAtRest: Bool, masterKey: MasterKey?) async throws -> [String]

    /// Interrupts running long queries, at the latest before their next statement, and rejects new ones.
    func endQueries()

    /// Returns the time of the database's clock.
    func clock() async throws -> Timestamp

    /// Returns the numbers of the changes that have been made so far, if the database is shared.
    func changes() async throws -> [StoreChange: Int64]

    /// Closes the connections once the running reads have finished. They are closed when this method returns.
    func close() async throws
}

extension StoreDatabase {
    func writeHeartbeat<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await self.write(body)
    }

    func writeLedger<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await self.write(body)
    }

    /// Runs one statement in its own transaction, which is on disk when this method returns.
    /// - Returns: The number of changed rows.
    @discardableResult
    func run(sql: String, _ arguments: SQLArguments = []) async throws -> Int {
        try await self.write { try $0.run(sql: sql, arguments) }
    }
}

/// The result of one step of a query. Each step uses its own snapshot, so that no snapshot is held for long.
enum QueryStep<State: Sendable, Value: Sendable>: Sendable {
    case next(State)
    case done(Value)
}
