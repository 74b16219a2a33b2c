import Hummingbird
import PushHTTP
import PushSupport

/// Which part of a list is asked for: `?limit=100&after=NAME`.
struct AdminPage: Sendable {
    private static let maximum: Int64 = 1000

    let limit: Int
    /// The last entry of the page before.
    let after: String?

    /// - Throws: ``RequestError`` for a limit out of range.
    init(_ request: Request) throws {
        self.limit = Int(try request.number("limit", in: 1...Self.maximum, default: 100))
        self.after = request.uri.queryParameters["after"].map(String.init)
    }

    /// One more than wanted, to see whether there are more.
    var fetch: Int { self.limit + 1 }

    /// `{"NAME":[…],"next":"…"}`, the latter only where there are more.
    func answer<Value, Entry: Encodable>(
        _ name: String,
        _ values: [Value],
        _ entry: (Value) -> (Entry, name: String)
    ) throws -> Response {
        let entries = values.prefix(self.limit).map(entry)
        let next = values.count > self.limit ? entries.last?.name : nil
        return try JSONResponse.make(.ok, List(name: name, entries: entries.map(\.0), next: next))
    }

    private struct List<Entry: Encodable>: Encodable {
        var name: String
        var entries: [Entry]
        var next: String?

        private struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }

            init(_ name: String) { self.stringValue = name }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(self.entries, forKey: Key(self.name))
            try container.encodeIfPresent(self.next, forKey: Key("next"))
        }
    }
}
