import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// An operation of the admin API.
///
/// The API has neither credentials nor an audit log: it listens only on the loopback address, and the event log records
/// changes of devices.
typealias AdminOperation = APIOperation<Never>

extension AdminOperation {
    static func get(_ path: String, _ id: String, _ summary: String, _ handler: @escaping Handler) -> Self {
        .init(.get, path, id: id, summary, handler)
    }

    /// Creates an operation that changes something. `.body(.admin(…))` adds a request body to it.
    static func post(_ path: String, _ id: String, _ summary: String, _ handler: @escaping Handler) -> Self {
        .init(.post, path, .unaudited, id: id, summary, handler)
    }

    static func delete(_ path: String, _ id: String, _ summary: String, _ handler: @escaping Handler) -> Self {
        .init(.delete, path, .unaudited, id: id, summary, handler)
    }
}

extension BodyDescription {
    /// Creates the description of a JSON body of at most 64 KiB.
    static func admin(_ object: RequestObject) -> BodyDescription { BodyDescription(object.schema, maximum: 64 * 1024) }
}

extension ParameterDescription {
    /// The query item with the name of the entry after which a page begins (``AdminPage``).
    static let after = ParameterDescription.query("after", "The member next of the page before.")
    static let environment = ParameterDescription.query("environment", "Of this environment only.")
    static let topic = ParameterDescription.query("topic", "Of this topic only.")
}

extension OperationRequest {
    /// Returns the query item `name`, or `nil` if it is absent.
    ///
    /// - Throws: ``RequestError`` for an empty item.
    func text(_ name: String) throws -> String? {
        try self.value(name, { $0.isEmpty ? nil : $0 }, orThrow: .invalid(name, "it must not be empty"))
    }

    /// Returns the query item `environment`, or `nil` if it is absent.
    func environment() throws -> PushEnvironment? {
        try self.value("environment", PushEnvironment.init(rawValue:), orThrow: .invalidEnvironment())
    }

    /// Returns the query item `name` as the id of a device, or `nil` if it is absent.
    func device(_ name: String) throws -> UUID? {
        try self.value(name, UUID.init(uuidString:), orThrow: .invalid(name, "a device id is a UUID"))
    }

    func deviceID() throws -> UUID {
        guard let id = self.uuid("device") else { throw RequestError.noSuch("device") }
        return id
    }

    /// Returns the bundle id or topic in the path component `{name}`, or `nil` if it is not valid.
    func topic(_ name: String) -> Topic? { Topic(self.path(name)) }
}

extension RequestError {
    /// Creates the error for a table that has reached its maximum of `limit` entries. `entries` names them in the
    /// plural.
    static func full(_ entries: String, _ limit: Int) -> RequestError {
        .conflict("too_many", "there are \(limit) \(entries), and no room for more")
    }
}

/// The start and the length of the page that a request for a list asks for: `?limit=100&after=NAME`.
struct AdminPage: Sendable {
    static let parameters: [ParameterDescription] = [.limit(), .after]

    let limit: Int
    /// The name of the last entry on the previous page, or `nil` for the first page.
    let after: String?

    /// Reads the query items `limit` and `after`.
    /// - Throws: ``RequestError`` for a limit out of range.
    init(_ request: OperationRequest) throws {
        self.limit = try request.limit()
        self.after = request.query["after"]
    }

    /// The number of entries to read: one more than the limit, to detect whether another page follows.
    var fetch: Int { self.limit + 1 }

    /// Returns `{"NAME":[…],"next":"…"}` for a page of a list. `next` is present only if another page follows.
    ///
    /// - Parameters:
    ///   - values: The entries of the page, and one more if another page follows.
    ///   - entryName: Returns the name of an entry, which the next page's `after` contains.
    func response<Entry: JSONRepresentable>(
        _ name: String,
        _ values: [Entry],
        by entryName: (Entry) -> String
    ) throws -> Response {
        let entries = Array(values.prefix(self.limit))
        return try .page(name, entries, next: values.count > self.limit ? entries.last.map(entryName) : nil)
    }
}
