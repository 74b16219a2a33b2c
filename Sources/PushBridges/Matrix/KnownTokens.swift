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

    private let store: any ProviderStore
    private let known = Mutex<Set<TokenOfApp>>([])

    init(store: any ProviderStore) { self.store = store }

    func contains(_ token: DeviceToken, of app: Int64, in environment: PushEnvironment) async throws -> Bool {
        let key = TokenOfApp(app: app, token: token)
        if self.known.withLock({ $0.contains(key) }) { return true }
        if try await self.store.registrations(app: app, tokens: [token]).isEmpty {
            switch try await self.store.standing(of: token, app: app, environment: environment) {
            case .reached: break
            // Nothing is sent to it, and its next registration counts.
            case .invalid: return true
            case .unknown: return false
            }
        }
        self.known.withLock { known in
            if known.count >= Self.maximum { known = [] }
            known.insert(key)
        }
        return true
    }
}
