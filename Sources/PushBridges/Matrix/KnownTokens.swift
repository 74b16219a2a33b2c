import PushStore
import PushTypes
import Synchronization

/// A token and the app that it is for.
struct TokenOfApp: Hashable {
    var app: Int64
    var token: DeviceToken
}

/// Tells tokens that an app has registered, or that its pushes have reached, from those that anybody could have made up.
final class KnownTokens: Sendable {
    /// The maximum number of tokens that are remembered. Beyond it the store is asked anew.
    private static let maximum = 100_000

    private struct Key: Hashable {
        var environment: PushEnvironment
        var token: TokenOfApp
    }

    private let store: any NamedTokenStore
    private let known = Mutex<Set<Key>>([])

    init(store: any NamedTokenStore) { self.store = store }

    /// Returns those of some tokens that are not known. The store is asked once for all.
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
        self.known.withLock { known in
            if known.count + found.count > Self.maximum { known = [] }
            known.formUnion(found.map(key))
        }
        return asked.subtracting(found)
    }
}
