import ProviderModel
import PushSupport
import PushTypes

/// A cache of facts about apps that every accepted or sent notification depends on, and of API keys.
///
/// A change of the underlying tables clears the cache before the call that writes returns. Triggers tell the engine of it, so
/// that no statement is missed.
final class AppCache: Sendable {
    /// The key of a cached fact. Its case determines the type of the value.
    enum Question: Hashable {
        case app(id: Int64)
        case appNamed(Topic)
        case environments(app: Int64)
        case stop(app: Int64)
        case wants(WebhookRecord.Event, app: Int64)
    }

    /// The tables whose changes clear the cache. Insertions and deletions always do. Updates do if they concern one of the
    /// named columns or, with `nil`, any column.
    static let tables: [(name: String, columns: String?)] = [
        (
            "app",
            "bundleID, name, rate, receipts, installationTags, installationAttributes, capCount, capWindow, isErased"
        ),
        ("apiKey", "hash, name, scopes, apps, expiresAt, rate"), ("appStop", nil), ("credential", nil),
        ("webhook", "app, events, isActive"),
    ]

    private struct Answer<Value: Sendable>: Sendable {
        let value: Value
    }

    private let answers = SharedCache<Question, any Sendable>(maximum: 10_000)
    /// The API keys by their hashes, by which most requests are authorized.
    let keys = SharedCache<[UInt8], APIKeyRecord>(maximum: 10_000)

    /// Returns the cached value for a key, or calls `read` and caches its result.
    func value<Value: Sendable>(_ question: Question, _ read: () async throws -> Value) async throws -> Value {
        let answer = try await self.answers.read(question) { Answer(value: try await read()) }
        if let answer = answer as? Answer<Value> { return answer.value }
        return try await read()
    }

    /// Removes all values, also the keys.
    func forget() {
        self.answers.forget()
        self.keys.forget()
    }
}
