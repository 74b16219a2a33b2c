import Hummingbird
import PushHTTP

/// The page of a list that a request asks for: `?limit=100&after=NAME`.
struct AdminPage: Sendable {
    static let parameters: [ParameterDescription] = [.limit(), .after]

    let limit: Int
    /// The name of the last entry of the page before.
    let after: String?

    /// - Throws: ``RequestError`` for a limit out of range.
    init(_ request: OperationRequest) throws {
        self.limit = try request.limit()
        self.after = request.query["after"]
    }

    /// One entry more than the limit, to see whether there are more.
    var fetch: Int { self.limit + 1 }

    /// Returns `{"NAME":[…],"next":"…"}`; the latter only if there are more entries.
    ///
    /// - Parameter entry: returns an entry of the response and its name.
    func response<Value, Entry: Encodable>(
        _ name: String,
        _ values: [Value],
        _ entry: (Value) throws -> (Entry, name: String)
    ) throws -> Response {
        let entries = try values.prefix(self.limit).map(entry)
        let next = values.count > self.limit ? entries.last?.name : nil
        return try .json(ListResponse(name, entries.map(\.0), next: next))
    }
}
