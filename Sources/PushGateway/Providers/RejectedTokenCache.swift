import Crypto
import Foundation
import PushTypes
import Synchronization

/// Remembers provider tokens that were checked and are no good, so that each costs one check of a signature.
///
/// Shared by the connections of an environment. Bounded: the oldest is forgotten. What is remembered does not depend on
/// the time, and all is forgotten when the registered keys have changed.
final class RejectedTokenCache: Sendable {
    /// The outcome of a check, as far as it holds at any time.
    enum Outcome: Hashable, Sendable {
        /// It is no token, or not signed by a registered key.
        case invalid
        /// All is well with it but its time, which the caller looks at.
        case signed(VerifiedProviderToken)

        /// Why the token is no good at `now`; `nil` if its time has come.
        func fault(at now: Timestamp) -> Reason? {
            switch self {
            case .invalid: .invalidProviderToken
            case .signed(let token): token.fault(at: now)
            }
        }
    }

    private struct State {
        var changes: UInt64?
        var outcomes: [SHA256Digest: Outcome] = [:]
        /// The oldest first.
        var order: [SHA256Digest] = []
        /// In `order`: the next to be replaced.
        var next = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: tokens remembered. Default 4,096, of 300 bytes each.
    init(capacity: Int = 4096) {
        self.capacity = max(1, capacity)
    }

    /// Tokens remembered now.
    var count: Int { self.state.withLock { $0.outcomes.count } }

    /// - Parameters:
    ///   - header: the `authorization` field.
    ///   - changes: what the directory counts (``TrustDirectory/changes``).
    /// - Returns: what a check of this token said; `nil` for one that is not remembered.
    func outcome(of header: String, changes: UInt64) -> Outcome? {
        let digest = Self.digest(header)
        return self.state.withLock { $0.changes == changes ? $0.outcomes[digest] : nil }
    }

    /// - Parameter changes: what the directory counted before the check.
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

    private static func digest(_ header: String) -> SHA256Digest {
        SHA256.hash(data: Data(header.utf8))
    }
}
