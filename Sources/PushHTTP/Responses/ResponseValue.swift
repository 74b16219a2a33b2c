package import PushSupport
import Synchronization

/// The value that the response to a request within the process is made of.
///
/// The operation is carried out as for every other request, with its checks, limits and audit, and its response is encoded.
/// The caller takes the value, and reads no JSON.
package final class ResponseValue: Sendable {
    /// The value and its JSON.
    private struct Content: Sendable {
        let value: any Sendable
        let json: JSONValue
    }

    /// The value of the present request; `nil` for a request that arrives on a connection.
    @TaskLocal package static var current: ResponseValue?

    private let content = Mutex<Content?>(nil)

    package init() {}

    /// The JSON of the response; `null` for one without a body, and for an error.
    package var json: JSONValue { self.content.withLock { $0?.json } ?? .null }

    /// Returns the value: that of `Response.json`, a ``ResponsePage`` or an error; `nil` if it has another type.
    package func value<Value>(as type: Value.Type) -> Value? {
        let value = self.content.withLock { $0?.value }
        return value as? Value
    }

    func set(_ value: any Sendable, _ json: JSONValue) {
        self.content.withLock { $0 = Content(value: value, json: json) }
    }
}

/// The value of a response with a list, or with one page of it.
package struct ResponsePage<Entry: Sendable>: Sendable {
    package let entries: [Entry]
    /// The beginning of the next page; `nil` at the end, and in a list without pages.
    package let next: String?
}
