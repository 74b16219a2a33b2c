import PushStore
import PushSupport
import PushTypes
import Synchronization

struct TokenOfApp: Hashable {
    var app: Int64
    var token: DeviceToken
}

/// Recognizes device tokens that an app has registered or that its pushes have reached. Other tokens may be invented.
final class KnownTokens: Sendable {
    private struct Key: Hashable {
        var environment: PushEnvironment
        var token: TokenOfApp
    }

    private let store: any NamedTokenStore
    private let known = Mutex(BoundedCache<Key, Void>(maximum: 100_000))

    init(store: any NamedTokenStore) { self.store = store }

    /// Returns the tokens that the app has neither registered in the environment nor reached with a push. One query of
    /// the store looks up all tokens that are not cached.
    func unknown(
        _ tokens: Set<DeviceToken>,
        of app: Int64,
        in environment: PushEnvironment
    ) async throws -> Set<DeviceToken> {
        func key(_ token: DeviceToken) -> Key {
            Key(environment: environment, token: TokenOfApp(app: app, token: token))
        }
        let asked = self.known.withLock { known in tokens.filter { !known.contains(key($0)) } }
        guard !asked.isEmpty else { return [] }
        let found = try await self.store.known(asked, app: app, environment: environment)
        self.known.withLock { $0.merge(Dictionary(uniqueKeysWithValues: found.map { (key($0), ()) })) }
        return asked.subtracting(found)
    }
}
