import Crypto
import Foundation
import PushTypes
import Synchronization

/// Remembers the provider tokens that were found invalid, so that each of them costs only one signature check.
///
/// The connections of an environment share the cache. The oldest entry is replaced when the cache is full. Entries do
/// not depend on the time. All are removed when the registered keys have changed.
final class RejectedTokenCache: Sendable {
    /// The part of a check's result that does not depend on the time, and can therefore be cached.
    enum Outcome: Hashable, Sendable {
        /// The outcome if the header has no provider token, or the token was not signed by a registered key.
        case invalid
        /// The outcome if the signature is valid. The caller checks the issue time.
        case signed(VerifiedProviderToken)

        /// Returns the reason why the token is invalid at `now`, or `nil` if it is valid.
        func rejection(at now: Timestamp) -> Reason? {
            switch self {
            case .invalid: .invalidProviderToken
            case .signed(let token): token.rejection(at: now)
            }
        }
    }

    private struct State {
        var changes: UInt64?
        var outcomes: [SHA256Digest: Outcome] = [:]
        /// The keys of ``outcomes`` in the order of their insertion: a ring whose oldest entry is at ``next``.
        var order: [SHA256Digest] = []
        var next = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// Creates an empty cache.
    /// - Parameter capacity: The maximum number of tokens. Default 4,096, of 300 bytes each.
    init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    var count: Int { self.state.withLock { $0.outcomes.count } }

    /// Returns the outcome of an earlier check, or `nil` if there is none or the registered keys have changed since.
    /// - Parameters:
    ///   - header: The value of the `authorization` field.
    ///   - changes: The current value of the directory's ``TrustDirectory/changes``.
    func outcome(of header: String, changes: UInt64) -> Outcome? {
        let digest = Self.digest(header)
        return self.state.withLock { $0.changes == changes ? $0.outcomes[digest] : nil }
    }

    /// Remembers the outcome of a check.
    /// - Parameter changes: The directory's ``TrustDirectory/changes`` before the check.
    func remember(_ header: String, _ outcome: Outcome, changes: UInt64) {
        let digest = Self.digest(header)
        self.state.withLock { state in
            if state.changes != changes { state = State(changes: changes) }
            guard state.outcomes.updateValue(outcome, forKey: digest) == nil else { return }
            if state.order.count < self.capacity { return state.order.append(digest) }
            state.outcomes[state.order[state.next]] = nil
            state.order[state.next] = digest
            state.next = (state.next + 1) % self.capacity
        }
    }

    private static func digest(_ header: String) -> SHA256Digest { SHA256.hash(data: Data(header.utf8)) }
}
