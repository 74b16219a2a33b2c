import Foundation
import GRDB
import PushTypes

/// A row that holds something else than was written.
package struct DamagedRow: Error, CustomStringConvertible {
    package var table: String
    package var description: String { "a row of table \(self.table) is damaged" }
}

extension Row {
    func topic(_ column: String) -> Topic? { (self[column] as String?).flatMap { Topic($0) } }
    func token(_ column: String) -> DeviceToken? { (self[column] as Data?).flatMap { DeviceToken(bytes: Array($0)) } }
    func time(_ column: String) -> Timestamp? { (self[column] as Int64?).map(Timestamp.init(milliseconds:)) }
    func uuid(_ column: String) -> UUID? { (self[column] as String?).flatMap(UUID.init(uuidString:)) }
    func environment(_ column: String) -> PushEnvironment? { PushEnvironment(code: self[column] as Int64?) }
}

extension DeviceToken {
    var databaseValue: DatabaseValue { Data(self.bytes).databaseValue }
}

extension PushEnvironment? {
    var databaseValue: DatabaseValue { self?.code.databaseValue ?? .null }
}

extension PushEnvironment {
    /// As it is stored.
    var code: Int64 {
        switch self {
        case .production: 0
        case .sandbox: 1
        }
    }

    init?(code: Int64?) {
        switch code {
        case 0: self = .production
        case 1: self = .sandbox
        default: return nil
        }
    }
}
