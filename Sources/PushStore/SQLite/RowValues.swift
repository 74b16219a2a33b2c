import Foundation
import GRDB
import PushTypes

/// An error for a row that holds something else than was written.
package struct DamagedRow: Error, CustomStringConvertible {
    package var table: String
    package var description: String { "a row of table \(self.table) is damaged" }
}

/// Values of a column; `nil` for NULL and for what is not a value of the type.
extension Row {
    func topic(_ column: String) -> Topic? { (self[column] as String?).flatMap { Topic($0) } }
    func token(_ column: String) -> DeviceToken? { (self[column] as Data?).flatMap { DeviceToken(bytes: Array($0)) } }
    func time(_ column: String) -> Timestamp? { (self[column] as Int64?).map(Timestamp.init(milliseconds:)) }
    func uuid(_ column: String) -> UUID? { (self[column] as String?).flatMap(UUID.init(uuidString:)) }
    func environment(_ column: String) -> PushEnvironment? { PushEnvironment(code: self[column] as Int64?) }
}

extension Database {
    /// Runs a statement that is prepared once per connection.
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try self.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

extension DeviceToken {
    var databaseValue: DatabaseValue { Data(self.bytes).databaseValue }
}

extension PushEnvironment? {
    var databaseValue: DatabaseValue { self?.code.databaseValue ?? .null }
}

extension PushEnvironment {
    /// The stored form.
    var code: Int64 {
        switch self {
        case .production: 0
        case .sandbox: 1
        }
    }

    /// Returns a stored environment; `nil` for any other number.
    init?(code: Int64?) {
        switch code {
        case 0: self = .production
        case 1: self = .sandbox
        default: return nil
        }
    }
}
