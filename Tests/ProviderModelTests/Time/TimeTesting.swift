import Foundation
import PushSupport
import PushTypes
import Testing

@testable import ProviderModel

/// The timestamp that RFC 3339 text names.
func at(_ text: String) throws -> Timestamp {
    try #require(Timestamp(rfc3339: text))
}

func zone(_ name: String) throws -> TimeZone {
    try #require(TimeZone(named: name))
}

func fields(_ json: String, known: Set<String>) throws -> JSONFields {
    try JSONFields(parsing: Data(json.utf8), known: known)
}

/// Returns the error that `body` throws.
func requestError(_ body: () throws -> Void) -> RequestError? {
    do {
        try body()
        return nil
    } catch {
        return error as? RequestError
    }
}
