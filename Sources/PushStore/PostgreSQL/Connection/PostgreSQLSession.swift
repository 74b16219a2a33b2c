#if PostgreSQL
import Foundation

/// The connection of one thread, which is made again after it is lost.
final class PostgreSQLSession {
    private let settings: PostgreSQLSettings
    private let columns: [String: String]
    private var connection: PostgreSQLConnection?

    init(_ settings: PostgreSQLSettings, columns: [String: String]) {
        (self.settings, self.columns) = (settings, columns)
    }

    /// Connects if there is no connection.
    func connect() throws { self.connection = try self.connected() }

    private func connected() throws -> PostgreSQLConnection {
        if let connection, connection.loss == nil, connection.isQuiet { return connection }
        // The old one is closed before, as the server may be short of them.
        self.connection = nil
        let connection = try PostgreSQLConnection(self.settings, columns: self.columns)
        self.connection = connection
        return connection
    }

    /// Runs `body` in a transaction, and again while other transactions conflict with it.
    func transaction<Value>(
        _ isolation: PostgreSQLConnection.Isolation,
        within limit: Duration? = nil,
        repeats: Int,
        _ body: (any SQLConnection) throws -> Value
    ) throws -> Value {
        var count = 0
        while true {
            do {
                return try self.begun(isolation, within: limit).finish(isolation, body)
            } catch let error as PostgreSQLError where error.isConflict(in: isolation) && count < repeats {
                count += 1
                // Two that conflict would meet again if both began at once.
                Thread.sleep(forTimeInterval: .random(in: 0...0.005) * Double(count * count))
            }
        }
    }

    /// Begins a transaction. A connection that was lost since its last use is replaced, as nothing has been done yet.
    private func begun(
        _ isolation: PostgreSQLConnection.Isolation,
        within limit: Duration?
    ) throws -> PostgreSQLConnection {
        let known = try self.connected()
        do {
            try known.begin(isolation, within: limit)
            return known
        } catch let error as PostgreSQLError where error.kind == .unavailable {
            let new = try self.connected()
            try new.begin(isolation, within: limit)
            return new
        }
    }
}

extension PostgreSQLError {
    /// Returns whether the same transaction may succeed when it runs again. One that is not serializable may not have
    /// seen the row with whose key it conflicts.
    fileprivate func isConflict(in isolation: PostgreSQLConnection.Isolation) -> Bool {
        self.kind == .serialization || isolation == .readCommitted && self.kind == .unique
    }
}
#endif
