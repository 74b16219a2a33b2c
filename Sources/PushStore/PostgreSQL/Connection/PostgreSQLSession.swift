#if PostgreSQL
import Foundation

/// The connection of one thread, which is made again after it is lost.
final class PostgreSQLSession {
    private let connected: () throws -> PostgreSQLConnection
    private var connection: PostgreSQLConnection?

    /// - Parameter connected: Returns a new connection.
    init(_ connected: @escaping () throws -> PostgreSQLConnection) { self.connected = connected }

    /// Returns the connection, and makes one if there is none.
    @discardableResult
    func connect() throws -> PostgreSQLConnection {
        if let connection, connection.loss == nil, connection.isQuiet { return connection }
        // The old one is closed before, as the server may be short of them.
        self.connection = nil
        let connection = try self.connected()
        self.connection = connection
        return connection
    }

    func disconnect() { self.connection = nil }

    /// Runs `body` in a transaction, and again while other transactions conflict with it, the last time alone. A
    /// connection that was lost since its last use is replaced once, as nothing has been done yet.
    func transaction<Value>(
        _ isolation: PostgreSQLConnection.Isolation,
        within limit: Duration? = nil,
        repeats: Int,
        _ turns: PostgreSQLTurns,
        _ body: (any SQLConnection) throws -> Value
    ) throws -> Value {
        var (conflicts, isReplaced, isAlone) = (0, false, false)
        while true {
            let connection = try self.connect()
            do {
                func attempt() throws -> Value { try connection.transaction(isolation, within: limit, body) }
                return isolation == .snapshot ? try attempt() : try turns.run(isAlone: isAlone, attempt)
            } catch let error as PostgreSQLError where error.isConflict(in: isolation) && conflicts < repeats {
                conflicts += 1
                // A lock may be held by a transaction that waits for this one.
                isAlone = conflicts == repeats && error.state != "55P03"
                // Two that conflict would meet again if both began at once.
                Thread.sleep(forTimeInterval: .random(in: 0...0.005) * Double(conflicts * conflicts))
            } catch let error as PostgreSQLError
                where error.kind == .unavailable && !connection.hasBegun && !isReplaced
            {
                isReplaced = true
            }
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
