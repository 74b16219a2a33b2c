import Foundation
import ProviderModel
import PushTypes

/// A value that is bound to a parameter of a statement, or read from a column.
enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes(Data)
}

/// A type whose values can be bound to a parameter of a statement.
protocol SQLEncodable: Sendable {
    var sqlValue: SQLValue { get }
}

/// A type whose values can be decoded from a column.
protocol SQLDecodable {
    /// Decodes the value, or returns `nil` for NULL and for a stored value of another type.
    init?(_ column: SQLValue)
}

extension SQLValue: SQLEncodable, SQLDecodable {
    var sqlValue: SQLValue { self }

    init?(_ column: SQLValue) { self = column }
}

extension Optional where Wrapped: SQLEncodable {
    /// The value to bind; NULL for `nil`.
    var sqlValue: SQLValue { self?.sqlValue ?? .null }
}

extension Bool: SQLEncodable, SQLDecodable {
    var sqlValue: SQLValue { .integer(self ? 1 : 0) }

    init?(_ column: SQLValue) {
        guard let number = Int64(column) else { return nil }
        self = number != 0
    }
}

extension Int64: SQLEncodable, SQLDecodable {
    var sqlValue: SQLValue { .integer(self) }

    init?(_ column: SQLValue) {
        switch column {
        case .integer(let number): self = number
        case .real(let number): self.init(exactly: number)
        case .null, .text, .bytes: return nil
        }
    }
}

extension Int: SQLEncodable, SQLDecodable {
    var sqlValue: SQLValue { .integer(Int64(self)) }

    init?(_ column: SQLValue) {
        guard let number = Int64(column) else { return nil }
        self.init(exactly: number)
    }
}

extension Double: SQLEncodable, SQLDecodable {
    var sqlValue: SQLValue { .real(self) }

    init?(_ column: SQLValue) {
        switch column {
        case .integer(let number): self.init(number)
        case .real(let number): self = number
        case .null, .text, .bytes: return nil
        }
    }
}

extension String: SQLEncodable, SQLDecodable {
    var sqlValue: SQLValue { .text(self) }

    init?(_ column: SQLValue) {
        switch column {
        case .text(let text): self = text
        case .bytes(let bytes): self.init(data: bytes, encoding: .utf8)
        case .null, .integer, .real: return nil
        }
    }
}

extension Data: SQLEncodable, SQLDecodable {
    var sqlValue: SQLValue { .bytes(self) }

    init?(_ column: SQLValue) {
        switch column {
        case .text(let text): self.init(text.utf8)
        case .bytes(let bytes): self = bytes
        case .null, .integer, .real: return nil
        }
    }
}

extension [UInt8]: SQLDecodable {
    init?(_ column: SQLValue) {
        guard let data = Data(column) else { return nil }
        self.init(data)
    }
}

extension UUID: SQLDecodable {
    init?(_ column: SQLValue) {
        guard let text = String(column) else { return nil }
        self.init(uuidString: text)
    }
}

extension Timestamp: SQLDecodable {
    init?(_ column: SQLValue) {
        guard let milliseconds = Int64(column) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}

extension Topic: SQLDecodable {
    init?(_ column: SQLValue) {
        guard let name = String(column) else { return nil }
        self.init(name)
    }
}

extension DeviceToken: SQLEncodable, SQLDecodable {
    var sqlValue: SQLValue { .bytes(Data(self.bytes)) }

    init?(_ column: SQLValue) {
        guard let bytes = [UInt8](column) else { return nil }
        self.init(bytes: bytes)
    }
}

extension ContentHash: SQLEncodable, SQLDecodable {
    var sqlValue: SQLValue { .bytes(Data(self.bytes)) }

    init?(_ column: SQLValue) {
        guard let bytes = [UInt8](column) else { return nil }
        self.init(bytes: bytes)
    }
}

extension ChannelID: SQLDecodable {
    init?(_ column: SQLValue) {
        guard let text = String(column) else { return nil }
        self.init(text)
    }
}

extension PushEnvironment: SQLEncodable, SQLDecodable {
    var sqlValue: SQLValue { .integer(self.code) }

    init?(_ column: SQLValue) { self.init(code: Int64(column)) }
}

extension DeviceTokenKind: SQLDecodable {
    init?(_ column: SQLValue) { self.init(code: Int64(column)) }
}

extension PushEnvironment {
    var code: Int64 {
        switch self {
        case .production: 0
        case .sandbox: 1
        }
    }

    /// Creates the environment from its stored integer, or returns `nil` for an unknown integer.
    init?(code: Int64?) {
        switch code {
        case 0: self = .production
        case 1: self = .sandbox
        default: return nil
        }
    }
}

extension HoldingEnvironments {
    var code: Int64 {
        switch self {
        case .one(let environment): environment.code
        case .all: 2
        }
    }

    /// Creates the environments from their stored integer. An integer without a single environment means all.
    init(code: Int64) { self = PushEnvironment(code: code).map(Self.one) ?? .all }
}

extension DeviceTokenKind {
    var code: Int64 {
        switch self {
        case .alert: 0
        case .voip: 1
        case .complication: 2
        case .fileProvider: 3
        case .location: 4
        case .pushToTalk: 5
        case .liveActivityStart: 6
        case .liveActivityUpdate: 7
        case .widgets: 8
        case .controls: 9
        case .web: 10
        }
    }

    /// Creates the kind of token from its stored integer, or returns `nil` for an unknown integer.
    init?(code: Int64?) {
        guard let kind = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = kind
    }
}
