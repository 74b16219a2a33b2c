#if PostgreSQL
import CLibPQ
import Foundation

/// An error of PostgreSQL, or of the connection to it.
///
/// It leaves out the server's detail, which has values of rows, and carries nothing of the connection's settings.
struct PostgreSQLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error, by which the caller decides what to do.
    enum Kind: Hashable, Sendable {
        /// The connection is lost, or there is none. The same call may succeed on another connection.
        case unavailable
        /// The transaction conflicts with another one, and is repeated as a whole.
        case serialization
        /// A statement exceeded its time.
        case timeout
        /// The server is read-only: it was the primary, or is a standby. The next connection looks for the primary.
        case readOnly
        /// The server's disk is full or fails.
        case cannotWrite
        case foreignKey, unique
        /// A fault of the statement or of its values.
        case other
    }

    var kind: Kind
    /// The five characters of the SQLSTATE; `nil` if the error is of the connection.
    var state: String?
    var message: String
    /// A Boolean value that indicates whether the error came during a commit, so that its end is unknown.
    var isCommitUnknown = false

    var description: String {
        let end = self.isCommitUnknown ? " (whether the transaction was committed is unknown)" : ""
        return "PostgreSQL: \(self.message)\(self.state.map { " (\($0))" } ?? "")\(end)"
    }

    /// A Boolean value that indicates whether the error is that of the whole transaction, which cannot go on.
    var endsTransaction: Bool {
        switch self.kind {
        case .unavailable, .serialization, .timeout, .readOnly, .cannotWrite: true
        case .foreignKey, .unique, .other: false
        }
    }

    /// A Boolean value that indicates whether the connection is thrown away, whatever libpq says of its state.
    var endsConnection: Bool { self.kind == .unavailable || self.kind == .readOnly }

    static func unavailable(_ message: String) -> PostgreSQLError {
        PostgreSQLError(kind: .unavailable, message: message)
    }

    /// Returns the kind of an error of the server.
    /// - Parameters:
    ///   - state: The SQLSTATE. Without it, the connection was lost before the server answered.
    ///   - severity: The severity in English. After `FATAL` and `PANIC` the server closes the connection.
    static func kind(state: String?, severity: String?) -> Kind {
        guard let state, severity != "FATAL", severity != "PANIC" else { return .unavailable }
        switch state {
        case "40001", "40P01", "55P03": return .serialization
        case "57014": return .timeout
        case "25006": return .readOnly
        case "53100", "58030": return .cannotWrite
        case "23503": return .foreignKey
        case "23505": return .unique
        case "53300": return .unavailable
        default: return state.hasPrefix("08") || state.hasPrefix("57P0") ? .unavailable : .other
        }
    }

    /// Creates the error of a result.
    init(_ result: PostgreSQLResult) {
        let state = result.errorField("C")
        (self.state, self.kind) = (state, Self.kind(state: state, severity: result.errorField("V")))
        self.message = result.errorField("M") ?? result.errorMessage
    }

    init(kind: Kind, message: String) { (self.kind, self.message) = (kind, message) }
}

extension PostgreSQLResult {
    /// Returns a field of an error by the letter of the protocol.
    fileprivate func errorField(_ letter: Unicode.Scalar) -> String? {
        PQresultErrorField(self.pointer, Int32(letter.value)).map { String(cString: $0) }
    }

    fileprivate var errorMessage: String {
        let message = PQresultErrorMessage(self.pointer).map { String(cString: $0) } ?? ""
        return message.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
#endif
